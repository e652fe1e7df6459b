"""Agreement at a glance: headline, first numbers, matrices."""

from analysis.report.figures import Json
from analysis.report.page.markup import (
    card,
    counted,
    interval,
    p_value,
    percent,
    quiet,
    shown,
    text,
    whole,
)
from analysis.report.page.measures import coefficients, title_of
from analysis.report.page.queries import MOST_QUERIES

CODES = ("A better", "Tie", "B better")
SAYS = ("A", "tie", "B")
FIRST = {
    "overall": "agreement",
    "without_ties": "without ties",
    "krippendorff_alpha": "Krippendorff's alpha",
}
BEHIND = 6  # queries named for a cell of a matrix


def headline(report: Json) -> str:
    """The result in one notice: who agrees more, and how sure that is."""
    compared = report["comparison"]
    if "all_pairs" not in compared:
        return _single(report["tools"])
    first, second = (title_of(report, name) for name in compared["tools"])
    found = compared["all_pairs"]
    shares = [share["value"] for share in found["shares"]]
    if None in shares or found["p_queries"]["value"] is None:
        return _single(report["tools"])
    word = "more" if shares[0] > shares[1] else "less" if shares[0] < shares[1] else "as much"
    than = "as" if word == "as much" else "than"
    strict = compared["without_ties"]["p_queries"]["value"]
    also = "" if strict is None else f" Without ties, p = {p_value(strict)}."
    p = found["p_queries"]["value"]
    chance = (
        f" So large a difference is common by chance ({_queries(report)})." if p >= 0.05 else ""
    )
    return _notice(
        f"<b>{text(first)} agree {word} {than} {text(second)}: {percent(shares[0])} against "
        f"{percent(shares[1])}.</b> Exchanging whole queries, p = {p_value(p)}.{also}{chance}"
    )


def _queries(report: Json) -> str:
    """How many queries each of the compared tools has."""
    named = [tool for tool in report["tools"] if tool["tool"] in report["comparison"]["tools"]]
    counts = (counted(tool["agreement"]["queries"], "query", "queries") for tool in named)
    return " against ".join(counts) + " shared"


def _single(tools: list[Json]) -> str:
    parts = []
    for tool in tools:
        found = tool["agreement"]["overall"]
        if found["value"] is not None:
            parts.append(
                f"<b>{text(tool['title'])}: {percent(found['value'])} of "
                f"{whole(tool['agreement']['votes'])} shared votes agree</b>, "
                f"interval {interval(found, 'percent')}."
            )
        else:
            parts.append(f"<b>{text(tool['title'])}:</b> {text(found['reason'])}.")
    return _notice(" ".join(parts) or "Nothing was judged yet.")


def notes(report: Json) -> str:
    """What the report lacks, one notice; nothing where nothing was noted."""
    found = report.get("notes", [])
    return _notice("".join(f"<p>{text(each)}</p>" for each in found), "warn") if found else ""


def _notice(words: str, kind: str = "") -> str:
    mark = f" notice--{kind}" if kind else ""
    return f'<div class="notice{mark}"><div>{words}</div></div>'


def numbers_first(report: Json) -> str:
    """The figures one looks for first, side by side."""
    items = []
    for tool in report["tools"]:
        for key in FIRST:
            form = "percent" if key != "krippendorff_alpha" else "number"
            found = tool["agreement"][key]
            items.append(
                f"<div><dt>{text(tool['title'])}: {text(FIRST[key])}</dt>"
                f"<dd>{shown(found, form)}</dd><dd>{interval(found, form)}</dd></div>"
            )
    return f'<dl class="stats">{"".join(items)}</dl>'


def matrices(report: Json) -> str:
    """One heat map a tool, the scale, and all measures."""
    cards = "".join(_matrix(tool) for tool in report["tools"])
    beside, below = ("", coefficients(report))
    if len(report["tools"]) == 1:  # one matrix leaves room for the measures beside it
        beside, below = below, ""
    steps = "".join(f'<i data-heat="{step}"></i>' for step in range(9))
    scale = f'<p class="scale noprint">Share of the row, 0 % <span>{steps}</span> 100 %</p>'
    return f'<div class="cols" id="agreement">{cards}{beside}</div>{scale}{below}'


def _matrix(tool: Json) -> str:
    found = tool["agreement"]
    counts, shares = found["matrix"]["counts"], found["matrix"]["shares"]
    heads = "".join(f'<th scope="col">{code}</th>' for code in CODES)
    cells = ["".join(_cell(tool, i, j, counts, shares) for j in range(3)) for i in range(3)]
    rows = "".join(
        f'<tr><th scope="row">{code}</th>{row}</tr>' for code, row in zip(CODES, cells, strict=True)
    )
    body = (
        '<table class="matrix matrix--heat"><caption>Rows: first assessor. Columns: second. '
        "Per cent of the row.</caption><thead><tr>"
        '<td class="empty-cell"><span class="vh">first by second assessor</span></td>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )
    same = sum(counts[i][i] for i in range(3))
    strict = counts[0][0] + counts[2][2]
    decided = strict + counts[0][2] + counts[2][0]
    note = quiet(
        f"{whole(same)} of {whole(found['votes'])} votes alike, from "
        f"{counted(found['queries'], 'query', 'queries')} and "
        f"{counted(found['assessor_pairs'], 'pair')} of assessors; without ties "
        f"{whole(strict)} of {whole(decided)}."
    )
    badge = f"{shown(found['overall'], 'percent')} agree" if found["votes"] else ""
    return card(tool["title"], body, note, _behind(tool), wide="c6", badge=badge)


def _cell(tool: Json, i: int, j: int, counts: list[list[int]], shares: list[list[float]]) -> str:
    share = shares[i][j]
    if share is None:
        return '<td class="empty-cell">0<small>empty row</small></td>'
    link = f"#behind-{tool['tool']}-{i}{j}"
    count = f'<a href="{link}">{whole(counts[i][j])}</a>' if counts[i][j] else "0"
    return f'<td data-heat="{round(8 * share)}">{count}<small>{percent(share)}</small></td>'


def _behind(tool: Json) -> str:
    """The queries with the most votes in each cell."""
    items = "".join(_behind_cell(tool, i, j) for i in range(3) for j in range(3))
    return (
        '<details class="noprint"><summary>Queries behind the cells</summary>'
        f'<ul class="plain">{items}</ul></details>'
    )


def _behind_cell(tool: Json, i: int, j: int) -> str:
    rows = [
        (row["counts"][i][j], at, row["query"])
        for at, row in enumerate(tool["queries_by_disagreement"])
        if row["counts"][i][j]
    ]
    if not rows:
        return ""
    rows.sort(key=lambda row: -row[0])
    links = ", ".join(
        f"{_link(tool, at, query)} {whole(count)}" for count, at, query in rows[:BEHIND]
    )
    more = f" and {len(rows) - BEHIND} more" if len(rows) > BEHIND else ""
    words = f"<b>First {SAYS[i]}, second {SAYS[j]}</b>: {links}{more}"
    return f'<li id="behind-{tool["tool"]}-{i}{j}">{words}</li>'


def _link(tool: Json, at: int, query: str) -> str:
    """A link to the query's row, if the page shows it."""
    if at >= MOST_QUERIES:
        return text(query)
    return f'<a href="#query-{tool["tool"]}-{at}">{text(query)}</a>'
