"""The most violated ranking under slack scaling: the largest product Delta (1 + lead).

[CSX15]_, equation (9), looks for it among the rankings of largest lead + lambda Delta, the corners
of the hull (module ``hull``). The largest product may belong to a ranking inside the hull, where no
lambda reaches; branch and bound (module ``branch_and_bound``) looks there.
"""

import numpy as np

from topkapi.analysis.models.oracles.branch_and_bound import Search, search_below
from topkapi.analysis.models.oracles.hull import Corners, best_corners
from topkapi.analysis.models.oracles.top_lists import LEAST_LOSS, TopLists, next_best
from topkapi.analysis.typing import FloatArray, IntArray

CLOSE = 1e-10
"""A bound this near (relative) to a product found is reached."""


def slack_violation(lists: TopLists, scores: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Find the most violated rankings under slack scaling.

    Returns slacks max(0, Delta (1 + lead)), multipliers of the plane, rankings.

    ``scores`` (b, w) have -inf at empty positions. Exact for Precision: Delta depends on the number
    of relevant documents in the top alone, and each number has one best ranking. Exact for NDCG
    wherever the bound of the corners is reached or branch and bound ends within its limit of
    states: always in lists of up to seven documents, and in every query of MQ2008 and OHSUMED at
    n = 10 that was tried. Elsewhere (whole lists of many documents) the result is the best of the
    corners, of exchanges of two documents from there, and of the states that were kept.
    """
    rankings = _by_count(lists, scores) if _counts_decide(lists) else _by_bound(lists, scores)
    loss, lead = lists.loss_and_lead(scores, rankings)
    slacks = np.where(loss > LEAST_LOSS, np.maximum(loss * (1.0 + lead), 0.0), 0.0)
    return slacks, np.where(slacks > 0, loss, 0.0), rankings


def _counts_decide(lists: TopLists) -> bool:
    """Tell whether positions count alike and gains are 0 or one other value in each query."""
    highest = lists.gains.max(axis=1, keepdims=True)
    two = ((lists.gains == 0) | (lists.gains == highest)).all()
    return bool(two) and bool((lists.discounts == lists.discounts[0]).all())


def _by_count(lists: TopLists, scores: FloatArray) -> IntArray:
    """Find the best number r of relevant documents in the top, taken by score."""
    n = lists.discounts.size
    relevant = lists.gains > 0
    sums, ranks = [], []
    for mine in (relevant, ~relevant & lists.filled):
        order = np.argsort(np.where(mine, -scores, np.inf), axis=1, kind="stable")
        ordered = np.take_along_axis(np.where(mine, scores, -np.inf), order, axis=1)[:, :n]
        sums.append(np.pad(np.cumsum(ordered, axis=1), ((0, 0), (1, 0))))
        ranks.append(np.where(mine, np.argsort(order, axis=1, kind="stable"), n))
    numbers = np.arange(n + 1)
    true_sum = np.take_along_axis(scores, lists.best, axis=1) @ lists.discounts
    loss = 1.0 - lists.gains.max(axis=1)[:, None] * lists.discounts[0] * numbers
    height = 1.0 + lists.discounts[0] * (sums[0] + sums[1][:, ::-1]) - true_sum[:, None]
    products = np.where((loss > LEAST_LOSS) & np.isfinite(height), loss * height, -np.inf)
    number = products.argmax(axis=1)[:, None]
    chosen = (ranks[0] < number) | (ranks[1] < n - number)
    return np.argsort(~chosen, axis=1, kind="stable")[:, :n]


def _by_bound(lists: TopLists, scores: FloatArray) -> IntArray:
    """Search corners of the hull, then by exchanges and branch and bound where a gap remains."""
    known = best_corners(lists, scores)
    lost = np.flatnonzero(known.products <= 0)
    if lost.size:  # no corner violates: the best wrong ranking by score may
        _keep(known, lists, scores, lost, next_best(lists, scores, lost, 0.0)[0])
    gap = _gap(known)
    if gap.size:
        _keep(
            known, lists, scores, gap, _exchanged(lists.of(gap), scores[gap], known.rankings[gap])
        )
        gap = _gap(known)
    if gap.size:
        weight, top, floor = known.weight[gap], known.top[gap], known.products[gap]
        rows, found, _ = search_below(Search(lists.of(gap), scores[gap], weight, top, floor))
        _keep(known, lists, scores, gap[rows], found)
    return known.rankings


def _gap(known: Corners) -> IntArray:
    """Select queries that violate and may do so more than is known."""
    return np.flatnonzero((known.products > 0) & (known.bound > known.products * (1.0 + CLOSE)))


def _keep(
    known: Corners, lists: TopLists, scores: FloatArray, which: IntArray, rankings: IntArray
) -> None:
    """Keep the best of the rankings (m, n) of the queries ``which`` (m,), which may repeat."""
    worth = _products(lists.of(which), scores[which], rankings)
    rising = np.argsort(worth, kind="stable")  # of several assignments the last one counts
    rising = rising[worth[rising] > known.products[which[rising]]]
    known.rankings[which[rising]] = rankings[rising]
    known.products[which[rising]] = worth[rising]


def _products(lists: TopLists, scores: FloatArray, rankings: IntArray) -> FloatArray:
    """Compute Delta (1 + lead) of wrong rankings, -inf of right ones."""
    loss, lead = lists.loss_and_lead(scores, rankings)
    return np.where(loss > LEAST_LOSS, loss * (1.0 + lead), -np.inf)


def _exchanged(lists: TopLists, scores: FloatArray, rankings: IntArray) -> IntArray:
    """Swap two documents while that increases Delta (1 + lead), ten times at most."""
    orders = _completed(rankings, lists.rows.shape[1])
    n = lists.discounts.size
    active = np.arange(orders.shape[0])
    for _ in range(10):
        part, own = lists.of(active), scores[active]
        products = _after_exchange(part, own, orders[active])
        position = products.reshape(active.size, -1).argmax(axis=1)
        p, q = np.divmod(position, orders.shape[1])
        now = _products(part, own, orders[active, :n])
        better = products[np.arange(active.size), p, q] > now * (1.0 + CLOSE)
        active, p, q = active[better], p[better], q[better]
        if not active.size:
            break
        orders[active, p], orders[active, q] = orders[active, q], orders[active, p]
    return orders[:, :n]


def _after_exchange(lists: TopLists, scores: FloatArray, orders: IntArray) -> FloatArray:
    """Compute the product after swapping rank p of the top with rank q, (b, n, w)."""
    n = lists.discounts.size
    weights = np.zeros(orders.shape[1])
    weights[:n] = lists.discounts
    fall = (weights[:n, None] - weights)[None]
    loss, lead = lists.loss_and_lead(scores, orders[:, :n])
    known = np.where(lists.filled, scores, 0.0)
    worth, points = (np.take_along_axis(each, orders, axis=1) for each in (lists.gains, known))
    losses = loss[:, None, None] + fall * (worth[:, :n, None] - worth[:, None, :])
    leads = lead[:, None, None] - fall * (points[:, :n, None] - points[:, None, :])
    filled = np.take_along_axis(lists.filled, orders, axis=1)
    able = (losses > LEAST_LOSS) & filled[:, None, :] & filled[:, :n, None]
    return np.where(able, losses * (1.0 + leads), -np.inf)


def _completed(rankings: IntArray, width: int) -> IntArray:
    """Extend rankings (b, n) by the positions they leave out, (b, width)."""
    marks = np.full((rankings.shape[0], width), rankings.shape[1])
    np.put_along_axis(marks, rankings, np.arange(rankings.shape[1])[None], axis=1)
    return np.argsort(marks, axis=1, kind="stable")
