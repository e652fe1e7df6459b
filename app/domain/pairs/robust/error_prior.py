"""How people err: a grid of error models, and prior weights of its cells.

Scores of pages are normal with standard deviation ``tau``, in units of the noise of an answer: the
page with the larger score plus noise is preferred. A lapse is an answer that has nothing to do with
the pages. Where scores lie far apart (a large tau) all errors are lapses; where they lie close,
people confuse close pages. A cell of the grid is a tau and a lapse.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from topkapi.app.domain.pairs.robust.normal import FloatArray

TAUS: Final = np.array([0.25, 0.4, 0.6, 0.9, 1.35, 2.0, 3.0, 5.0, 9.0])
LAPSES: Final = np.array([0.01, 0.05, 0.1, 0.2, 0.4, 0.95])
CELLS: Final = TAUS.size * LAPSES.size
# Real people (docs/notes/sorters.md): a tau of 0.35 to 2, simulated ones up to 9; few lapses
LOG_TAU: Final = ((0.85, -0.1, 0.6), (0.15, 0.8, 1.1))  # shares, means, standard deviations
LAPSE_SHARES: Final = (0.72, 0.12, 0.07, 0.04, 0.02, 0.03)
WIDTH: Final = 1.0 / 1.7  # of a logistic error model, over 1 / tau
_LEAST: Final = -30.0  # log weight
_FEW_TIES: Final = 0.01  # share of ties of who has given none


@dataclass(frozen=True, slots=True)
class ErrorPrior:
    """Log weights of the cells of the grid, tau by tau."""

    logs: tuple[float, ...]

    @classmethod
    def of(cls, logs: Sequence[float] | FloatArray) -> "ErrorPrior":
        """Return the prior with these log weights, normalized and rounded to be stored."""
        found = np.asarray(logs, float)
        found = found - np.log(np.exp(found - found.max()).sum()) - found.max()
        return cls(tuple(np.round(np.maximum(found, _LEAST), 3).tolist()))

    @property
    def cells(self) -> FloatArray:
        """Log weights: (taus, lapses)."""
        return np.array(self.logs).reshape(TAUS.size, LAPSES.size)


_SPREAD = sum(
    share / sd * np.exp(-0.5 * ((np.log(TAUS) - mean) / sd) ** 2) for share, mean, sd in LOG_TAU
)
GENERAL: Final = ErrorPrior.of(np.log(np.outer(_SPREAD, LAPSE_SHARES)).ravel())  # of anybody


def moments(shares: FloatArray, tie_share: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return means and variances of logit lapse, log width, and log of the tie width over it.

    ``shares`` are the weights of the cells: (taus, lapses).
    """
    logits, widths = np.log(LAPSES / (1.0 - LAPSES)), np.log(WIDTH / TAUS)
    means, variances = [], []
    for values, weights in ((logits, shares.sum(axis=0)), (widths, shares.sum(axis=1))):
        mean = float(weights @ values)
        means.append(mean)
        variances.append(float(weights @ (values - mean) ** 2))
    end = NormalDist().inv_cdf((1.0 + max(tie_share, _FEW_TIES)) / 2.0)
    close = np.log(end * np.sqrt(1.0 + TAUS**2) / WIDTH)
    return (*means, float(shares.sum(axis=1) @ close)), (*variances, 0.0)


def error_rates() -> FloatArray:
    """Return the mean error over random pairs in each cell: (taus, lapses)."""
    close = np.arctan(1.0 / (np.sqrt(2.0) * TAUS))[:, None] / np.pi
    return np.asarray(LAPSES / 2.0 + (1.0 - LAPSES) * close)
