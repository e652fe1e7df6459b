"""Cards about queries: the most disputed, and the consensus of each."""

from analysis.report.figures import Json
from analysis.report.page.markup import card, how, percent, quiet, shown, stack, table, text, whole
from analysis.report.page.words import HOW

MOST_QUERIES = 100


def queries(report: Json) -> str:
    """Queries in order of disagreement, one table a tool."""
    return stack("queries", (_queries(tool) for tool in report["tools"]))


def _queries(tool: Json) -> str:
    rows = tool["queries_by_disagreement"]
    heads = ["Query", "Assessors", "Pages", "Agreement", "Without ties", "tau-b", "RBO"]
    cells = [
        [
            f'<span id="query-{tool["tool"]}-{at}">{text(row["query"])}</span>'
            + (f' <span class="quiet">{text(row["text"])}</span>' if row["text"] else ""),
            whole(row["assessors"]),
            whole(row["documents"]),
            shown(row["overall"], "percent"),
            shown(row["without_ties"], "percent"),
            shown(row["tau_b"]),
            shown(row["rbo"]),
        ]
        for at, row in enumerate(rows[:MOST_QUERIES])
    ]
    title = f"By query, most disputed first, {tool['title']}"
    more = _rest(len(rows), "queries.csv")
    return card(title, table(heads, cells, label=title), more)


def consensus(report: Json) -> str:
    """The consensus list of each query, and the assessor it departs from most."""
    return stack("consensus", (_consensus(tool) for tool in report["tools"]))


def _consensus(tool: Json) -> str:
    title, words = HOW["consensus"]
    rows = tool["consensus"]["queries"]
    cells = [
        [text(row["query"]), _names(row["documents"]), _furthest(row)]
        for row in rows[:MOST_QUERIES]
    ]
    heads = ["Query", "First documents", "Departs most from"]
    tip = how(f"consensus-{tool['tool']}", title, words)
    body = table(heads, cells, label=f"Consensus, {tool['title']}", left=3)
    more = _rest(len(rows), f"consensus-{tool['tool']}.jsonl")
    return card(f"Consensus, {tool['title']}", body, more, tip=tip)


def _names(documents: list[str]) -> str:
    shown_ = ", ".join(text(document) for document in documents[:5])
    return f'<span class="ids">{shown_}{" …" if len(documents) > 5 else ""}</span>'


def _furthest(row: Json) -> str:
    known = [
        (share, name)
        for share, name in zip(row["departures"], row["assessors"], strict=True)
        if share is not None
    ]
    if not known or not max(known)[0]:
        return "nobody"
    share, name = max(known)
    return f"{text(name)}, {percent(share)} of their preferences"


def _rest(count: int, name: str) -> str:
    """Where the rows are that the page leaves out."""
    if count <= MOST_QUERIES:
        return ""
    return quiet(f"The first {MOST_QUERIES} of {whole(count)}; all are in {text(name)}.")
