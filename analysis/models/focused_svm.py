"""FocusedSVM: RankSVM between T and F, SVM-MAP within T."""

from typing import Self

import numpy as np

from topkapi.analysis.data.padding import scores_of, slope_of
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk, truth_order
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.losses.pairs import hinge_risk, make_pairs
from topkapi.analysis.models.optimise.cutting_planes import Oracle, cutting_planes
from topkapi.analysis.models.svm_map import Halves, map_slack
from topkapi.analysis.typing import FloatArray


def prefix_halves(data: RankingData) -> list[Halves]:
    """Cut T of every query after each of its first |T| - 1 documents.

    Every label in T is positive, so binary AP is 1 for every order of T. The listwise slack is the
    mean over t = 1 .. |T|-1 of SVM-MAP's slack with the first t of T relevant and the rest not; it
    bounds the mean of those 1 - AP. Weights divide it by its value at f = 0. Rows number the data
    in true order.
    """
    order = truth_order(data, None)
    lengths = np.add.reduceat((data.labels[order] > 0).astype(np.int64), data.offsets[:-1])
    top = int(lengths.max(initial=0))
    shares = np.array([0.0, 0.0, *(1.0 / ((m - 1) * slack_at_zero(m)) for m in range(2, top + 1))])
    parts = []
    for cut in range(1, top):
        chosen = np.flatnonzero(lengths > cut)
        rows = data.offsets[:-1][chosen][:, None] + np.arange(int(lengths[chosen].max()))
        n_good, n_rest = np.full(chosen.size, cut), lengths[chosen] - cut
        rest = np.where(np.arange(rows.shape[1] - cut) < n_rest[:, None], rows[:, cut:], 0)
        parts.append(Halves(rows[:, :cut], rest, n_good, n_rest, shares[lengths[chosen]]))
    return parts


def slack_at_zero(length: int) -> float:
    """Compute the listwise slack of a list when all scores are equal.

    It is the mean 1 - AP of the worst order.

    >>> slack_at_zero(2)  # the one relevant document comes second
    0.5
    """
    worst = [
        np.mean([i / (length - cut + i) for i in range(1, cut + 1)]) for cut in range(1, length)
    ]
    return float(1.0 - np.mean(worst))


class FocusedSVM(LinearRanker):
    r"""FocusedSVM ([NGLC12]_, section 3.2.2).

    The loss is |w|^2/2 + C times the mean over queries of

    .. math:: \beta \frac{L_{list}(f; T_i)}{L_{list}(0; T_i)}
              + (1 - \beta) \frac{1}{|P_i|} \sum_{P_i} \max(0, 1 - w (x_u - x_v))

    L_list is described at :func:`prefix_halves`; both parts are 1 at f = 0. The sum over pairs runs
    over P_i (the F_i under the printed sum is a misprint); ``label_margin`` multiplies margins by
    y_u - y_v as printed. ``beta`` 0 is RankSVM with hinge on P, 1 is SVM-MAP within T.

    Parameters
    ----------
    k
        Length of the top-k ground truth.
    beta
        Weight of the listwise part, 0 to 1.
    c
        Weight of the loss against the penalty.
    label_margin
        Whether margins are multiplied by y_u - y_v, as printed.
    epsilon
        Distance from the least mean loss at which the optimiser stops.
    seed
        Seed of the order of equal grades.
    """

    name = "focused-svm"

    def __init__(
        self,
        *,
        k: int = 10,
        beta: float = 0.5,
        c: float = 100.0,
        label_margin: bool = False,
        epsilon: float = 1e-3,
        seed: int = 0,
    ) -> None:
        if not 0.0 <= beta <= 1.0:
            raise BadData(f"beta must lie between 0 and 1, not {beta}")
        self.k, self.beta, self.c, self.label_margin = k, beta, c, label_margin
        self.epsilon, self.seed = epsilon, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights by cutting planes."""
        risk = self.risk(to_topk(data, self.k, seed=self.seed))
        self.coef_ = cutting_planes(risk, data.n_features, self.c, epsilon=self.epsilon)
        return self

    def risk(self, data: RankingData) -> Oracle:
        """Return the mean mixed loss over the queries of a top-k ground truth, as an oracle."""
        pairs = make_pairs(data, focused=True, by_query=True)
        halves, back = prefix_halves(data), np.argsort(pairs.order)
        if pairs.n_pairs == 0 and not halves:
            raise BadData("no query has two documents to order: there is nothing to learn from")

        def risk(weights: FloatArray) -> tuple[float, FloatArray]:
            value = 0.0
            slope: FloatArray = np.zeros(data.n_features)
            if self.beta < 1 and pairs.n_pairs:
                value, slope = hinge_risk(weights, pairs, label_margin=self.label_margin)
                value, slope = (1.0 - self.beta) * value, (1.0 - self.beta) * slope
            if self.beta > 0:
                scores, pull = scores_of(data.features, weights)[pairs.order], np.zeros(data.n_rows)
                value += self.beta * sum(map_slack(scores, part, pull) for part in halves)
                slope = slope + self.beta * slope_of(data.features, pull[back])
            return value / data.n_queries, slope / data.n_queries

        return risk
