"""Pairs of a consensus that one more vote decides: the work of an adjudicator."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from topkapi.analysis.aggregation.consensus import bradley_terry_consensus
from topkapi.analysis.agreement.preferences import BETTER, WORSE, QueryVotes, joined


def open_pairs(
    block: QueryVotes, n_documents: int, k: int, *, lists: QueryVotes | None = None
) -> list[tuple[int, int]]:
    """Return the neighbours in a Bradley-Terry consensus whose order one more vote decides.

    Neighbours are documents at ranks 1 and 2, 2 and 3, ..., k and k + 1. A pair is open if the
    first k differ, as members or in order, between a further vote for the one and for the other.

    Parameters
    ----------
    block
        Votes on the query, as `bradley_terry_consensus` takes them.
    n_documents
        Number of documents.
    k
        Length of the consensus list.
    lists
        Votes that the finished lists imply, if ``block`` has answers.

    Returns
    -------
    list[tuple[int, int]]
        Pairs of documents, the one that is ahead now first.

    Examples
    --------
    >>> from topkapi.analysis.agreement import Judgments, from_judgments
    >>> ends = {"left": [0, 0, 1, 0, 1], "right": [1, 2, 2, 1, 2], "answer": [1, 1, 1, -1, 1]}
    >>> asked = Judgments.of(assessor=[0, 0, 0, 1, 1], query=[0] * 5, **ends)
    >>> open_pairs(from_judgments(asked, 2, 1).blocks[0], 3, 2)
    [(1, 0)]
    """
    now = bradley_terry_consensus(block, n_documents, lists=lists)
    foremost = now.top(k + 1).tolist()
    return [
        (ahead, behind)
        for ahead, behind in pairwise(foremost)
        if len(set(_outcomes(block, n_documents, k, lists, ahead, behind))) > 1
    ]


def _outcomes(
    block: QueryVotes, n_documents: int, k: int, lists: QueryVotes | None, one: int, other: int
) -> Iterator[tuple[int, ...]]:
    """Yield the first k after a further vote for either document."""
    first, second = min(one, other), max(one, other)
    who = np.array([int(block.assessors.max(initial=-1)) + 1])
    for vote in (BETTER, WORSE):
        votes = np.array([[vote]], dtype=np.int8)
        further = QueryVotes(block.query, who, np.array([first]), np.array([second]), votes)
        found = bradley_terry_consensus(joined(block, further), n_documents, lists=lists)
        yield tuple(found.top(k).tolist())
