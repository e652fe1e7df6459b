"""Preferences between the documents of a query, one array type for labels and for raw answers.

The pairs of a query are all of its unordered document pairs that anybody judged, each oriented by
the fixed document order: ``first`` comes before ``second``. Every assessor of the query has one
row of votes over these pairs: ``BETTER`` (A>B), ``TIE`` (A~B), ``WORSE`` (A<B) or ``MISSING``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topkapi.analysis.agreement.judgments import Judgments
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray

BETTER, TIE, WORSE, MISSING = 0, 1, 2, -1
Votes: TypeAlias = NDArray[np.int8]
Repeats: TypeAlias = Literal["first", "last"]


@dataclass(frozen=True, slots=True)
class QueryVotes:
    """The votes on one query.

    Attributes
    ----------
    query
        Index of the query.
    assessors
        Ascending indices (m,).
    first, second
        Document indices (p,), first < second.
    votes
        Codes (m, p).
    """

    query: int
    assessors: IntArray
    first: IntArray
    second: IntArray
    votes: Votes

    def __post_init__(self) -> None:
        if self.votes.shape != (self.assessors.size, self.first.size):
            raise BadData(
                f"query {self.query}: votes {self.votes.shape} do not fit "
                f"{self.assessors.size} assessors and {self.first.size} pairs"
            )
        if (np.diff(self.assessors) <= 0).any():
            raise BadData(f"query {self.query}: an assessor appears twice")


@dataclass(frozen=True, slots=True)
class Preferences:
    """The votes of a whole study under one tool: at most one block per query.

    Attributes
    ----------
    n_assessors, n_queries
        Sizes of the study.
    blocks
        Votes by query.
    """

    n_assessors: int
    n_queries: int
    blocks: tuple[QueryVotes, ...]

    def __post_init__(self) -> None:
        queries = [block.query for block in self.blocks]
        if len(set(queries)) != len(queries):
            raise BadData("a query has two blocks of votes")


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of each assessor for each document of a query; greater is better, NaN is not judged.

    Grades are their own scores; a top-k ground truth has k + 1 - rank in T (tied documents share a
    value, see ``topk_scores``) and 0 in F.

    Attributes
    ----------
    query
        Index of the query.
    assessors
        Ascending indices (m,).
    values
        Scores (m, n), columns in the fixed document order.
    """

    query: int
    assessors: IntArray
    values: FloatArray


def topk_scores(ranking: Sequence[Sequence[int]], n: int, k: int) -> FloatArray:
    """Return labels k + 1 - rank of a top-k list, 0 for documents outside it.

    A group takes the label of its first rank, so that pairs within it tie ([NGLC12]_, section 2: T
    in order over F, F unordered).

    Parameters
    ----------
    ranking
        Groups of tied documents, best first.
    n
        Number of documents.
    k
        Length of the list.

    Examples
    --------
    >>> topk_scores([[4], [0, 2]], n=5, k=3).tolist()
    [2.0, 0.0, 2.0, 0.0, 3.0]
    """
    labels = np.zeros(n)
    rank = 1
    for group in ranking:
        labels[list(group)] = max(k + 1 - rank, 1)
        rank += len(group)
    return labels


def from_scores(scores: Iterable[Scores], n_assessors: int, n_queries: int) -> Preferences:
    """Compare every pair of every query by score.

    The greater score is preferred, equal scores tie.

    Parameters
    ----------
    scores
        Scores of each query.
    n_assessors, n_queries
        Sizes of the study.

    Examples
    --------
    >>> one = Scores(0, np.array([0, 1]), np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> from_scores([one], 2, 1).blocks[0].votes.tolist()
    [[0, 0, 0], [1, 2, 2]]
    """
    return Preferences(n_assessors, n_queries, tuple(_compared(each) for each in scores))


def _compared(scores: Scores) -> QueryVotes:
    values = np.asarray(scores.values, dtype=float)
    first, second = np.triu_indices(values.shape[1], k=1)
    difference = values[:, first] - values[:, second]
    votes = (1 - np.sign(np.nan_to_num(difference))).astype(np.int8)
    votes[np.isnan(difference)] = MISSING
    return QueryVotes(scores.query, np.asarray(scores.assessors), first, second, votes)


def joined(one: QueryVotes, other: QueryVotes) -> QueryVotes:
    """Return the votes of both blocks on the same query; nobody may be in both.

    Parameters
    ----------
    one, other
        Votes of different assessors.

    Examples
    --------
    >>> better, worse = np.array([[BETTER]], np.int8), np.array([[WORSE]], np.int8)
    >>> a = QueryVotes(0, np.array([0]), np.array([0]), np.array([1]), better)
    >>> b = QueryVotes(0, np.array([3]), np.array([0]), np.array([2]), worse)
    >>> joined(a, b).votes.tolist()
    [[0, -1], [-1, 2]]
    """
    width = int(max(one.second.max(initial=0), other.second.max(initial=0))) + 1
    keys = np.union1d(one.first * width + one.second, other.first * width + other.second)
    assessors = np.union1d(one.assessors, other.assessors)
    votes = np.full((assessors.size, keys.size), MISSING, dtype=np.int8)
    for block in (one, other):
        rows = np.searchsorted(assessors, block.assessors)
        votes[np.ix_(rows, np.searchsorted(keys, block.first * width + block.second))] = block.votes
    return QueryVotes(one.query, assessors, keys // width, keys % width, votes)


def from_judgments(
    judgments: Judgments, n_assessors: int, n_queries: int, *, repeats: Repeats = "first"
) -> Preferences:
    """Collect the judged pairs.

    Parameters
    ----------
    judgments
        Raw answers.
    n_assessors, n_queries
        Sizes of the study.
    repeats
        Whether the ``first`` or ``last`` of several answers to a pair counts.

    Examples
    --------
    >>> ends = {"left": [5, 3], "right": [3, 5], "answer": [1, 1]}
    >>> asked = Judgments.of(assessor=[0, 1], query=[0, 0], **ends)
    >>> block = from_judgments(asked, 2, 1).blocks[0]
    >>> block.first.tolist(), block.second.tolist(), block.votes.tolist()
    ([3], [5], [[2], [0]])
    """
    oriented = judgments.oriented()
    order = np.argsort(oriented.query, kind="stable")
    borders = np.searchsorted(oriented.query[order], np.arange(n_queries + 1))
    groups = (order[a:b] for a, b in pairwise(borders) if b > a)
    blocks = (_judged(oriented.take(group), repeats) for group in groups)
    return Preferences(n_assessors, n_queries, tuple(blocks))


def _judged(asked: Judgments, repeats: Repeats) -> QueryVotes:
    """Return the block of one query's oriented answers, in the order of the answers."""
    width = int(asked.right.max()) + 1
    keys, column = np.unique(asked.left * width + asked.right, return_inverse=True)
    assessors, row = np.unique(asked.assessor, return_inverse=True)
    votes = np.full((assessors.size, keys.size), MISSING, dtype=np.int8)
    turn = slice(None, None, -1) if repeats == "first" else slice(None)
    votes[row[turn], column[turn]] = (1 - asked.answer[turn]).astype(np.int8)
    return QueryVotes(int(asked.query[0]), assessors, keys // width, keys % width, votes)
