"""Branch and bound for the ranking with the largest product Delta h, many queries at once.

A ranking is built from its first position on. At weight lambda the documents left are best taken in
the order of their keys score - lambda gain, so taking the one at position q of that order first
costs

    sum over i < q of (a_(p+i) - a_(p+i+1)) (key_i - key_q)

of the largest h + lambda Delta, and a beginning whose costs bring (h + lambda Delta)^2 / (4 lambda)
down to a product already found is dropped with all its continuations. Of documents with equal gain
the one with the larger score comes first in a best ranking: only that one is tried.
"""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.models.oracles.top_lists import TopLists
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

MOST_STATES = 5040
"""Beginnings kept for a query: all those of seven documents. Beyond, the cheapest are kept."""
MOST_CELLS = 1_000_000
"""Beginnings times positions times documents of a query: fewer are kept of long lists."""


@dataclass(frozen=True)
class Search:
    """Search problem of b queries.

    ``scores`` (b, w) with -inf at empty positions, ``weight`` lambda > 0 (b,), ``top`` the largest
    h + lambda Delta (b,), ``floor`` the product that a ranking has to exceed (b,).
    """

    lists: TopLists
    scores: FloatArray
    weight: FloatArray
    top: FloatArray
    floor: FloatArray


@dataclass(frozen=True)
class Candidates:
    """Documents that may be in the first n positions, in the order of their keys.

    ``positions``, ``keys``, ``filled`` and ``ranks`` (b, c), the last among documents of equal
    gain; ``gains`` (b, c); ``drops`` (b, n + c) are the falls of the discounts behind each
    position, and ``lengths`` (b,) how many positions a query fills.
    """

    positions: IntArray
    keys: FloatArray
    filled: BoolArray
    ranks: IntArray
    gains: FloatArray
    drops: FloatArray
    lengths: IntArray


def search_below(search: Search) -> tuple[IntArray, IntArray, BoolArray]:
    """Find every ranking whose bound exceeds the floor, or the cheapest if there are many.

    Returns the queries (m,) and the rankings (m, n) as positions, and which queries (b,) were
    searched whole.
    """
    known = _candidates(search)
    n = search.lists.discounts.size
    rows: IntArray = np.arange(search.top.size)
    rest = np.tile(np.arange(known.positions.shape[1]), (rows.size, 1))
    ranks, cost = known.ranks, np.zeros(rows.size)
    taken = np.zeros((rows.size, 0), dtype=np.int64)
    whole: BoolArray = np.ones(rows.size, dtype=np.bool_)
    most = min(MOST_STATES, MOST_CELLS // (n * rest.shape[1]) + 1)
    least = 2.0 * np.sqrt(search.floor * search.weight)  # h + lambda Delta of the floor, at least
    for position in range(n):
        costs = cost[:, None] + _costs(known, rows, rest, position)
        able = (ranks == 0) & np.take_along_axis(known.filled[rows], rest, axis=1)
        over = position >= known.lengths[rows]
        able[over] = np.arange(rest.shape[1]) == 0
        able &= search.top[rows, None] - costs > least[rows, None]
        states, columns = np.nonzero(able)
        kept = _cheapest(rows[states], costs[states, columns], most, whole)
        states, columns = states[kept], columns[kept]
        chosen = rest[states, columns]
        rows, cost = rows[states], costs[states, columns]
        taken = np.column_stack([taken[states], chosen])
        others = np.arange(rest.shape[1] - 1) + (np.arange(rest.shape[1] - 1) >= columns[:, None])
        rest = np.take_along_axis(rest[states], others, axis=1)
        ranks = np.take_along_axis(ranks[states], others, axis=1)
        equal = known.gains[rows[:, None], rest] == known.gains[rows, chosen][:, None]
        ranks = ranks - equal
    return rows, np.take_along_axis(known.positions[rows], taken, axis=1), whole


def _costs(known: Candidates, rows: IntArray, left: IntArray, position: int) -> FloatArray:
    """Compute the cost of taking each of the remaining documents now, (m, c - position)."""
    keys = known.keys[rows[:, None], left]
    drops = known.drops[rows, position : position + left.shape[1]]
    before, weighed = (np.cumsum(each, axis=1) - each for each in (drops, drops * keys))
    return weighed - keys * before


def _cheapest(queries: IntArray, costs: FloatArray, most: int, whole: BoolArray) -> IntArray:
    """Select at most ``most`` states per query.

    ``whole`` unmarks queries that lose some.
    """
    counts = np.bincount(queries, minlength=whole.size)
    if counts.max(initial=0) <= most:
        return np.arange(queries.size)
    whole &= counts <= most
    order = np.lexsort((costs, queries))
    within = np.arange(order.size) - (np.cumsum(counts) - counts)[queries[order]]
    return np.sort(order[within < most])


def _candidates(search: Search) -> Candidates:
    """Select the first n of every gain, in the order of keys.

    The others are in no best ranking.
    """
    lists = search.lists
    n, (size, width) = lists.discounts.size, lists.rows.shape
    keys = np.where(lists.filled, search.scores - search.weight[:, None] * lists.gains, -np.inf)
    order = np.argsort(-keys, axis=1, kind="stable")
    gains = np.take_along_axis(lists.gains, order, axis=1)
    filled = np.take_along_axis(lists.filled, order, axis=1)
    ranks = _ranks_of_equals(np.where(filled, gains, -1.0))
    kept = filled & (ranks < n)
    first = np.argsort(~kept, axis=1, kind="stable")[:, : int(kept.sum(axis=1).max(initial=n))]
    lengths = np.minimum(lists.filled.sum(axis=1), n)
    discounts = np.zeros((size, n + width + 1))
    discounts[:, :n] = np.where(np.arange(n) < lengths[:, None], lists.discounts, 0.0)
    known = np.take_along_axis(np.take_along_axis(keys, order, axis=1), first, axis=1)
    kept = np.take_along_axis(kept, first, axis=1)
    return Candidates(
        positions=np.take_along_axis(order, first, axis=1),
        keys=np.where(kept, known, 0.0),
        filled=kept,
        ranks=np.take_along_axis(ranks, first, axis=1),
        gains=np.where(kept, np.take_along_axis(gains, first, axis=1), -1.0),
        drops=discounts[:, :-1] - discounts[:, 1:],
        lengths=lengths,
    )


def _ranks_of_equals(values: FloatArray) -> IntArray:
    """Count the equal values before each value of a row.

    >>> _ranks_of_equals(np.array([[3.0, 1.0, 3.0, 3.0, 1.0]]))
    array([[0, 0, 1, 2, 1]])
    """
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    positions = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    fresh = np.ones(values.shape, dtype=np.bool_)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.maximum.accumulate(np.where(fresh, positions, 0), axis=1)
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, positions - starts, axis=1)
    return ranks
