"""FocusedNet: RankNet between T and F, ListNet within T."""

from dataclasses import dataclass
from math import lgamma, log
from typing import Literal, Self

import numpy as np

from topkapi.analysis.data.padding import doubles
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk, truth_order
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.listnet import listnet_loss, softmax_by_query
from topkapi.analysis.models.losses.pairs import Pairs, logistic, make_pairs, pair_loss
from topkapi.analysis.models.losses.permutations import permutation_loss
from topkapi.analysis.models.optimise.newton import Derivatives, newton
from topkapi.analysis.typing import FloatArray

Listwise = Literal["auto", "exact", "top1"]
LONGEST_EXACT = 12


@dataclass(frozen=True)
class Lists:
    """Lists of one length m in true order: features (b, m, d)."""

    features: FloatArray

    @property
    def length(self) -> int:
        """Documents per list."""
        return int(self.features.shape[1])


def make_lists(data: RankingData) -> list[Lists]:
    """Group T of every query with two or more documents in it by length."""
    order = truth_order(data, None)
    starts = data.offsets[:-1]
    lengths = np.add.reduceat((data.labels[order] > 0).astype(np.int64), starts)
    return [
        Lists(doubles(data.features, order[starts[lengths == length][:, None] + np.arange(length)]))
        for length in np.unique(lengths[lengths >= 2])
    ]


def list_loss(weights: FloatArray, lists: Lists, *, exact: bool) -> Derivatives:
    """Compute ListNet's cross entropy over lists of one length.

    Each is divided by its value at f = 0.

    Exact: over all permutations, divided by ln m!; else over the top one, divided by ln m.
    """
    b, m, d = lists.features.shape
    flat = lists.features.reshape(-1, d)
    if not exact:
        target = np.tile(softmax_by_query(np.arange(m, 0, -1.0), np.array([0, m]))[0], b)
        found = listnet_loss(weights, flat, target, np.arange(b + 1) * m)
        return found[0] / log(m), found[1] / log(m), found[2] / log(m)
    values, gradients, hessians = permutation_loss(lists.features @ weights)
    scale = lgamma(m + 1)
    curved = np.matmul(hessians, lists.features).reshape(-1, d)
    return float(values.sum()) / scale, flat.T @ gradients.ravel() / scale, flat.T @ curved / scale


class FocusedNet(LinearRanker):
    r"""FocusedNet ([NGLC12]_, section 3.2.2) with a linear scorer.

    .. math:: \sum_i \beta \frac{L_{list}(f; T_i)}{\ln |T_i|!}
              + (1 - \beta) \frac{L_{pair}(f; P_i)}{|P_i| \ln 2} + \tfrac{l2}{2} |w|^2

    L_list is ListNet's cross entropy over the |T|! orders of T and L_pair RankNet's over the pairs
    of T and F; each is divided by its value at f = 0 ("a comparable range", footnote 2). A query
    without pairs, or with fewer than two documents in T, lacks that term. ``listwise`` chooses the
    exact sum (lists up to 12 under "auto") or top-one probabilities.

    Parameters
    ----------
    k
        Length of the top-k ground truth.
    beta
        Weight of the listwise part, 0 to 1.
    l2
        Penalty of the weights.
    listwise
        ``exact``, ``top1`` or ``auto``.
    seed
        Seed of the order of equal grades.
    """

    name = "focused-net"

    def __init__(
        self,
        *,
        k: int = 10,
        beta: float = 0.5,
        l2: float = 0.1,
        listwise: Listwise = "auto",
        seed: int = 0,
    ) -> None:
        if not 0.0 <= beta <= 1.0:
            raise BadData(f"beta must lie between 0 and 1, not {beta}")
        if listwise == "exact" and k > 2 * LONGEST_EXACT:
            raise BadData(f"2^{k} subsets are too many: use listwise='top1' for k over 24")
        self.k, self.beta, self.l2, self.listwise, self.seed = k, beta, l2, listwise, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights by exact Newton steps."""
        data = to_topk(data, self.k, seed=self.seed)
        pairs, lists = make_pairs(data, focused=True, by_query=True), make_lists(data)
        if pairs.n_pairs == 0 and not lists:
            raise BadData("no query has two documents to order: there is nothing to learn from")
        start = np.zeros(data.n_features)
        self.coef_ = newton(lambda w: self.loss(w, pairs, lists), start, self.l2)
        return self

    def loss(self, weights: FloatArray, pairs: Pairs, lists: list[Lists]) -> Derivatives:
        """Compute the mixed loss without its penalty, with gradient and Hessian."""
        parts: list[tuple[float, Derivatives]] = []
        if self.beta < 1 and pairs.n_pairs:
            parts.append(((1.0 - self.beta) / log(2.0), pair_loss(pairs, weights, logistic)))
        if self.beta > 0:
            for group in lists:
                exact = self.listwise != "top1" and (
                    group.length <= LONGEST_EXACT or self.listwise == "exact"
                )
                parts.append((self.beta, list_loss(weights, group, exact=exact)))
        value, gradient = 0.0, np.zeros(weights.size)
        hessian = np.zeros((weights.size, weights.size))
        for share, found in parts:
            value += share * found[0]
            gradient = gradient + share * found[1]
            hessian = hessian + share * found[2]
        return value, gradient, hessian
