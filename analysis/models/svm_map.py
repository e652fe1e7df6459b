"""SVM-MAP: a structural SVM whose slack bounds 1 - average precision."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from topkapi.analysis.data.padding import blocks, scores_of, slope_of
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.optimise.cutting_planes import cutting_planes
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Halves:
    """Relevant and other documents of b queries, padded: row numbers and what is filled."""

    relevant: IntArray
    others: IntArray
    n_relevant: IntArray
    n_others: IntArray
    weights: FloatArray


def split_halves(relevant: FloatArray, offsets: IntArray, weights: FloatArray) -> list[Halves]:
    """Make blocks of the queries that have both a relevant and another document.

    ``relevant`` (n_rows,) is above 0 for relevant rows; ``weights`` (n_queries,) multiply slacks.
    """
    positive = relevant > 0
    counts = np.add.reduceat(positive.astype(np.int64), offsets[:-1])
    useful = np.flatnonzero((counts > 0) & (counts < np.diff(offsets)))
    return [
        _halves(block.rows[keep], block.filled[keep], positive, weights[block.queries[keep]])
        for block in blocks(offsets, cells=60_000, power=2)
        if (keep := np.isin(block.queries, useful)).any()
    ]


def _halves(rows: IntArray, filled: BoolArray, positive: BoolArray, weights: FloatArray) -> Halves:
    first = positive[rows] & filled
    rest = ~positive[rows] & filled
    halves = []
    for chosen in (first, rest):
        order = np.argsort(~chosen, axis=1, kind="stable")[:, : int(chosen.sum(axis=1).max())]
        halves.append(np.take_along_axis(rows, order, axis=1))
    return Halves(halves[0], halves[1], first.sum(axis=1), rest.sum(axis=1), weights)


def map_slack(scores: FloatArray, halves: Halves, pull: FloatArray) -> float:
    r"""Compute weighted slacks of the most violated rankings.

    Their pair counts are subtracted from ``pull``.

    The slack of a query is the largest 1 - AP(z) + w.Psi(z) - w.Psi(y) over rankings z. Relevant
    and other documents keep their own score order, and other document j chooses its position among
    the relevant ones alone: [YFRJ07]_, section 4.3. With i - 1 relevant documents ahead of it, it
    adds

    .. math:: \sum_{t \ge i} \tfrac1R\bigl(\tfrac{j}{j+t} - \tfrac{j-1}{j+t-1}\bigr)
              - \tfrac{2 (s_t - s_j)}{R N}

    ``pull`` (n_rows,) receives the slack's derivative by each score.
    """
    good, good_rows = _sorted(scores, halves.relevant, halves.n_relevant)
    rest, rest_rows = _sorted(scores, halves.others, halves.n_others)
    n_good, n_rest = halves.n_relevant[:, None, None], halves.n_others[:, None, None]
    t = np.arange(1, good.shape[1] + 1)[:, None]
    j = np.arange(1, rest.shape[1] + 1)[None, :]
    rise = j / (j + t) - (j - 1) / (j + t - 1.0)
    scale = 2.0 / (n_good * n_rest)
    terms = rise / n_good - scale * (good[:, :, None] - rest[:, None, :])
    terms = np.where(t[None] <= n_good, terms, 0.0)  # padding adds nothing behind the last
    sums = np.cumsum(terms[:, ::-1], axis=1)[:, ::-1]
    position = np.argmax(sums, axis=1)
    most = np.take_along_axis(sums, position[:, None], axis=1)[:, 0]
    valid = (j <= n_rest[:, 0]) & (most > 0)
    behind = np.where(valid, halves.n_relevant[:, None] - position, 0)
    passed = np.where(valid[:, None, :], position[:, None, :] <= t[None] - 1, False).sum(axis=2)
    passed = np.where(t[None, :, 0] <= halves.n_relevant[:, None], passed, 0)
    step = scale[:, 0] * halves.weights[:, None]
    np.add.at(pull, good_rows, -step * passed)
    np.add.at(pull, rest_rows, step * behind)
    return float((np.where(valid, most, 0.0) * halves.weights[:, None]).sum())


def _sorted(scores: FloatArray, rows: IntArray, counts: IntArray) -> tuple[FloatArray, IntArray]:
    values = np.where(np.arange(rows.shape[1]) < counts[:, None], scores[rows], -np.inf)
    order = np.argsort(-values, axis=1, kind="stable")
    ranked = np.take_along_axis(values, order, axis=1)
    return np.where(np.isfinite(ranked), ranked, 0.0), np.take_along_axis(rows, order, axis=1)


class SVMMAP(LinearRanker):
    """SVM-MAP ([YFRJ07]_): |w|^2/2 + C times the mean slack over queries.

    Labels above 0 are relevant.

    Parameters
    ----------
    c
        Weight of the mean slack against the penalty.
    epsilon
        Distance from the least mean slack at which the optimiser stops.
    """

    name = "svm-map"

    def __init__(self, *, c: float = 100.0, epsilon: float = 1e-3) -> None:
        self.c, self.epsilon = c, epsilon

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights by cutting planes."""
        halves = split_halves(
            data.labels, data.offsets, np.full(data.n_queries, 1.0 / data.n_queries)
        )
        if not halves:
            raise BadData("no query has both a relevant and another document")

        def risk(weights: FloatArray) -> tuple[float, FloatArray]:
            scores, pull = scores_of(data.features, weights), np.zeros(data.n_rows)
            value = sum(map_slack(scores, part, pull) for part in halves)
            return value, slope_of(data.features, pull)

        self.coef_ = cutting_planes(risk, data.n_features, self.c, epsilon=self.epsilon)
        return self
