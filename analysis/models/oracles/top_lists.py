"""Most violated rankings of TopMargin and TopSlack: [CSX15]_, section 3.1, equations (4) to (9).

The feature map of a ranking is the sum over its first n positions p of a_p x, its loss
Delta = 1 - sum a_p b over the same positions, with discounts a and gains b whose best sum is 1.
Both are sums over positions with the same a, so the ranking with the largest score + lambda Delta
is one sort by score - lambda b.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from topkapi.analysis.data.padding import blocks
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics.dcg import scaled_gains, standard_discounts
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

TopLoss = Literal["ndcg", "precision"]

LEAST_LOSS = 1e-9  # a ranking is not wrong if its loss is rounding


@dataclass(frozen=True)
class TopLists:
    """Gains and discounts of b queries padded to width w.

    ``rows``, ``filled``, ``gains`` (b, w); ``discounts`` (n,) with n at most w; ``best`` (b, n) are
    the positions of the true top, best first.
    """

    rows: IntArray
    filled: BoolArray
    gains: FloatArray
    discounts: FloatArray
    best: IntArray

    def with_ties_by(self, scores: FloatArray) -> "TopLists":
        """Return the same lists, documents of equal gain in the order of ``scores`` (n_rows,)."""
        values = np.where(self.filled, scores[self.rows], -np.inf)
        first = np.argsort(-values, axis=1, kind="stable")
        ranked = np.where(self.filled, self.gains, -1.0)
        then = np.argsort(-np.take_along_axis(ranked, first, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(first, then, axis=1)[:, : self.discounts.size]
        return TopLists(self.rows, self.filled, self.gains, self.discounts, best)

    def of(self, which: IntArray) -> "TopLists":
        """Select the lists of some queries."""
        return TopLists(
            self.rows[which],
            self.filled[which],
            self.gains[which],
            self.discounts,
            self.best[which],
        )

    def loss_and_lead(
        self, scores: FloatArray, rankings: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute Delta (b,), and the lead in score of rankings (b, n) over the true ones (b,)."""
        known = np.where(self.filled, scores, 0.0)
        loss = 1.0 - _sums(self.gains, rankings, self.discounts)
        true = _sums(known, self.best, self.discounts)
        return loss, _sums(known, rankings, self.discounts) - true


def top_lists(data: RankingData, n: int, loss: TopLoss) -> list[TopLists]:
    """Make blocks of the queries that have a wrong ranking.

    Ties of the true order go by row.

    ``ndcg``: a = 1 / log2(1 + p), b = 2^y - 1; ``precision``: a = 1 / n, b = 1 where the label is
    above 0 (equations (12), (13)). Gains are divided by the best sum: Delta runs from 0 to 1.
    """
    if n < 1:
        raise BadData(f"n must be at least 1, not {n}")
    if loss not in ("ndcg", "precision"):
        raise BadData(f"the loss is of 'ndcg' or 'precision', not {loss!r}")
    rankings = []
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
            rankings.append(lists.with_ties_by(np.zeros(data.n_rows)))
    return rankings


def _worst(gains: FloatArray, filled: BoolArray, depth: int) -> FloatArray:
    """Return the gains of the worst first positions, (b, depth).

    Missing documents give 0 at the end.
    """
    ascending = np.sort(np.where(filled, gains, np.inf), axis=1)[:, :depth]
    return np.where(np.isfinite(ascending), ascending, 0.0)


def loss_augmented(
    lists: TopLists, scores: FloatArray, weight: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Find the rankings of largest score + weight Delta, with their losses and score leads.

    ``scores`` (b, w) have -inf at empty positions, ``weight`` is (b,). Returns positions (b, n),
    Delta (b,) and how much more the ranking scores than the true one (b,).
    """
    n = lists.discounts.size
    keys = scores - weight[:, None] * lists.gains
    if 3 * n < keys.shape[1]:
        top = np.argpartition(-keys, n - 1, axis=1)[:, :n]
        inside = np.take_along_axis(keys, top, axis=1)
        chosen = np.take_along_axis(top, np.argsort(-inside, axis=1, kind="stable"), axis=1)
    else:
        chosen = np.argsort(-keys, axis=1, kind="stable")[:, :n]
    return chosen, *lists.loss_and_lead(scores, chosen)


def margin_violation(
    lists: TopLists, scores: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Find the most violated rankings under margin scaling.

    Returns per-query slacks max(0, Delta + lead), multipliers of the plane, rankings.

    Only wrong rankings count: another order of equally relevant documents is no violation.
    """
    chosen, loss, lead = loss_augmented(lists, scores, np.ones(scores.shape[0]))
    right = np.flatnonzero(loss <= LEAST_LOSS)
    if right.size:
        chosen[right], loss[right], lead[right] = next_best(lists, scores, right, 1.0)
    slacks = np.maximum(loss + lead, 0.0)
    return slacks, (slacks > 0).astype(np.float64), chosen


def next_best(
    lists: TopLists, scores: FloatArray, which: IntArray, weight: float
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Find the wrong ranking of largest score + weight Delta where the best one is right.

    The keys fall along the best ranking, so swapping positions p and q costs (a_p - a_q) times
    the fall between them, and every wrong ranking costs at least as much as the cheapest exchange
    of two documents that differ in gain. Returns what ``loss_augmented`` does, for ``which``.
    """
    part, own = lists.of(which), scores[which]
    keys = own - weight * part.gains
    order = np.argsort(-keys, axis=1, kind="stable")
    n = part.discounts.size
    wrong = part.loss_and_lead(own, order[:, :n])[0] > LEAST_LOSS  # one of equally good rankings
    rows, p, q = _cheapest_exchange(part, keys, order)
    rows, p, q = rows[~wrong], p[~wrong], q[~wrong]
    order[rows, p], order[rows, q] = order[rows, q], order[rows, p]
    chosen = order[:, :n]
    return chosen, *part.loss_and_lead(own, chosen)


def _cheapest_exchange(
    lists: TopLists, keys: FloatArray, order: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Find rows, and the positions whose swap makes the order wrong at the least cost."""
    n, width = lists.discounts.size, keys.shape[1]
    weights = np.zeros(width)
    weights[:n] = lists.discounts
    ranked, worth = (np.take_along_axis(each, order, axis=1) for each in (keys, lists.gains))
    filled = np.take_along_axis(lists.filled, order, axis=1)
    with np.errstate(invalid="ignore"):  # empty positions have key -inf
        cost = (weights[:n, None] - weights) * (ranked[:, :n, None] - ranked[:, None, :])
    useful = (worth[:, :n, None] != worth[:, None, :]) & (weights[:n, None] > weights)
    useful &= filled[:, None, :]
    best = np.where(useful, cost, np.inf).reshape(order.shape[0], -1).argmin(axis=1)
    return np.arange(order.shape[0]), best // width, best % width


def add_pull(pull: FloatArray, lists: TopLists, multiplier: FloatArray, rankings: IntArray) -> None:
    """Add multiplier times (map of the ranking - map of the true order) to ``pull`` (n_rows,)."""
    step = multiplier[:, None] * lists.discounts
    np.add.at(pull, np.take_along_axis(lists.rows, rankings, axis=1), step)
    np.subtract.at(pull, np.take_along_axis(lists.rows, lists.best, axis=1), step)


def _sums(values: FloatArray, positions: IntArray, discounts: FloatArray) -> FloatArray:
    return np.take_along_axis(values, positions, axis=1) @ discounts
