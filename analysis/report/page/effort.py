"""Cards about time: Table 1, times by assessor, the course of a session."""

from analysis.report.figures import Json
from analysis.report.page.markup import (
    card,
    decimals,
    how,
    quiet,
    shown,
    table,
    text,
    whole,
    with_interval,
)
from analysis.report.page.svg import boxes, courses
from analysis.report.page.words import HOW

ROWS = (
    ("Seconds a judgment", "seconds_per_judgment"),
    ("Seconds a judgment, wall", "wall_seconds_per_judgment"),
    ("Judgments a query", "judgments_per_query"),
    ("Minutes a query", "minutes_per_query"),
    ("Minutes a query, wall", "wall_minutes_per_query"),
)
MOST_BOXES = 16


def effort(report: Json) -> str:
    """Everything about time, or that there is none."""
    timed = [tool for tool in report["tools"] if "sessions" in tool["effort"]]
    if not timed:
        return card("Time", quiet("The source has no times."), name="effort")
    plots = f'<div class="cols">{_by_assessor(timed)}{_course(timed)}</div>'
    return _table(timed) + plots


def _table(timed: list[Json]) -> str:
    title, words = HOW["effort"]
    heads = ["Figure"]
    for tool in timed:
        heads += [f"{text(tool['title'])}, mean", "Median", "Middle half"]
    heads += ["Ratio of means"] if len(timed) > 1 else []
    rows = [_row(name, key, timed) for name, key in ROWS]
    return card(
        "Time per judgment and per query",
        table(heads, rows, label="Time efficiency"),
        *(_theory(tool) for tool in timed),
        name="effort",
        tip=how("effort", title, words),
    )


def _row(name: str, key: str, timed: list[Json]) -> list[str]:
    cells = [name]
    for tool in timed:
        found = tool["effort"][key]
        low, high = found["quartiles"]
        middle = "" if low is None else f"{decimals(low, 1)} to {decimals(high, 1)}"
        cells += [
            f"<b>{with_interval(found['mean'], digits=1)}</b>",
            with_interval(found["median"], digits=1),
            middle,
        ]
    if len(timed) > 1:
        means = [tool["effort"][key]["mean"]["value"] for tool in timed[:2]]
        cells.append(decimals(means[0] / means[1], 2) if all(means) else "")
    return cells


def _theory(tool: Json) -> str:
    found = tool["effort"]
    judged = found["judgments_per_query"]
    bound = found["proven_bound"]
    proven = f"; proven bound {decimals(bound['value'], 1)}" if bound["value"] is not None else ""
    over = found["sessions_over_bound"]
    beyond = f", exceeded by {whole(over)} sessions" if over else ""
    factor = found["factor_per_100_judgments"]
    drift = ""
    if factor["value"] is not None:
        change = 100 * (factor["value"] - 1)
        drift = f" Over 100 judgments the time of one changes by {decimals(change, 1)} %."
    return quiet(
        f"<b>{text(tool['title'])}</b>: {whole(found['sessions'])} finished sessions, "
        f"{text(found['complexity'])}, theory {shown(found['theory'], digits=1)}, observed "
        f"{shown(judged['mean'], digits=1)}{proven}{beyond}; "
        f"{shown(found['taken_back'], 'percent')} of answers taken back.{drift}"
    )


def _by_assessor(timed: list[Json]) -> str:
    names = sorted({row["assessor"] for tool in timed for row in tool["effort"]["assessors"]})
    left_out = f" The first {MOST_BOXES} of {len(names)}." if len(names) > MOST_BOXES else ""
    note = quiet(
        f"{_legend(timed)} Dot median, bar the middle half, line from 5 to 95 %.{left_out}"
    )
    found = boxes(timed, names[:MOST_BOXES])
    return _figure("Seconds per judgment, by assessor", note, found)


def _course(timed: list[Json]) -> str:
    note = quiet(
        f"{_legend(timed)} Median seconds against judgments so far in the query; band 95 %."
    )
    return _figure("Over a session", note, courses(timed))


def _figure(title: str, note: str, plot: str) -> str:
    head = f"<figcaption><h2>{title}</h2>{note}</figcaption>"
    return f'<figure class="card c6">{head}{plot}</figure>'


def _legend(timed: list[Json]) -> str:
    marks = ('<span class="swatch"></span>', '<span class="swatch swatch--b"></span>')
    return (
        ", ".join(f"{mark} {text(tool['title'])}" for mark, tool in zip(marks, timed, strict=False))
        + "."
    )
