"""View of the sections about queries: the most disputed, and the consensus of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from topkapi.analysis.data.exports import ConsensusList
from topkapi.analysis.report.schema import QueryAgreement, Report, ToolReport

MOST_QUERIES = 100
MOST_DOCUMENTS = 5
OPEN = 20  # rows of the table of queries that are not folded


@dataclass(frozen=True, slots=True)
class ConsensusRow:
    """Consensus of a query, and the assessor it departs from most; None if from nobody.

    Documents are shown by title where titles are known.
    """

    query: str
    text: str
    documents: tuple[str, ...]
    more: bool
    assessor: str | None
    share: float


@dataclass(frozen=True, slots=True)
class ToolQueries:
    """Queries of one tool; ``count`` and ``lists`` are numbers of all, shown or not."""

    tool: str
    title: str
    rows: tuple[QueryAgreement, ...]
    count: int
    consensus: tuple[ConsensusRow, ...]
    lists: int


@dataclass(frozen=True, slots=True)
class QueriesView:
    """Everything the sections show."""

    tools: tuple[ToolQueries, ...]
    most: int = MOST_QUERIES
    open: int = OPEN


def queries_view(report: Report, titles: Mapping[str, str] | None = None) -> QueriesView:
    """Build the view of the sections; ``titles`` are those of documents by id."""
    return QueriesView(tuple(_tool(tool, titles or {}) for tool in report.tools))


def shown_documents(report: Report) -> set[str]:
    """Return the ids of the documents that the sections show."""
    return {
        document
        for tool in report.tools
        for each in tool.consensus.queries[:MOST_QUERIES]
        for document in each.documents[:MOST_DOCUMENTS]
    }


def _tool(tool: ToolReport, titles: Mapping[str, str]) -> ToolQueries:
    rows, lists = tool.queries_by_disagreement, tool.consensus.queries
    texts = {row.query: row.text for row in rows}
    return ToolQueries(
        tool=tool.tool,
        title=tool.title,
        rows=rows[:MOST_QUERIES],
        count=len(rows),
        consensus=tuple(
            _consensus(each, texts.get(each.query, ""), titles) for each in lists[:MOST_QUERIES]
        ),
        lists=len(lists),
    )


def _consensus(each: ConsensusList, text: str, titles: Mapping[str, str]) -> ConsensusRow:
    known = [
        (share, name)
        for share, name in zip(each.departures, each.assessors, strict=True)
        if share is not None
    ]
    share, name = max(known, default=(0.0, ""))
    return ConsensusRow(
        query=each.query,
        text=text,
        documents=tuple(titles.get(name, name) for name in each.documents[:MOST_DOCUMENTS]),
        more=len(each.documents) > MOST_DOCUMENTS,
        assessor=name if share else None,
        share=share,
    )
