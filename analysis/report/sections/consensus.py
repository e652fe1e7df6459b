"""The consensus lists of one tool, and which assessors they depart from."""

import numpy as np

from analysis.aggregation import Consensus, consensus_lists, consensus_of
from analysis.agreement import PairTables, Preferences, agreement, rest_counts
from analysis.report.schema import Departure, Reason, ToolConsensus
from analysis.report.sections.figures import figure
from analysis.report.study import StudyData
from analysis.typing import FloatArray


def agreement_weights(tables: PairTables) -> FloatArray:
    """Return the mean agreement with the others as the weight of a vote (n_assessors,).

    NaN where nothing is shared.
    """
    _, who, counts = rest_counts(tables)
    sums = np.zeros((tables.n_assessors, 9))
    np.add.at(sums, who, counts)
    return agreement(sums.reshape(-1, 3, 3))


def consensus(study: StudyData, preferences: Preferences, tables: PairTables) -> list[Consensus]:
    """Compute supervised Kemeny of every judged query, queries in study order."""
    weights = agreement_weights(tables)
    blocks = sorted(preferences.blocks, key=lambda block: block.query)
    return [consensus_of(b, len(study.documents[b.query]), weights) for b in blocks]


def consensus_section(study: StudyData, found: list[Consensus]) -> ToolConsensus:
    """Return the consensus list of every query, and the departures of each assessor."""
    k = study.k or max((len(documents) for documents in study.documents), default=0)
    lists = consensus_lists(
        found,
        k=k,
        queries=study.queries,
        documents=study.documents,
        assessors=study.assessors,
    )
    return ToolConsensus(k, tuple(lists), _departures(study, found))


def _departures(study: StudyData, found: list[Consensus]) -> tuple[Departure, ...]:
    by_assessor: dict[int, list[tuple[str, float]]] = {}
    for each in found:
        for assessor, share in zip(each.assessors.tolist(), each.departures, strict=True):
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
