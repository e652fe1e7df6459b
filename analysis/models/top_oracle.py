"""Most violated rankings of TopMargin and TopSlack: [CSX15]_, section 3.1, equations (4) to (9).

The feature map of a ranking is the sum over its first n positions p of a_p x, its loss
Delta = 1 - sum a_p b over the same positions, with discounts a and gains b whose best sum is 1.
Both are sums over positions with the same a, so the ranking with the largest score + lambda Delta
is one sort by score - lambda b.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.data.padding import blocks
from analysis.data.ranking import RankingData
from analysis.errors import BadData
from analysis.metrics.dcg import scaled_gains, standard_discounts
from analysis.typing import BoolArray, FloatArray, IntArray

TopLoss = Literal["ndcg", "precision"]

MOST_EXCHANGES = 300  # positions times documents: longer lists are not searched by exchanges
LEAST_LOSS = 1e-9  # a ranking is not wrong if its loss is rounding


@dataclass(frozen=True)
class TopLists:
    """b queries padded to width w: what their rankings are scored by.

    ``rows``, ``filled``, ``gains`` (b, w); ``discounts`` (n,) with n at most w; ``best`` (b, n) are
    the places of the true top, best first.
    """

    rows: IntArray
    filled: BoolArray
    gains: FloatArray
    discounts: FloatArray
    best: IntArray

    def with_ties_by(self, scores: FloatArray) -> "TopLists":
        """The same lists, documents of equal gain in the order of ``scores`` (n_rows,)."""
        values = np.where(self.filled, scores[self.rows], -np.inf)
        first = np.argsort(-values, axis=1, kind="stable")
        ranked = np.where(self.filled, self.gains, -1.0)
        then = np.argsort(-np.take_along_axis(ranked, first, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(first, then, axis=1)[:, : self.discounts.size]
        return TopLists(self.rows, self.filled, self.gains, self.discounts, best)


def top_lists(data: RankingData, n: int, loss: TopLoss) -> list[TopLists]:
    """Blocks of the queries that have a wrong ranking; ties of the true order by row.

    ``ndcg``: a = 1 / log2(1 + p), b = 2^y - 1; ``precision``: a = 1 / n, b = 1 where the label is
    above 0 (equations (12), (13)). Gains are divided by the best sum: Delta runs from 0 to 1.
    """
    if n < 1:
        raise BadData(f"n must be at least 1, not {n}")
    if loss not in ("ndcg", "precision"):
        raise BadData(f"the loss is of 'ndcg' or 'precision', not {loss!r}")
    found = []
    for block in blocks(data.offsets):
        labels = np.where(block.filled, data.labels[block.rows], 0.0)
        depth = min(n, labels.shape[1])
        if loss == "ndcg":
            discounts, gains = standard_discounts(depth), scaled_gains(labels, labels.max(axis=1))
        else:
            discounts, gains = np.full(depth, 1.0 / n), (labels > 0).astype(np.float64)
        ideal = -np.sort(-gains, axis=1)[:, :depth] @ discounts
        worst = _worst(gains, block.filled, depth) @ discounts
        keep = ideal > worst + LEAST_LOSS * ideal
        if keep.any():
            scaled = np.where(block.filled[keep], gains[keep] / ideal[keep, None], 0.0)
            blank = np.zeros((int(keep.sum()), depth), dtype=np.int64)
            lists = TopLists(block.rows[keep], block.filled[keep], scaled, discounts, blank)
            found.append(lists.with_ties_by(np.zeros(data.n_rows)))
    return found


def _worst(gains: FloatArray, filled: BoolArray, depth: int) -> FloatArray:
    """The gains of the worst first positions, (b, depth); missing documents give 0 at the end."""
    ascending = np.sort(np.where(filled, gains, np.inf), axis=1)[:, :depth]
    return np.where(np.isfinite(ascending), ascending, 0.0)


def loss_augmented(
    lists: TopLists, scores: FloatArray, weight: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The rankings of largest score + weight Delta, with their losses and score leads.

    ``scores`` (b, w) have -inf at empty places, ``weight`` is (b,). Returns places (b, n), Delta
    (b,) and how much more the ranking scores than the true one (b,).
    """
    n = lists.discounts.size
    keys = scores - weight[:, None] * lists.gains
    if 3 * n < keys.shape[1]:
        top = np.argpartition(-keys, n - 1, axis=1)[:, :n]
        inside = np.take_along_axis(keys, top, axis=1)
        chosen = np.take_along_axis(top, np.argsort(-inside, axis=1, kind="stable"), axis=1)
    else:
        chosen = np.argsort(-keys, axis=1, kind="stable")[:, :n]
    loss = 1.0 - _sums(lists.gains, chosen, lists.discounts)
    filled = np.where(lists.filled, scores, 0.0)
    lead = _sums(filled, chosen, lists.discounts) - _sums(filled, lists.best, lists.discounts)
    return chosen, loss, lead


def margin_violation(
    lists: TopLists, scores: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Margin scaling: slacks max(0, Delta + lead), multipliers of the plane, rankings, per query.

    Only wrong rankings count: another order of equally relevant documents is no violation.
    """
    chosen, loss, lead = loss_augmented(lists, scores, np.ones(scores.shape[0]))
    right = np.flatnonzero(loss <= LEAST_LOSS)
    if right.size:
        chosen[right], loss[right], lead[right] = _next_best(lists, scores, right)
    slacks = np.maximum(loss + lead, 0.0)
    return slacks, (slacks > 0).astype(np.float64), chosen


def _next_best(
    lists: TopLists, scores: FloatArray, which: IntArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The best wrong ranking of queries whose best ranking is right: one exchange away from it.

    The keys fall along the best ranking, so an exchange of places p and q costs (a_p - a_q) times
    the fall between them, and every wrong ranking costs at least as much as the cheapest exchange
    of two documents that differ in gain.
    """
    gains, filled = lists.gains[which], lists.filled[which]
    keys = scores[which] - gains
    order = np.argsort(-keys, axis=1, kind="stable")
    n, width = lists.discounts.size, keys.shape[1]
    weights = np.zeros(width)
    weights[:n] = lists.discounts
    ranked, worth = (
        np.take_along_axis(keys, order, axis=1),
        np.take_along_axis(gains, order, axis=1),
    )
    with np.errstate(invalid="ignore"):  # empty places have key -inf
        fall = ranked[:, :n, None] - ranked[:, None, :]
        cost = (weights[:n, None] - weights) * fall
    useful = (worth[:, :n, None] != worth[:, None, :]) & (weights[:n, None] > weights)
    useful &= np.take_along_axis(filled, order, axis=1)[:, None, :]
    best = np.where(useful, cost, np.inf).reshape(which.size, -1).argmin(axis=1)
    rows, p, q = np.arange(which.size), best // width, best % width
    order[rows, p], order[rows, q] = order[rows, q], order[rows, p]
    chosen = order[:, :n]
    loss = 1.0 - _sums(gains, chosen, lists.discounts)
    known = np.where(filled, scores[which], 0.0)
    lead = _sums(known, chosen, lists.discounts) - _sums(known, lists.best[which], lists.discounts)
    return chosen, loss, lead


def slack_violation(
    lists: TopLists, scores: FloatArray, rounds: int = 12
) -> tuple[FloatArray, FloatArray, IntArray]:
    r"""Slack scaling: slacks max(0, Delta (1 + lead)), multipliers of the plane, rankings.

    Among the rankings with the largest lead + lambda Delta, as lambda grows, Delta grows and lead
    falls. Their best product of Delta and h = 1 + lead lies where h / Delta meets lambda, which is
    between lambda and h / Delta of any of them: the search takes the geometric mean. The printed
    golden section (equation (9)) walks the same rankings with more sorts. The best of all may lie
    between two of them, where no lambda reaches: in short lists exchanges of two documents look
    for it.
    """
    weight = np.ones(scores.shape[0])
    best = np.full(scores.shape[0], -np.inf)
    rankings = np.zeros((scores.shape[0], lists.discounts.size), dtype=np.int64)
    started = False
    for _ in range(rounds):
        chosen, loss, lead = loss_augmented(lists, scores, weight)
        product = np.where(loss > LEAST_LOSS, loss * (1.0 + lead), -np.inf)
        better = (product > best) if started else np.ones(best.shape, dtype=np.bool_)
        started = True
        best = np.where(better, product, best)
        rankings[better] = chosen[better]
        step = np.sqrt(np.maximum(1.0 + lead, 1e-6) / np.maximum(loss, 1e-6) / weight)
        if np.abs(np.log(step)).max(initial=0.0) < 1e-3:
            break
        weight = weight * step
    if rankings.shape[1] * scores.shape[1] <= MOST_EXCHANGES:
        return _exchanged(lists, scores, rankings)
    return _unless_right(lists, scores, best, rankings)


def _unless_right(
    lists: TopLists, scores: FloatArray, best: FloatArray, rankings: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Where every ranking on the way was right, the nearest wrong one may still violate."""
    loss = 1.0 - _sums(lists.gains, rankings, lists.discounts)
    right = np.flatnonzero(loss <= LEAST_LOSS)
    if right.size:
        rankings[right], loss[right], lead = _next_best(lists, scores, right)
        best[right] = loss[right] * (1.0 + lead)
    slacks = np.maximum(best, 0.0)
    return slacks, np.where(slacks > 0, loss, 0.0), rankings


def _exchanged(
    lists: TopLists, scores: FloatArray, rankings: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Exchange two documents as long as that makes Delta (1 + lead) larger.

    Ends with slacks (b,), Delta where the slack is above 0 (b,), and rankings (b, n).
    """
    known = np.where(lists.filled, scores, 0.0)
    orders = _completed(rankings, lists.rows.shape[1])
    n, rows = lists.discounts.size, np.arange(orders.shape[0])
    weights = np.zeros(orders.shape[1])
    weights[:n] = lists.discounts
    fall = (weights[:n, None] - weights)[None]
    right = _sums(known, lists.best, lists.discounts)
    for _ in range(10):
        loss = 1.0 - _sums(lists.gains, orders[:, :n], lists.discounts)
        lead = _sums(known, orders[:, :n], lists.discounts) - right
        product = np.where(loss > LEAST_LOSS, loss * (1.0 + lead), 0.0)
        worth, points = (np.take_along_axis(each, orders, axis=1) for each in (lists.gains, known))
        losses = loss[:, None, None] + fall * (worth[:, :n, None] - worth[:, None, :])
        leads = lead[:, None, None] - fall * (points[:, :n, None] - points[:, None, :])
        filled = np.take_along_axis(lists.filled, orders, axis=1)
        able = (losses > LEAST_LOSS) & filled[:, None, :] & filled[:, :n, None]
        products = np.where(able, losses * (1.0 + leads), -np.inf).reshape(rows.size, -1)
        place = products.argmax(axis=1)
        gain = products[rows, place] > product + 1e-12
        if not gain.any():
            break
        p, q = place[gain] // orders.shape[1], place[gain] % orders.shape[1]
        which = rows[gain]
        orders[which, p], orders[which, q] = orders[which, q], orders[which, p]
    slacks = np.maximum(product, 0.0)
    return slacks, np.where(slacks > 0, loss, 0.0), orders[:, :n]


def _completed(rankings: IntArray, width: int) -> IntArray:
    """Rankings (b, n) followed by the places they leave out, (b, width)."""
    marks = np.full((rankings.shape[0], width), rankings.shape[1])
    np.put_along_axis(marks, rankings, np.arange(rankings.shape[1])[None], axis=1)
    return np.argsort(marks, axis=1, kind="stable")


def add_pull(pull: FloatArray, lists: TopLists, multiplier: FloatArray, rankings: IntArray) -> None:
    """Add multiplier times (map of the ranking - map of the true order) to ``pull`` (n_rows,)."""
    step = multiplier[:, None] * lists.discounts
    np.add.at(pull, np.take_along_axis(lists.rows, rankings, axis=1), step)
    np.subtract.at(pull, np.take_along_axis(lists.rows, lists.best, axis=1), step)


def _sums(values: FloatArray, places: IntArray, discounts: FloatArray) -> FloatArray:
    found: FloatArray = np.take_along_axis(values, places, axis=1) @ discounts
    return found
