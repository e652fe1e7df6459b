"""The queries of one tool, the most disputed first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topkapi.analysis.aggregation import bradley_terry_consensus, open_pairs
from topkapi.analysis.agreement import (
    ListSimilarity,
    PairTables,
    Preferences,
    QueryVotes,
    agreement,
)
from topkapi.analysis.agreement.tables import mean_of
from topkapi.analysis.report.figures import (
    Counts,
    Figure,
    Reason,
    figure,
    mean_sums,
    nested,
    supported_tau,
)
from topkapi.analysis.report.study import StudyData, ToolData
from topkapi.analysis.report.subjects.consensus import (
    MOST_QUERIES,
    ConsensusRow,
    ToolConsensus,
    consensus_row,
    votes_of_consensus,
)

OPEN = 20  # rows of the table of queries that are not folded


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """Agreement of all assessors on one query."""

    query: str
    text: str
    assessors: int
    documents: int
    counts: Counts
    overall: Figure
    without_ties: Figure
    tau_b: Figure
    rbo: Figure


def query_rows(
    study: StudyData, preferences: Preferences, tables: PairTables, lists: ListSimilarity | None
) -> tuple[QueryAgreement, ...]:
    """Return one row per judged query, in order of disagreement.

    Queries that are not shared come last.
    """
    counts = tables.in_both_orders()
    tau = mean_of(mean_sums(tables.query, supported_tau(tables), tables.n_queries))
    overlap = None if lists is None else mean_sums(lists.query, lists.rbo, tables.n_queries)
    rbo = np.full(tables.n_queries, np.nan) if overlap is None else mean_of(overlap)
    overall, strict = agreement(counts), agreement(counts, ties=False)
    judged = {block.query: block.assessors.size for block in preferences.blocks}
    order = sorted(judged, key=lambda q: (np.isnan(overall[q]), overall[q], study.queries[q]))
    no_overlap = Reason.NO_LISTS if lists is None else Reason.NOTHING_SHARED
    return tuple(
        QueryAgreement(
            query=study.queries[q],
            text=study.text(q),
            assessors=int(judged[q]),
            documents=len(study.documents[q]),
            counts=nested(counts[q]),
            overall=figure(overall[q], reason=Reason.NOTHING_SHARED),
            without_ties=figure(strict[q], reason=Reason.NO_PREFERENCE),
            tau_b=figure(tau[q], reason=Reason.ALL_TIED),
            rbo=figure(rbo[q], reason=no_overlap),
        )
        for q in order
    )


class Contested(NamedTuple):
    """A query with at least two lists that disagree.

    ``share`` is the mean share of an assessor's preferences that the consensus reverses, ``pairs``
    are the pairs of documents that one more vote would decide.
    """

    query: int
    assessors: int
    share: float
    pairs: tuple[tuple[int, int], ...]


def contested(study: StudyData, tool: ToolData, *, limit: int) -> tuple[list[Contested], int]:
    """Return the ``limit`` most disagreeing queries, and the number of all that disagree."""
    blocks = [each for each in study.preferences(tool).blocks if each.assessors.size > 1]
    votes = dict(
        zip([each.query for each in blocks], votes_of_consensus(study, tool, blocks), strict=True)
    )
    shares = {query: _share(study, query, *found) for query, found in votes.items()}
    order = sorted((query for query in votes if shares[query] > 0), key=lambda q: (-shares[q], q))
    k, counts = study.k or 1, {each.query: int(each.assessors.size) for each in blocks}
    found = []
    for query in order[:limit]:
        block, lists = votes[query]
        pairs = open_pairs(block, len(study.documents[query]), k, lists=lists)
        found.append(Contested(query, counts[query], shares[query], tuple(pairs)))
    return found, len(order)


def _share(study: StudyData, query: int, block: QueryVotes, lists: QueryVotes | None) -> float:
    n = len(study.documents[query])
    departures = bradley_terry_consensus(block, n, lists=lists).departures(study.k or n)
    known = departures[~np.isnan(departures)]
    return float(known.mean()) if known.size else 0.0


@dataclass(frozen=True, slots=True)
class ToolQueries:
    """Queries of one tool; ``count`` and ``lists`` are numbers of all, shown or not."""

    tool: str
    title: str
    rows: tuple[QueryAgreement, ...]
    count: int
    consensus: tuple[ConsensusRow, ...]
    lists: int
    most: int = MOST_QUERIES
    open: int = OPEN


def queries_view(
    tool: str,
    title: str,
    rows: tuple[QueryAgreement, ...],
    consensus: ToolConsensus,
    titles: Mapping[str, str],
) -> ToolQueries:
    """Build the view of the queries of one tool; ``titles`` are those of documents by id."""
    texts = {row.query: row.text for row in rows}
    return ToolQueries(
        tool=tool,
        title=title,
        rows=rows[:MOST_QUERIES],
        count=len(rows),
        consensus=tuple(
            consensus_row(each, texts.get(each.query, ""), titles)
            for each in consensus.queries[:MOST_QUERIES]
        ),
        lists=len(consensus.queries),
    )
