"""The prior of an assessor's error model: the general one, or one learned from earlier queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

LAPSE_SHAPE: Final = (1.0, 3.0)  # Beta density of the lapse
TEAM_LAPSE_SHAPE: Final = (0.25, 0.75)  # hardly ever, or nearly always
TEAM_ALIKE: Final = 4.0
RANGES: Final = (
    (0.002, 0.95),  # lapse
    (0.001, 2.0),  # width; below about .01 errors are uniform, at half the lapse
    (0.02, 50.0),  # tie ratio: tie width over width
    (0.0, 1.0),  # evenness
    (0.02, 0.98),  # side: share of first answers among lapses that are no ties
)
_GRID: Final = 33


@dataclass(frozen=True, slots=True)
class ErrorPrior:
    """Normal densities of the error model's parameters beside the general prior.

    Means and precisions are on the scale on which the parameters move: logit of the lapse, log of
    the width and of the tie ratio, evenness. A precision of 0 adds nothing.

    Without earlier queries the width leans a little to small values, at which errors are uniform:
    a session cannot tell uniform errors from others, and a flat prior of the log width takes them
    for errors between close pages too often (docs/notes/sorters.md).

    The tie ratio has a tight prior: one person's answers show how consistent the person is, not how
    far other people would agree, and a free ratio makes those who answer "tie" often look surer
    than they are (docs/notes/sorters.md).

    The side is a parameter only if there is a fifth mean: one session with few lapses shows
    nothing of it. ``alike`` is the precision of the log widths of a team around their mean.
    """

    means: tuple[float, ...] = (0.0, -4.6, -0.6, 1.0)
    precisions: tuple[float, ...] = (0.0, 0.1, 40.0, 3.0)
    lapse_shape: tuple[float, float] = LAPSE_SHAPE
    alike: float = 0.0

    @classmethod
    def of(cls, means: Sequence[float], precisions: Sequence[float]) -> "ErrorPrior":
        """Return the prior with learned means and precisions.

        Two of them are of lapse and width, from a person's earlier queries, beside the general
        prior; all five are from the study, and replace it.
        """
        usual = cls()
        if len(means) == len(RANGES):
            return cls(tuple(means), tuple(precisions), (0.0, 0.0))
        return cls(
            (means[0], means[1], *usual.means[2:]),
            (precisions[0], precisions[1], *usual.precisions[2:]),
        )

    @classmethod
    def of_team(cls) -> "ErrorPrior":
        """Return the general prior of a member of a team.

        People may lapse hardly ever or nearly always, and confuse pages over similar distances.
        """
        usual = cls()
        return cls((*usual.means, 0.0), (*usual.precisions, 1.0), TEAM_LAPSE_SHAPE, TEAM_ALIKE)

    def table(self) -> FloatArray:
        """Return a row per parameter: range, mean, precision, and the lapse's Beta shape."""
        rows = np.zeros((len(self.means), 6))
        rows[:, :2] = RANGES[: len(self.means)]
        rows[:, 2], rows[:, 3] = self.means, self.precisions
        rows[0, 4:] = self.lapse_shape
        rows[1, 4] = self.alike
        return rows

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw ``count`` error models: rows of lapse, width, tie ratio, evenness, if any side."""
        lows, highs = np.array(RANGES[: len(self.means)]).T
        models = np.full((count, len(self.means)), 0.5)
        models[:, 0] = rng.beta(*(self.lapse_shape if self.lapse_shape[0] else LAPSE_SHAPE), count)
        models[:, 1:3] = np.exp(rng.uniform(np.log(lows[1:3]), np.log(highs[1:3]), (count, 2)))
        models[:, 3] = rng.random(count)
        for column, (mean, precision) in enumerate(zip(self.means, self.precisions, strict=True)):
            if precision > 0:
                ends = moved(np.array([lows, highs]))[:, column]
                drawn = _truncated_normal(mean, precision, ends, rng.random(count))
                models[:, column] = _unmoved(drawn, column)
        return np.asarray(np.clip(models, lows, highs))


def moved(models: FloatArray) -> FloatArray:
    """Return error models on the scale on which they move."""
    shares = models[:, [0, *range(4, models.shape[1])]]
    logits = np.log(shares / (1.0 - shares))
    return np.column_stack([logits[:, 0], np.log(models[:, 1:3]), models[:, 3], logits[:, 1:]])


def _truncated_normal(
    mean: float, precision: float, ends: FloatArray, shares: FloatArray
) -> FloatArray:
    """Return the quantiles ``shares`` of a normal density between two ends, from a table."""
    points = np.linspace(ends[0], ends[1], 2001)
    reached = np.cumsum(np.exp(-0.5 * precision * (points - mean) ** 2))
    return np.asarray(np.interp(shares * reached[-1], reached, points))


def _unmoved(values: FloatArray, column: int) -> FloatArray:
    if column in (0, 4):
        return np.asarray(1.0 / (1.0 + np.exp(-values)))
    return values if column == 3 else np.asarray(np.exp(values))


def _mean_errors() -> tuple[FloatArray, FloatArray]:
    """Return log widths and their mean error over random pairs of normal scores."""
    logs = np.linspace(np.log(RANGES[1][0]), np.log(RANGES[1][1]), _GRID)
    apart = np.linspace(0.0, 6.0, 4001)  # |difference| of two scores has the sd sqrt(2)
    density = np.exp(-(apart**2) / 4.0)
    density /= density.sum()
    odds = np.exp(np.minimum(apart / np.exp(logs)[:, None], 700.0))
    return logs, np.asarray((density / (1.0 + odds)).sum(axis=1))


_LOG_WIDTHS, _ERRORS = _mean_errors()


def error_rates(models: FloatArray) -> FloatArray:
    """Return the mean error over random pairs under each error model."""
    lapse = models[..., 0]
    errors = np.interp(np.log(models[..., 1]), _LOG_WIDTHS, _ERRORS)
    return np.asarray(lapse / 2.0 + (1.0 - lapse) * errors)
