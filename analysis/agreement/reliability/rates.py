"""Rates on a grid, their common prior, and what a sampler returns."""

from typing import NamedTuple, Self

import numpy as np

from topkapi.analysis.lazy import csgraph, sparse
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

LOGITS: FloatArray = np.linspace(np.log(0.002 / 0.998), np.log(0.9 / 0.1), 121)
GRID: FloatArray = 1 / (1 + np.exp(-LOGITS))
"""Error rates that an assessor can have; above one half for somebody who answers the wrong way."""

CENTRE, SPREAD = -1.5, 2.0  # prior of the mean log-odds: rates near .18, mostly .01 to .9
SHAPE, SCALE = 0.5, 2.5  # inverse gamma prior of the variance: wide, five assessors say little
HIGHEST_MEAN = -0.1  # the mean assessor is right more often than not, or truth would be undefined


class ErrorRates(NamedTuple):
    """Posterior mean and interval of every assessor's error rate, (n_assessors,) each.

    NaN where the votes do not identify the rate.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, draws: FloatArray, known: BoolArray, level: float) -> Self:
        """Summarise draws (sweeps, n_assessors) of the posterior."""
        tail = (1 - level) / 2
        found = (draws.mean(axis=0), *np.quantile(draws, (tail, 1 - tail), axis=0))
        return cls(*(np.where(known, values, np.nan) for values in found))

    @classmethod
    def none(cls, n_assessors: int) -> Self:
        """Return the rates of nobody."""
        return cls(*(np.full(n_assessors, np.nan) for _ in range(3)))


class Population:
    """The common prior of the log-odds: normal, its mean and deviation drawn by Gibbs steps."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.mean, self.deviation = CENTRE, 0.7

    def log_prior(self) -> FloatArray:
        """Return the log density of every rate of the grid, up to a constant."""
        return -0.5 * ((LOGITS - self.mean) / self.deviation) ** 2

    def draw_rates(self, log_likelihood: FloatArray) -> IntArray:
        """Draw a rate for every row of (n, grid), as indices of the grid."""
        weight = log_likelihood + self.log_prior()
        sums = np.cumsum(np.exp(weight - weight.max(axis=1, keepdims=True)), axis=1)
        drawn = (sums < self.rng.random((weight.shape[0], 1)) * sums[:, -1:]).sum(axis=1)
        found: IntArray = np.minimum(drawn, GRID.size - 1)
        return found

    def draw_rate(self, log_likelihood: FloatArray) -> int:
        """Draw a rate for one row, (grid,), as index of the grid: the same in a third of the time.

        It runs once an assessor and sweep, where the calls cost more than the numbers.
        """
        weight = log_likelihood + self.log_prior()
        sums = np.exp(weight - weight.max()).cumsum()
        return min(int(sums.searchsorted(self.rng.random() * sums[-1])), GRID.size - 1)

    def update(self, rates: IntArray) -> None:
        """Draw mean and deviation given the rates of the assessors."""
        odds, n = LOGITS[rates], rates.size
        precision = n / self.deviation**2 + 1 / SPREAD**2
        centre = (odds.sum() / self.deviation**2 + CENTRE / SPREAD**2) / precision
        drawn = self.rng.normal(centre, 1 / np.sqrt(precision))
        self.mean = min(float(drawn), HIGHEST_MEAN)
        squares = float(((odds - self.mean) ** 2).sum()) / 2 + SCALE
        self.deviation = float(np.sqrt(squares / self.rng.gamma(n / 2 + SHAPE)))


def identified(item: IntArray, assessor: IntArray, n_assessors: int) -> BoolArray:
    """Tell which assessors are identified by products of two parts, (n_assessors,).

    What two assessors share informs the product of their reliabilities only, so a rate is known in
    a connected group with an odd cycle of shared items. The doubled graph, in which every shared
    item crosses sides, stays connected exactly if there is one; an item that three or more judged
    joins both sides of all of them.

    Parameters
    ----------
    item, assessor
        Who voted on what, (n,), each once.
    n_assessors
        Number of assessors.

    Examples
    --------
    >>> identified(np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 0, 2]), 4).tolist()
    [True, True, True, False]
    """
    order = np.argsort(item, kind="stable")
    item, assessor = np.unique(item[order], return_inverse=True)[1], assessor[order]
    voters = np.bincount(item)
    starts = np.cumsum(voters) - voters
    two = starts[voters == 2]
    many = voters[item] > 2
    nodes = 2 * n_assessors + item[many]
    ends = [
        (assessor[two], n_assessors + assessor[two + 1]),
        (assessor[two + 1], n_assessors + assessor[two]),
        (assessor[many], nodes),
        (n_assessors + assessor[many], nodes),
    ]
    rows, columns = (np.concatenate(part) for part in zip(*ends, strict=True))
    size = 2 * n_assessors + voters.size
    graph = sparse.coo_array((np.ones(rows.size, dtype=bool), (rows, columns)), shape=(size, size))
    _, group = csgraph.connected_components(graph.tocsr(), directed=False)
    joined: BoolArray = group[:n_assessors] == group[n_assessors : 2 * n_assessors]
    return joined
