"""Queries whose lists disagree, and the pairs that one more vote would decide."""

from typing import NamedTuple

import numpy as np

from topkapi.analysis.aggregation import bradley_terry_consensus, open_pairs
from topkapi.analysis.agreement import QueryVotes
from topkapi.analysis.report.sections.consensus import votes_of_consensus
from topkapi.analysis.report.study import StudyData, ToolData


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
