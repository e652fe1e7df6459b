"""Top-k ground truth: an ordered list T of k documents, and the unordered rest F.

As labels it is k + 1 - rank in T and 0 in F ([NGLC12]_, section 3.2.1). A list may be shorter than
k (few documents, bad pages): its labels still begin at k.
"""

import numpy as np

from topkapi.analysis.data.keyed import keyed_draws
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray


def truth_order(data: RankingData, seed: int | None = 0) -> IntArray:
    """Order the rows of every query, best label first: (n_rows,).

    Equal labels are ordered at random, as [NGLC12]_ do for graded sets.

    Parameters
    ----------
    data
        Documents of many queries.
    seed
        Seed of the order of equal labels; None keeps their row order.

    Returns
    -------
    IntArray
        Rows; row ``order[offsets[q]]`` is the best of query q.
    """
    ties = np.arange(data.n_rows) if seed is None else keyed_draws(data, seed)
    return np.lexsort((ties, -data.labels, data.queries))


def truth_ranks(data: RankingData, seed: int | None = 0) -> IntArray:
    """Return the rank of every row in its query's true order, 1 = best.

    Parameters
    ----------
    data
        Documents of many queries.
    seed
        Seed of the order of equal labels, as in :func:`truth_order`.
    """
    ranks = np.empty(data.n_rows, dtype=np.int64)
    positions = np.arange(data.n_rows) - np.repeat(data.offsets[:-1], data.sizes)
    ranks[truth_order(data, seed)] = positions + 1
    return ranks


def to_topk(data: RankingData, k: int, *, seed: int = 0) -> RankingData:
    """Return the top-k ground truth of ``data``.

    Grades and full orders give T the k best documents, equal grades in random order by ``seed``.
    Data that already are a top-K ground truth (``data.topk``) are cut to their first k; documents
    of F never move into T.

    Parameters
    ----------
    data
        Documents of many queries.
    k
        Length of the lists.
    seed
        Seed of the order of equal grades.

    Examples
    --------
    >>> graded = RankingData(np.ones((4, 1)), np.array([0.0, 3.0, 1.0, 2.0]), np.array([0, 4]))
    >>> to_topk(graded, 2).labels
    array([0., 2., 0., 1.])
    """
    if k < 1:
        raise BadData(f"k must be at least 1, not {k}")
    if data.topk == k:
        return data
    ranks = truth_ranks(data, seed)
    inside = (ranks <= k) if data.topk is None else (ranks <= k) & (data.labels > 0)
    return data.with_labels(np.where(inside, k + 1.0 - ranks, 0.0), topk=k)


def full_order(data: RankingData, *, seed: int = 0) -> RankingData:
    """Return labels n + 1 - rank of a total order that agrees with the labels.

    Parameters
    ----------
    data
        Documents of many queries.
    seed
        Seed of the order of equal labels.

    Examples
    --------
    >>> graded = RankingData(np.ones((3, 1)), np.array([0.0, 3.0, 1.0]), np.array([0, 3]))
    >>> full_order(graded).labels
    array([1., 3., 2.])
    """
    ranks = truth_ranks(data, seed)
    return data.with_labels(np.repeat(data.sizes, data.sizes) + 1.0 - ranks)


def from_orders(features: FloatArray, ranks: IntArray, offsets: IntArray, k: int) -> RankingData:
    """Make top-k ground truth from full orders.

    Parameters
    ----------
    features
        Features (n_rows, n_features).
    ranks
        Ranks (n_rows,), 1 = best in its query.
    offsets
        Offsets (n_queries + 1,) of the queries.
    k
        Length of the lists.
    """
    labels = np.where(ranks <= k, k + 1.0 - ranks, 0.0)
    return RankingData(features, labels, offsets, topk=k)
