"""Cards with all measures of agreement, and the tests between two tools."""

from collections.abc import Iterator

from analysis.report.figures import Json
from analysis.report.page.markup import (
    THIN,
    card,
    decimals,
    how,
    interval,
    quiet,
    shown,
    table,
    text,
    whole,
    with_interval,
)
from analysis.report.page.words import HOW, MEASURES


def title_of(report: Json, name: str) -> str:
    """The title of a tool."""
    return str(next(tool["title"] for tool in report["tools"] if tool["tool"] == name))


def coefficients(report: Json) -> str:
    """All measures of agreement, a column a tool."""
    level = f"Interval, {100 * report['settings']['level']:g}{THIN}%"
    heads = ["Measure"]
    for tool in report["tools"]:
        heads += [text(tool["title"]), level]
    rows = list(_measure_rows(report))
    return card(
        "Agreement and agreement beyond chance",
        table(heads, rows, label="Measures of agreement"),
        quiet(
            "Intervals resample whole queries among those of the same assessors: pairs of one "
            "query depend on each other, and who judged what was no accident."
        ),
        _reasons(report),
        wide="c6" if len(report["tools"]) == 1 else "",
    )


def _reasons(report: Json) -> str:
    """Why measures are undefined, said once each."""
    found = [
        (tool["title"], HOW[key][0], tool["agreement"][key]["reason"])
        for tool in report["tools"]
        for key, _ in MEASURES
        if tool["agreement"][key]["value"] is None
    ]
    by_reason: dict[tuple[str, str], list[str]] = {}
    for title, measure, reason in found:
        by_reason.setdefault((title, reason), []).append(measure)
    lines = [
        f"{text(title)}: {text(', '.join(names))} undefined because {text(reason)}."
        for (title, reason), names in by_reason.items()
    ]
    return quiet(" ".join(lines)) if lines else ""


def _measure_rows(report: Json) -> Iterator[list[str]]:
    for key, form in MEASURES:
        title, words = HOW[key]
        row = [text(title) + how(key, title, words)]
        for tool in report["tools"]:
            found = tool["agreement"][key]
            row += [f"<b>{shown(found, form)}</b>", interval(found, form)]
        yield row


def tests(report: Json) -> str:
    """Chi-square with and without Yates and ties, and the permutation of queries."""
    found = report["comparison"]
    title, words = HOW["chi"]
    tip = how("chi", title, words)
    if "all_pairs" not in found:  # a source with one tool has nothing to compare
        reason = quiet(text(found["reason"]).capitalize() + ".")
        several = len(report["tools"]) > 1
        return card("Is the difference more than chance?", reason) if several else ""
    first, second = (title_of(report, name) for name in found["tools"])
    heads = [
        "Compared",
        text(first),
        text(second),
        "Difference, points",
        "χ²",
        "χ², Yates",
        "df",
        "φ",
        "p",
        "p, Yates",
        "p, by query",
    ]
    names = (("All pairs", "all_pairs"), ("Without ties", "without_ties"))
    rows = [_test_row(name, found[key]) for name, key in names]
    how_many = found["all_pairs"]
    kind = "all" if how_many["exact"] else "random"
    note = quiet(
        "Pairs of one query are not independent, so the plain p is too sure of itself. The last "
        f"column exchanges the tools of whole queries ({whole(how_many['exchanges'])} {kind} "
        "exchanges)."
    )
    return card(
        "Is the difference more than chance?",
        table(heads, rows, label="Chi-square tests"),
        note,
        tip=tip,
    )


def _test_row(name: str, found: Json) -> list[str]:
    return [
        name,
        *(shown(share, "percent") for share in found["shares"]),
        with_interval(found["difference"], "points"),
        f"<b>{shown(found['chi_square'], digits=2)}</b>",
        shown(found["chi_square_yates"], digits=2),
        decimals(found["df"], 0),
        shown(found["phi"]),
        shown(found["p"], "p"),
        shown(found["p_yates"], "p"),
        shown(found["p_queries"], "p"),
    ]
