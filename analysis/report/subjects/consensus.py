"""The consensus lists of one tool, and which assessors they depart from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from topkapi.analysis.aggregation import (
    BRADLEY_TERRY,
    KEMENY,
    Consensus,
    Method,
    bradley_terry_consensus,
    consensus_lists,
    consensus_of,
)
from topkapi.analysis.agreement import (
    BETTER,
    MISSING,
    TIE,
    WORSE,
    PairTables,
    Preferences,
    QueryVotes,
    agreement,
    from_judgments,
    joined,
    rest_counts,
)
from topkapi.analysis.data.exports import ConsensusList
from topkapi.analysis.report.figures import Explanation, Figure, Reason, figure
from topkapi.analysis.report.study import StudyData, ToolData
from topkapi.analysis.typing import FloatArray

MOST_QUERIES = 100
MOST_DOCUMENTS = 5


@dataclass(frozen=True, slots=True)
class Departure:
    """Share of an assessor's preferences that the consensus lists reverse."""

    assessor: str
    queries: int
    mean: Figure
    most: float
    most_query: str


@dataclass(frozen=True, slots=True)
class ToolConsensus:
    """Consensus list of each query, and how far each assessor departs from them."""

    k: int
    queries: tuple[ConsensusList, ...]
    departures: tuple[Departure, ...]


def agreement_weights(tables: PairTables) -> FloatArray:
    """Return the mean agreement with the others as the weight of a vote (n_assessors,).

    NaN where nothing is shared.
    """
    _, who, counts = rest_counts(tables)
    sums = np.zeros((tables.n_assessors, 9))
    np.add.at(sums, who, counts)
    return agreement(sums.reshape(-1, 3, 3))


def consensus(
    study: StudyData,
    tool: ToolData,
    preferences: Preferences,
    tables: PairTables,
    method: Method | None = None,
) -> list[Consensus]:
    """Compute the consensus of every judged query, queries in study order.

    Without a ``method`` it is Bradley-Terry where the tool has raw answers, else Supervised Kemeny.
    """
    blocks = sorted(preferences.blocks, key=lambda block: block.query)
    if (method or default_method(tool)) == KEMENY:
        weights, more = agreement_weights(tables), _adjudicated(study, tool)
        found = [_joined(block, more.get(block.query)) for block in blocks]
        return [consensus_of(b, len(study.documents[b.query]), weights) for b in found]
    return [
        bradley_terry_consensus(votes, len(study.documents[votes.query]), lists=lists)
        for votes, lists in votes_of_consensus(study, tool, blocks)
    ]


def votes_of_consensus(
    study: StudyData, tool: ToolData, blocks: Sequence[QueryVotes]
) -> Iterator[tuple[QueryVotes, QueryVotes | None]]:
    """Yield what Bradley-Terry is fitted to, per block: the votes, and the finished lists.

    These are the answers and those of adjudicators, or else what the lists say, as for a team.
    """
    asked, more = _answers(study, tool, blocks), _adjudicated(study, tool)
    for block in blocks:
        votes, lists = asked.get(block.query), block if tool.scores else None
        if votes is None or block.query in tool.teams:
            votes, lists = (_stated(block) if tool.name == "pairs" else block), None
        yield _joined(votes, more.get(block.query)), lists


def _joined(block: QueryVotes, more: QueryVotes | None) -> QueryVotes:
    return block if more is None else joined(block, more)


def _adjudicated(study: StudyData, tool: ToolData) -> dict[int, QueryVotes]:
    """Return the answers of adjudicators by query."""
    if tool.adjudicated is None or not len(tool.adjudicated):
        return {}
    found = from_judgments(tool.adjudicated, len(study.assessors), len(study.queries))
    return {block.query: block for block in found.blocks}


def default_method(tool: ToolData) -> Method:
    """Return Bradley-Terry for a tool with raw answers, else Supervised Kemeny.

    One whose answers say nothing has them too, so that a query's method is that of its study.
    """
    return KEMENY if tool.judgments is None else BRADLEY_TERRY


def _answers(
    study: StudyData, tool: ToolData, blocks: Sequence[QueryVotes]
) -> dict[int, QueryVotes]:
    """Return the raw answers by query, of finished sessions where the tool has lists."""
    asked = tool.judgments
    if asked is None or not len(asked) or not blocks:
        return {}
    if tool.scores:
        width = len(study.queries)
        done = [block.assessors * width + block.query for block in blocks]
        asked = asked.take(np.isin(asked.assessor * width + asked.query, np.concatenate(done)))
    found = from_judgments(asked, len(study.assessors), len(study.queries))
    return {block.query: block for block in found.blocks}


def _stated(block: QueryVotes) -> QueryVotes:
    """Drop ties of lists in which neither document beats any other: both are outside the list."""
    won = np.zeros((block.assessors.size, int(block.second.max(initial=0)) + 1), dtype=bool)
    for row, votes in zip(won, block.votes, strict=True):
        row[block.first[votes == BETTER]] = True
        row[block.second[votes == WORSE]] = True
    outside = ~won[:, block.first] & ~won[:, block.second] & (block.votes == TIE)
    return replace(block, votes=np.where(outside, MISSING, block.votes).astype(np.int8))


def consensus_section(study: StudyData, orders: list[Consensus]) -> ToolConsensus:
    """Return the consensus list of every query, and the departures of each assessor."""
    k = study.k or max((len(documents) for documents in study.documents), default=0)
    lists = consensus_lists(
        orders,
        k=k,
        queries=study.queries,
        documents=study.documents,
        assessors=study.assessors,
    )
    return ToolConsensus(k, tuple(lists), _departures(study, orders, k))


def _departures(study: StudyData, found: list[Consensus], k: int) -> tuple[Departure, ...]:
    by_assessor: dict[int, list[tuple[str, float]]] = {}
    for each in found:
        for assessor, share in zip(each.assessors.tolist(), each.departures(k), strict=True):
            if not np.isnan(share):
                shares = by_assessor.setdefault(assessor, [])
                shares.append((study.queries[each.query], float(share)))
    return tuple(
        _departure(study.assessors[assessor], shares)
        for assessor, shares in sorted(by_assessor.items())
    )


def _departure(assessor: str, shares: list[tuple[str, float]]) -> Departure:
    query, most = max(shares, key=lambda pair: pair[1])
    mean = np.mean([share for _, share in shares])
    return Departure(
        assessor,
        queries=len(shares),
        mean=figure(mean, reason=Reason.NO_STATED_PREFERENCE),
        most=most,
        most_query=query,
    )


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


def shown_documents(consensus: ToolConsensus) -> set[str]:
    """Return the ids of the documents that the page shows."""
    return {
        document
        for each in consensus.queries[:MOST_QUERIES]
        for document in each.documents[:MOST_DOCUMENTS]
    }


def consensus_row(consensus: ConsensusList, text: str, titles: Mapping[str, str]) -> ConsensusRow:
    """Build the row of a query from its text and the titles of documents by id."""
    known = [
        (share, name)
        for share, name in zip(consensus.departures, consensus.assessors, strict=True)
        if share is not None
    ]
    share, name = max(known, default=(0.0, ""))
    return ConsensusRow(
        query=consensus.query,
        text=text,
        documents=tuple(titles.get(name, name) for name in consensus.documents[:MOST_DOCUMENTS]),
        more=len(consensus.documents) > MOST_DOCUMENTS,
        assessor=name if share else None,
        share=share,
    )


EXPLANATIONS = {
    "consensus": Explanation(
        "Consensus",
        "Where there are answers to pairs, the order of Bradley-Terry worths (with ties, ridge .3) "
        "fitted to them. Otherwise Supervised Kemeny: the order that contradicts the fewest votes, "
        "weighted by each assessor's mean agreement with the others. The files name the method.",
    ),
}
