"""Side and length effects: does an assessor prefer the left page, or the longer one?

Shares of decided answers, people and machines alike, with intervals over the assessor's queries:
answers about one query depend on each other. One half means no effect of the side, if the sides
were assigned at random. Longer pages can be better: compare a machine's share with that of people.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.aggregation.bradley_terry import RIDGE
from topkapi.analysis.agreement import Judgments, resamples
from topkapi.analysis.agreement.tables import mean_of
from topkapi.analysis.errors import BadData, DidNotConverge
from topkapi.analysis.jackknife import jackknife
from topkapi.analysis.lazy import special, stats
from topkapi.analysis.resampling import LEAST_QUERIES, known_ends
from topkapi.analysis.typing import BoolArray, FloatArray

Effect: TypeAlias = Literal["side", "length"]
DRAWS = 400
STEPS = 50


@dataclass(frozen=True, slots=True)
class AnswerEffect:
    """How often an assessor prefers the left page, or the longer one.

    Attributes
    ----------
    effect
        ``side`` or ``length``.
    assessor
        Index of the assessor.
    answers, queries
        Decided answers (for ``length``, to pages of different length), and their queries.
    share
        Share of them for the left, or the longer, page.
    low, high
        Interval; None for ``length`` with fewer than ``LEAST_QUERIES`` queries.
    clustered
        Whether the interval is over queries. With fewer of them that of ``side`` is over answers,
        which are independent of the side if nothing but chance assigned it.
    """

    effect: Effect
    assessor: int = field(metadata={"internal": True})  # reports have names
    answers: int
    queries: int
    share: float
    low: float | None
    high: float | None
    clustered: bool

    @property
    def biased(self) -> bool:
        """Whether the interval excludes one half."""
        return self.low is not None and self.high is not None and not self.low <= 0.5 <= self.high


def side_effects(judgments: Judgments, *, level: float = 0.95) -> tuple[AnswerEffect, ...]:
    """Return the share of the left side among decided answers, by assessor.

    Parameters
    ----------
    judgments
        Answers to pairs of pages or of lists; the sides were assigned at random.
    level
        Level of the intervals.

    Examples
    --------
    >>> asked = Judgments.of(assessor=[0] * 60, query=np.arange(60) % 12, left=[0] * 60,
    ...     right=[1] * 60, answer=[1] * 45 + [-1] * 15)
    >>> found = side_effects(asked)[0]
    >>> found.share, found.biased
    (0.75, True)
    """
    return _effects("side", judgments, judgments.answer > 0, judgments.answer != 0, level)


def length_effects(
    judgments: Judgments, left_length: ArrayLike, right_length: ArrayLike, *, level: float = 0.95
) -> tuple[AnswerEffect, ...]:
    """Return the share of the longer page among decided answers, by assessor.

    Parameters
    ----------
    judgments
        Answers to pairs of pages or of lists.
    left_length, right_length
        Lengths of what was shown on either side, such as characters, (n,) each.
    level
        Level of the intervals.
    """
    longer = judgments.answer * length_ratio(left_length, right_length, len(judgments))
    return _effects("length", judgments, longer > 0, longer != 0, level)


def length_ratio(left: ArrayLike, right: ArrayLike, n: int) -> FloatArray:
    """Return how many times the left length is that of the right, in doublings, (n,).

    >>> length_ratio([7, 1], [1, 1], 2).tolist()
    [2.0, 0.0]
    """
    lengths = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    if any(each.shape != (n,) or not (each >= 0).all() for each in lengths):
        raise BadData(f"every one of the {n} answers needs two lengths of 0 or more")
    doublings: FloatArray = np.log2(1 + lengths[0]) - np.log2(1 + lengths[1])
    return doublings


def _effects(
    effect: Effect, judgments: Judgments, chosen: BoolArray, decided: BoolArray, level: float
) -> tuple[AnswerEffect, ...]:
    kept = judgments.take(decided)
    who, group = np.unique(kept.assessor, return_inverse=True)
    query = np.unique(kept.query, return_inverse=True)[1]
    rows = np.stack([chosen[decided].astype(float), np.ones(group.size)], axis=1)
    estimates = jackknife(query, group, rows, who.size, mean_of, scale="share", level=level)
    answers, wins = np.bincount(group), np.bincount(group, rows[:, 0])
    effects = []
    for i in range(who.size):
        clustered = estimates.queries[i] >= LEAST_QUERIES
        ends: tuple[float | None, float | None] = (None, None)
        if clustered:
            ends = (float(estimates.low[i]), float(estimates.high[i]))
        elif effect == "side":
            over = stats.binomtest(int(wins[i]), int(answers[i])).proportion_ci(level, "wilson")
            ends = (float(over.low), float(over.high))
        effects.append(
            AnswerEffect(
                effect=effect,
                assessor=int(who[i]),
                answers=int(answers[i]),
                queries=int(estimates.queries[i]),
                share=float(estimates.value[i]),
                low=ends[0],
                high=ends[1],
                clustered=bool(clustered),
            )
        )
    return tuple(effects)


@dataclass(frozen=True, slots=True)
class SystemStrength:
    """Strength of a system in log-odds, 0 on average, plain and at equal lengths.

    Attributes
    ----------
    system
        Name.
    plain, plain_ends
        Strength that explains the answers by systems alone, and its interval.
    adjusted, adjusted_ends
        Strength between lists of equal length, and its interval.
    """

    system: str
    plain: float
    plain_ends: tuple[float, float] | None
    adjusted: float
    adjusted_ends: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class LengthBoard:
    """Systems by their strength at equal lengths, best first, and the effect of length.

    Attributes
    ----------
    systems
        Strengths.
    doubling, doubling_ends
        Log-odds that a list gains by being twice as long, and its interval.
    answers, queries
        Number of answers and of queries.
    """

    systems: tuple[SystemStrength, ...]
    doubling: float
    doubling_ends: tuple[float, float] | None
    answers: int
    queries: int


def length_board(
    systems: Sequence[str],
    judgments: Judgments,
    left_length: ArrayLike,
    right_length: ArrayLike,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> LengthBoard:
    """Rank systems by preferences between their lists, with the effect of length taken out.

    A logistic regression of the preference on the two systems and the logarithm of the ratio of
    lengths, as [DGLH24]_; a tie is half a preference for each. Strengths have the ridge of the
    plain leaderboard. Intervals (95 %) are over resampled queries.

    Parameters
    ----------
    systems
        Names of the systems.
    judgments
        Answers; ``left`` and ``right`` are indices of systems.
    left_length, right_length
        Lengths of what was shown on either side, (n,) each.
    draws, seed
        Number of resamples and their seed.

    Raises
    ------
    BadData
        If there is no answer, or lengths do not fit.
    """
    if not len(judgments):
        raise BadData("there is no answer to rank systems by")
    n, size = len(judgments), len(systems)
    columns = np.zeros((n, size + 1))
    columns[np.arange(n), judgments.left] = 1
    columns[np.arange(n), judgments.right] = -1
    columns[:, size] = length_ratio(left_length, right_length, n)
    goal = (1 + judgments.answer) / 2
    query = np.unique(judgments.query, return_inverse=True)[1]
    drawn = resamples(np.ones(int(query.max()) + 1), draws=draws, seed=seed)
    plain, plain_fits = _fits(columns[:, :size], goal, drawn.weights[:, query], size)
    fitted, fits = _fits(columns, goal, drawn.weights[:, query], size)
    plain_ends, ends = known_ends(*drawn.ends(plain_fits)), known_ends(*drawn.ends(fits))
    rows = [
        SystemStrength(name, float(plain[i]), plain_ends[i], float(fitted[i]), ends[i])
        for i, name in enumerate(systems)
    ]
    rows.sort(key=lambda row: (-row.adjusted, row.system))
    return LengthBoard(tuple(rows), float(fitted[size]), ends[size], n, drawn.n_used)


def _fits(
    columns: FloatArray, goal: FloatArray, weights: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients (p,) of all answers, and (draws, p) of every resample."""
    whole = _logistic(columns, goal, np.ones(goal.size), size, np.zeros(columns.shape[1]))
    fits = [_logistic(columns, goal, each, size, whole) for each in weights]
    return whole, np.stack(fits)


def _logistic(
    columns: FloatArray, goal: FloatArray, weights: FloatArray, size: int, start: FloatArray
) -> FloatArray:
    """Fit a weighted logistic regression by Newton's method; the first ``size`` have the ridge."""
    used = weights > 0
    columns, goal, weights = columns[used], goal[used], weights[used]
    ridge = np.where(np.arange(start.size) < size, RIDGE, 1e-3)
    point = start
    value = _loss(point, columns, goal, weights, ridge)
    for _ in range(STEPS):
        chance = special.expit(columns @ point)
        gradient = columns.T @ (weights * (chance - goal)) + ridge * point
        if np.abs(gradient).max() < 1e-8 * max(1.0, float(weights.sum())):
            return point
        curve = weights * chance * (1 - chance)
        step = np.linalg.solve(columns.T @ (curve[:, None] * columns) + np.diag(ridge), gradient)
        length = 1.0
        while (tried := _loss(point - length * step, columns, goal, weights, ridge)) > value:
            length /= 2
            if length < 1e-6:
                return point
        point, value = point - length * step, tried
    raise DidNotConverge("the regression on systems and lengths did not converge")


def _loss(
    point: FloatArray, columns: FloatArray, goal: FloatArray, weights: FloatArray, ridge: FloatArray
) -> float:
    scores = columns @ point
    lost = np.logaddexp(0.0, scores) - goal * scores
    return float((weights * lost).sum() + (ridge * point**2).sum() / 2)
