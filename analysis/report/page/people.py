"""Cards about assessors: how they answer, how they agree, and their pairs."""

from analysis.report.figures import Json
from analysis.report.page.markup import (
    card,
    decimals,
    how,
    percent,
    quiet,
    shown,
    stack,
    table,
    text,
    undefined,
    whole,
    with_interval,
)
from analysis.report.page.svg import forest
from analysis.report.page.words import HOW
from analysis.report.people import NO_ANSWERS

MOST_IN_GRID = 16  # assessors shown as a grid of pairs; above, the pairs that agree least
MOST_PAIRS = 20
MOST_PEOPLE = 100


def _head(title: str, key: str, tool: str) -> str:
    name, words = HOW[key]
    return text(title) + how(f"{key}-{tool}", name, words)


def conduct(report: Json) -> str:
    """Sides, checks and circles of each tool that has raw answers."""
    tools = [tool for tool in report["tools"] if _asked(tool)]
    if not tools:
        return card("Sides and checks", quiet("There are no raw answers to pairs."), name="sides")
    return "".join(_conduct(tool) for tool in tools)


def _conduct(tool: Json) -> str:
    found = tool["answers"]
    again, left, rings = found["self_consistency"], found["left"], found["circles"]
    rows = [
        [
            _head("Pairs asked again", "again", tool["tool"]),
            with_interval(again, "percent"),
            _why(again, f"{whole(again['asked'])} repeats"),
        ],
        [_head("Left page wins", "left", tool["tool"]), shown(left, "percent"), _side(left)],
        [
            _head("Broken triples", "circles", tool["tool"]),
            with_interval(rings, "percent"),
            _why(rings, _ring_counts(rings)),
        ],
    ]
    parts = [
        f"{text(part['part'])} {shown(part, 'percent')} of {whole(part['asked'])}"
        for part in found["course"]
    ]
    title = f"Sides and checks, {tool['title']}"
    note = quiet(
        "Asked again and answered alike, by part of the session: " + ", ".join(parts) + "."
    )
    body = table(["Figure", "Share", "Counts"], rows, label=title)
    return card(title, body, note if again["asked"] else "", name="sides")


def _ring_counts(rings: Json) -> str:
    broken, cycles = rings.get("broken", 0), rings.get("cycles", 0)
    return f"{whole(broken)} of {whole(rings['triples'])}, {whole(cycles)} circles"


def _why(found: Json, words: str) -> str:
    """The counts of a figure, or why it is undefined."""
    return words if found["value"] is not None else text(found["reason"])


def _side(left: Json) -> str:
    if left["value"] is None:
        return text(left["reason"])
    tests = f"p {shown(left['p'], 'p')}, by query {shown(left['p_queries'], 'p')}"
    return f"{whole(left['left'])} of {whole(left['answers'])}; {tests}"


def assessors(report: Json) -> str:
    """One table a tool, the lowest estimated error rate first, and its plot."""
    return stack("people", (_assessors(tool) for tool in report["tools"]))


def _assessors(tool: Json) -> str:
    people = sorted(tool["people"], key=_standing)
    departs = {row["assessor"]: row for row in tool["consensus"]["departures"]}
    asked = _asked(tool)
    heads = [
        "Assessor",
        "Queries shared",
        "Agreement with the rest",
        "Cohen's kappa",
        _head("Estimated error rate", "error", tool["tool"]),
        *(("Self-consistency", "Left", "Broken triples") if asked else ()),
        "Departs from consensus",
    ]
    rows = [_person(row, departs.get(row["assessor"]), asked) for row in people[:MOST_PEOPLE]]
    title = f"By assessor, {tool['title']}"
    return card(title, table(heads, rows, label=title, wrap=True), _beside(tool, people))


def _beside(tool: Json, people: list[Json]) -> str:
    """The plot of error rates, and beside it the pairs."""
    plotted = [row for row in people if row["error_rate"]["value"] is not None]
    plot = f'<div class="c6">{forest(plotted[:MOST_IN_GRID])}</div>' if plotted else ""
    pairs = _pairs(tool)
    return f'<div class="cols">{plot}<div class="c6">{pairs}</div></div>' if pairs else ""


def _asked(tool: Json) -> bool:
    return bool(tool["answers"]["left"].get("reason") != NO_ANSWERS)


def _standing(row: Json) -> tuple[bool, float, float]:
    own, rest = row["error_rate"]["value"], row["overall"]["value"]
    return own is None, own or 0.0, -(rest or 0.0)


def _person(row: Json, departs: Json | None, asked: bool) -> list[str]:
    mean = undefined("no preference") if departs is None else shown(departs["mean"], "percent")
    return [
        text(row["assessor"]),
        whole(row["shared_queries"]),
        with_interval(row["overall"], "percent"),
        with_interval(row["cohen_kappa"]),
        with_interval(row["error_rate"], "percent"),
        *(shown(row[key], "percent") for key in ("self_consistency", "left", "circles") if asked),
        mean,
    ]


def _pairs(tool: Json) -> str:
    names = sorted({row[side] for row in tool["pairs"] for side in ("first", "second")})
    if len(names) < 3:
        return ""
    if len(names) > MOST_IN_GRID:
        return _least(tool)
    found = {frozenset((row["first"], row["second"])): row for row in tool["pairs"]}
    heads = "".join(f'<th scope="col">{text(name)}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{text(a)}</th>{"".join(_pair(found, a, b) for b in names)}</tr>'
        for a in names
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Pairs of assessors, '
        f'{text(tool["title"])}"><table class="matrix">'
        "<caption>Agreement of every two assessors, and the queries they share.</caption>"
        f"<thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _pair(found: dict[frozenset[str], Json], a: str, b: str) -> str:
    row = found.get(frozenset((a, b)))
    if row is None or row["overall"]["value"] is None:
        return '<td class="empty-cell"></td>'
    share = row["overall"]["value"]
    kappa = row["cohen_kappa"]["value"]
    title = f"kappa {decimals(kappa)}" if kappa is not None else row["cohen_kappa"]["reason"]
    below = f"<small>{whole(row['queries'])}</small>"
    return f'<td data-heat="{round(8 * share)}" title="{text(title)}">{percent(share)}{below}</td>'


def _least(tool: Json) -> str:
    rows = [row for row in tool["pairs"] if row["overall"]["value"] is not None]
    rows.sort(key=lambda row: row["overall"]["value"])
    cells = [
        [
            f"{text(row['first'])} and {text(row['second'])}",
            whole(row["queries"]),
            with_interval(row["overall"], "percent"),
            with_interval(row["cohen_kappa"]),
        ]
        for row in rows[:MOST_PAIRS]
    ]
    heads = ["Pairs that agree least", "Queries", "Agreement", "Cohen's kappa"]
    return table(heads, cells, label=f"Pairs that agree least, {tool['title']}")
