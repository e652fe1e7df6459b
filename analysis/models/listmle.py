"""ListMLE: likelihood of the true order under the Plackett-Luce model, whole or of its first k."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from topkapi.analysis.data.padding import blocks, doubles
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import truth_order
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.optimise.newton import Derivatives, newton
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

CELLS = 50_000  # documents whose features are gathered at a time
SPREAD = 600.0  # scores further apart than this within a query would underflow: no such step


@dataclass(frozen=True)
class OrderedRows:
    """b queries in true order: rows (b, n) of the data, filled (b, n), and which positions count.

    Features are gathered when they are needed: to keep them in true order would be a copy.
    """

    unordered: FloatArray
    rows: IntArray
    filled: BoolArray
    counted: BoolArray

    def features(self) -> FloatArray:
        """Return features (b, n, d), 0 where no document is."""
        found = doubles(self.unordered, self.rows)
        found[~self.filled] = 0.0
        return found


def ordered_blocks(data: RankingData, k: int | None, seed: int = 0) -> list[OrderedRows]:
    """Order queries by their labels, ties by ``seed``.

    The first k positions count, or those of a short T.
    """
    order = truth_order(data, seed)
    labels = data.labels[order]
    result = []
    for block in blocks(data.offsets, cells=CELLS):
        positions = np.arange(block.rows.shape[1])
        counted = block.filled & (positions < (block.rows.shape[1] if k is None else k))
        if data.topk is not None and k is not None:
            counted &= labels[block.rows] > 0
        depth = max(int(counted.any(axis=0).sum()), 1)
        rows = order[block.rows]
        result.append(OrderedRows(data.features, rows, block.filled, counted[:, :depth]))
    return result


def listmle_loss(weights: FloatArray, parts: list[OrderedRows]) -> Derivatives:
    r"""Compute minus log likelihood of the counted positions, with gradient and Hessian.

    The weights are (d,).

    .. math:: \sum_{j \le k} \Bigl(\ln \sum_{l=j}^{n} e^{f(x_{y_l})} - f(x_{y_j})\Bigr)

    [XLL09]_, equations (9) and (10); [LGNC13]_, equation (8). The sums over l run to n: the printed
    n - 1 of [LGNC13]_, equation (5), is a misprint. All sums over suffixes are running sums.
    """
    size = weights.size
    total: Derivatives = (0.0, np.zeros(size), np.zeros((size, size)))
    for part in parts:
        found = _block_loss(weights, part)
        total = (total[0] + found[0], total[1] + found[1], total[2] + found[2])
    return total


def _block_loss(weights: FloatArray, part: OrderedRows) -> Derivatives:
    features = part.features()
    scores = np.where(part.filled, features @ weights, -np.inf)
    top = scores.max(axis=1, keepdims=True)
    depth = part.counted.shape[1]
    if not (top - np.where(part.filled, scores, np.inf).min(axis=1, keepdims=True) < SPREAD).all():
        return np.inf, np.zeros(weights.size), np.zeros((weights.size, weights.size))
    powers = np.exp(scores - top)
    weighted = powers[:, :, None] * features
    rest = np.cumsum(powers[:, ::-1], axis=1)[:, ::-1][:, :depth]
    sums = _suffix_sums(weighted, depth)
    counted = part.counted.astype(float)
    inverse = np.where(part.counted, 1.0 / np.where(part.counted, rest, 1.0), 0.0)
    value = (counted * np.log(np.where(part.counted, rest, 1.0))).sum() + (
        counted * (top - np.where(part.counted, scores[:, :depth], top))
    ).sum()
    share = np.cumsum(inverse, axis=1)
    chances = powers * np.concatenate(
        [share, np.repeat(share[:, -1:], powers.shape[1] - depth, axis=1)], axis=1
    )
    pull = chances.copy()
    pull[:, :depth] -= counted
    flat = features.reshape(-1, weights.size)
    means = (sums * inverse[:, :, None]).reshape(-1, weights.size)
    hessian = (flat * chances.reshape(-1, 1)).T @ flat - means.T @ means
    return float(value), flat.T @ pull.ravel(), hessian


def _suffix_sums(values: FloatArray, depth: int) -> FloatArray:
    """Compute sums over l >= j along axis 1 for the first ``depth`` positions j."""
    tail = values[:, depth:].sum(axis=1, keepdims=True)
    sums: FloatArray = np.cumsum(values[:, :depth][:, ::-1], axis=1)[:, ::-1] + tail
    return sums


class ListMLE(LinearRanker):
    """Linear ListMLE ([XLW08]_) on the whole order; equal labels are ordered by ``seed``.

    Parameters
    ----------
    l2
        Penalty of the weights.
    seed
        Seed of the order of equal labels.
    """

    name = "listmle"

    def __init__(self, *, l2: float = 1.0, seed: int = 0) -> None:
        self.l2, self.seed = l2, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights by exact Newton steps."""
        parts = ordered_blocks(data, getattr(self, "k", None), self.seed)
        start = np.zeros(data.n_features)
        self.coef_ = newton(lambda w: listmle_loss(w, parts), start, self.l2)
        return self


class TopKListMLE(ListMLE):
    """Top-k ListMLE ([XLL09]_, equation (10)): the product stops at k.

    Parameters
    ----------
    k
        Number of positions that count.
    l2
        Penalty of the weights.
    seed
        Seed of the order of equal labels.
    """

    name = "topk-listmle"

    def __init__(self, *, k: int = 10, l2: float = 1.0, seed: int = 0) -> None:
        super().__init__(l2=l2, seed=seed)
        self.k = k
