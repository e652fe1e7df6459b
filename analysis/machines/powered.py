r"""Prediction-powered scores: few queries judged by people, many by a machine [ABF23]_, [ADZ23]_.

.. math:: \hat\theta = \bar Y_n - \lambda (\bar F_n - \bar F_N), \quad
   \lambda = \frac{N}{n + N} \frac{\mathrm{cov}(Y, F)}{\mathrm{var}(F)} \in [0, 1]

:math:`Y` are a system's scores by people's labels on n queries, :math:`F` those by the machine's
labels, on the same queries and on N others. The machine may be wrong: its error is measured on the
queries of people and subtracted, so the interval holds the mean of *people's* scores. Where the
adjusted :math:`R^2` of the labelled queries is not above 0, the machine explains nothing and
:math:`\lambda` is 0: the interval is that of people alone.

The estimate is that of double sampling with regression [Coc77]_, whose variance is that of the
residuals, with the error of the slope and n - 2 degrees of freedom, plus that of the machine's
mean; the degrees of freedom of the sum are Satterthwaite's [Sat46]_. The ratio of this error to
that of people's queries alone is what the machine is worth.

Scores are bounded and often skewed, with many zeros, so Student's t would be too short for few
queries. The interval of people's queries alone is Gaffke's (``topkapi.analysis.bounded``); that
with the machine is around :math:`\hat\theta` and shorter by the ratio of errors, on both sides.
Where fewer than ``LEAST_QUERIES`` of people's values differ from their most frequent one, the slope
rests on too few queries, and :math:`\lambda` is 0.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.bounded import mean_interval
from topkapi.analysis.errors import BadData
from topkapi.analysis.power import student_half
from topkapi.analysis.resampling import LEAST_QUERIES
from topkapi.analysis.typing import FloatArray

NOT_DRAWN = (
    "the queries that people judged were not drawn at random from all queries, so the machine's "
    "error on them says nothing about the other queries: draw queries at random and let people "
    "judge all of these, or use the scores by people's labels alone"
)


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean over queries with its interval, beside that from people's queries alone.

    Attributes
    ----------
    value, low, high
        Prediction-powered mean and the ends of its interval.
    people_value, people_low, people_high
        The same from people's queries alone.
    weight
        Lambda, 0 (the machine is ignored) to 1.
    correlation
        Of people's and the machine's scores over the labelled queries; 0 where one is constant.
    labelled, machine_only
        Number of queries with people's labels, and with the machine's alone.
    """

    value: float
    low: float
    high: float
    people_value: float
    people_low: float
    people_high: float
    weight: float
    correlation: float
    labelled: int
    machine_only: int


Ranks = tuple[int, int]
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PoweredSystem:
    """A system beside others.

    Attributes
    ----------
    mean, difference
        Its mean score, and its mean difference from the baseline, if there is one.
    ranks, people_ranks
        First and last rank that it may have, with the machine and from people's queries alone. The
        sets of all systems hold their ranks together, as [CSGR24]_ define them, in 95 % of studies.
    """

    system: str
    mean: PoweredMean
    difference: PoweredMean | None
    ranks: Ranks
    people_ranks: Ranks


QueryValues = Mapping[str, Mapping[str, float]]  # system -> query -> value
Columns = tuple[FloatArray, FloatArray, FloatArray]  # people's, the machine's, and its other ones


def powered_mean(
    people: ArrayLike,
    machine: ArrayLike,
    machine_only: ArrayLike,
    *,
    drawn_at_random: bool,
    bounds: Bounds = (0.0, 1.0),
    level: float = 0.95,
) -> PoweredMean:
    """Estimate the mean of people's values from few of them and many of a machine.

    Parameters
    ----------
    people, machine
        Values of the same queries by people's and by the machine's labels, (n,) each.
    machine_only
        Values of other queries by the machine's labels, (N,).
    drawn_at_random
        Whether the queries that people judged were drawn at random from all of these.
    bounds
        Least and greatest value that is possible: -1 and 1 for differences of scores.
    level
        Level of the intervals.

    Raises
    ------
    BadData
        If the queries were not drawn at random, are too few, or a value is out of bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> machine = rng.random(100)
    >>> people = 0.8 * machine[:20] + 0.2 * rng.random(20)
    >>> found = powered_mean(people, machine[:20], machine[20:], drawn_at_random=True)
    >>> (found.high - found.low) / (found.people_high - found.people_low)
    0.4528
    """
    if not drawn_at_random:
        raise BadData(NOT_DRAWN)
    y, f, others = (np.asarray(each, dtype=float) for each in (people, machine, machine_only))
    _check(y, f, others, bounds)
    mean, (low, high) = float(y.mean()), mean_interval(y, bounds, level)
    value, ratio, weight = _estimate(y, f, others, level)
    varies = y.std() > 0 and f.std() > 0
    return PoweredMean(
        float(np.clip(value, *bounds)),
        max(bounds[0], value - ratio * (mean - low)),
        min(bounds[1], value + ratio * (high - mean)),
        *(mean, low, high),
        weight=weight,
        correlation=float(np.corrcoef(y, f)[0, 1]) if varies else 0.0,
        labelled=y.size,
        machine_only=int(others.size),
    )


def _check(y: FloatArray, f: FloatArray, others: FloatArray, bounds: Bounds) -> None:
    if y.shape != f.shape or y.ndim != 1 or others.ndim != 1:
        raise BadData("people's and the machine's values are not of the same queries")
    if y.size < LEAST_QUERIES or others.size < 2:
        raise BadData(
            f"{y.size} queries judged by people and {others.size} by the machine alone are too "
            f"few: at least {LEAST_QUERIES} and 2 are needed"
        )
    if not all(np.isfinite(each).all() for each in (y, f, others)):
        raise BadData("a value is not a finite number")
    if min(y.min(), f.min()) < bounds[0] or max(y.max(), f.max()) > bounds[1]:
        raise BadData(f"a value is not between {bounds[0]:g} and {bounds[1]:g}")


def _estimate(
    y: FloatArray, f: FloatArray, others: FloatArray, level: float
) -> tuple[float, float, float]:
    """Return the estimate, the ratio of its error to that of people's alone, and lambda."""
    n, more = y.size, others.size
    every = np.concatenate([f, others])
    spread = float(((f - f.mean()) ** 2).sum())
    slope = float(((f - f.mean()) * y).sum()) / spread if spread > 1e-12 * n else 0.0
    weight = slope * more / (n + more)
    residual = y - y.mean() - slope * (f - f.mean())
    noise = float((residual**2).sum()) / (n - 2)
    alone = float(y.var(ddof=1))
    unlike = n - int(np.unique(y, return_counts=True)[1].max())
    if weight <= 0 or noise >= alone or unlike < LEAST_QUERIES:
        return float(y.mean()), 1.0, 0.0
    if weight >= 1:
        weight, value = 1.0, float((y - f).mean() + others.mean())
        error, machine = float((y - f).var(ddof=1)) / n, float(others.var(ddof=1)) / more
        parts = (error, n - 1), (machine, more - 1)
    else:
        shift = float(every.mean() - f.mean())
        value = float(y.mean()) + slope * shift
        squared = max(slope**2 - noise / spread, 0.0)  # without the variance of the slope
        error = noise * (1 / n + shift**2 / spread)
        machine = squared * float(every.var(ddof=1)) / (n + more)
        parts = (error, n - 2), (machine, n - 2)
    return value, student_half(parts, level) / student_half([(alone / n, n - 1)], level), weight


def powered_systems(
    people: QueryValues,
    machine: QueryValues,
    *,
    drawn_at_random: bool,
    baseline: str | None = None,
    level: float = 0.95,
    bounds: Bounds = (0.0, 1.0),
) -> tuple[PoweredSystem, ...]:
    """Estimate mean scores of systems and their differences from a baseline, best first.

    Parameters
    ----------
    people, machine
        Value of each system and query by people's and by the machine's labels, such as NDCG or the
        share of won comparisons of lists. The machine judged every query of people, and others.
    drawn_at_random
        Whether the queries that people judged were drawn at random from those of the machine.
    baseline
        System that the others are compared with, paired by query.
    level
        Level of the intervals.
    bounds
        Least and greatest value that is possible.

    Raises
    ------
    BadData
        If the queries were not drawn at random, are too few, or differ between systems; or if a
        value is out of bounds.

    Examples
    --------
    >>> values = {"a": {str(q): q % 5 / 4 for q in range(40)}}
    >>> few = {"a": {str(q): q % 5 / 4 for q in range(10)}}
    >>> found = powered_systems(few, values, drawn_at_random=True)[0].mean
    >>> found.value, found.labelled, found.machine_only
    (0.5, 10, 30)
    """
    if baseline is not None and baseline not in people:
        raise BadData(f"no system {baseline!r} to compare with: {', '.join(sorted(people))}")
    columns = {system: _columns(system, people, machine) for system in people}
    mean_of = partial(powered_mean, drawn_at_random=drawn_at_random)
    apart = partial(mean_of, bounds=(bounds[0] - bounds[1], bounds[1] - bounds[0]))
    ranks, scored = _ranks(columns, apart, level), []
    for system, mine in columns.items():
        mean = mean_of(*mine, bounds=bounds, level=level)
        difference = None
        if baseline is not None and system != baseline:
            difference = apart(*_gaps(mine, columns[baseline]), level=level)
        scored.append(PoweredSystem(system, mean, difference, *ranks[system]))
    return tuple(sorted(scored, key=lambda each: (-each.mean.value, each.system)))


def _ranks(
    columns: Mapping[str, Columns], apart: Callable[..., PoweredMean], level: float
) -> dict[str, tuple[Ranks, Ranks]]:
    """Return rank sets from the differences of all pairs, whose intervals hold together.

    Fewer queries than a sign test needs tell no two systems apart.
    """
    pairs = list(combinations(columns, 2))
    left = (1 - level) / max(1, len(pairs))
    known = {system: np.array([[1, 1], [len(columns)] * 2]) for system in columns}
    for one, two in pairs:
        gap = apart(*_gaps(columns[one], columns[two]), level=1 - left)
        if 2.0 ** (1 - gap.labelled) > left:
            continue
        low, high = np.array([[gap.low, gap.people_low], [gap.high, gap.people_high]])
        known[one] += np.array([high < 0, -(low > 0).astype(int)])
        known[two] += np.array([low > 0, -(high < 0).astype(int)])
    return {
        system: ((int(first[0]), int(last[0])), (int(first[1]), int(last[1])))
        for system, (first, last) in known.items()
    }


def _gaps(one: Columns, two: Columns) -> Iterator[FloatArray]:
    return (a - b for a, b in zip(one, two, strict=True))


def win_shares(answers: Mapping[str, Sequence[tuple[str, str, int]]]) -> QueryValues:
    """Return the share of comparisons that each system won, by query; a tie is half of one.

    Parameters
    ----------
    answers
        Left system, right system, and 1, 0 or -1 for the left, by query. Several answers about
        the same two are averaged.

    Raises
    ------
    BadData
        If two systems were not compared in a query: their values would depend on the choice.

    Examples
    --------
    >>> win_shares({"q": [("a", "b", 1), ("b", "a", 0), ("a", "c", -1), ("b", "c", -1)]})
    {'a': {'q': 0.375}, 'b': {'q': 0.125}, 'c': {'q': 1.0}}
    """
    systems = sorted({name for votes in answers.values() for vote in votes for name in vote[:2]})
    won: dict[str, dict[str, float]] = {system: {} for system in systems}
    for query, votes in answers.items():
        shares: dict[tuple[str, str], list[float]] = defaultdict(list)
        for one, two, answer in votes:
            shares[one, two].append((1 + answer) / 2)
            shares[two, one].append((1 - answer) / 2)
        for system in systems:
            mine = [shares[system, other] for other in systems if other != system]
            if not all(mine):
                raise BadData(f"{query}: {system} was not compared with every other system")
            won[system][query] = float(np.mean([np.mean(each) for each in mine]))
    return won


def _columns(system: str, people: QueryValues, machine: QueryValues) -> Columns:
    """Return values of people's queries by people and machine, and the machine's other ones."""
    first = next(iter(people))
    judged = sorted(people[first])
    rest = sorted(machine.get(first, {}).keys() - people[first].keys())
    if people[system].keys() != set(judged) or machine.get(system, {}).keys() != {*judged, *rest}:
        raise BadData(
            f"{system}: its queries are not those of {first}; give every system the same queries, "
            "those of people also by the machine"
        )
    by_machine = machine[system]
    return (
        np.array([people[system][query] for query in judged]),
        np.array([by_machine[query] for query in judged]),
        np.array([by_machine[query] for query in rest]),
    )
