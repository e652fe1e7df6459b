"""Bootstrap over whole queries: pairs of one query depend on each other, queries do not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from topkapi.analysis.lazy import sparse, stats
from topkapi.analysis.typing import FloatArray, IntArray

LEAST_QUERIES = 5  # of a group, such as an assessor: below, no interval
LEAST_RESAMPLED = 4  # queries of a whole study: below, no interval
LEAST_STRATUM = 4  # queries
LEAST_DEFINED = 0.5  # share of resamples in which a figure must be defined to have an interval
IN_TAIL = 50  # resamples beyond each end of an interval, so that it hardly depends on the seed
DRAWN_CELLS = 20_000_000  # resamples x queries at most, so that memory stays bounded
LEAST_DRAWS = 200


@dataclass(frozen=True, slots=True)
class Resamples:
    """Weight of each query in each resample: ``weights`` (draws, n_queries).

    Attributes
    ----------
    weights
        Weight of each query in each resample, (draws, n_queries).
    n_used
        Queries that take part; with fewer than ``LEAST_RESAMPLED`` every interval is NaN.
    level
        Level of the intervals.
    freedom
        ``n_used`` less the number of strata. Percentiles lie as far out as Student's t with it
        needs: a normal one would be too narrow for few queries [Hes15]_.
    """

    weights: FloatArray
    n_used: int
    level: float = 0.95
    freedom: int = 0

    def interval(
        self, sums: FloatArray, figure: Callable[[FloatArray], FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Compute the percentile interval of ``figure`` of the weighted sum over queries.

        ``sums`` (n_queries, ...) are added with the weights of each resample; ``figure`` maps
        (draws, ...) to (draws, ...). Returns the two ends, each of the figure's shape.
        """
        flat = sums.reshape(sums.shape[0], -1)
        drawn = (self.weights @ flat).reshape(-1, *sums.shape[1:])
        return self.ends(figure(drawn))

    def ends(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the interval of figures (draws, ...) of every resample."""
        values = np.asarray(values, dtype=float)
        shape = values.shape[1:]
        if self.n_used < LEAST_RESAMPLED:
            return np.full(shape, np.nan), np.full(shape, np.nan)
        return _quantiles(values, _beyond(self.level, self.freedom))


def _beyond(level: float, freedom: int) -> float:
    """Return the share of resamples beyond each end: of a normal variable as far out as t."""
    tail = (1 - level) / 2
    return float(stats.norm.cdf(stats.t.ppf(tail, freedom))) if freedom else tail


def _quantiles(values: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Compute both tails over axis 0 of (draws, ...), NaN left out.

    NaN where too few are defined.
    """
    defined = ~np.isnan(values)
    counts = defined.sum(axis=0)
    ordered = np.sort(values, axis=0)  # NaN last
    ends = []
    for share in (tail, 1 - tail):
        position = share * np.maximum(counts - 1, 0)
        low = np.floor(position).astype(int)
        high = np.minimum(low + 1, np.maximum(counts - 1, 0))
        at_low = np.take_along_axis(ordered, low[None], axis=0)[0]
        at_high = np.take_along_axis(ordered, high[None], axis=0)[0]
        end = at_low + (at_high - at_low) * (position - low)
        ends.append(np.where(counts >= LEAST_DEFINED * values.shape[0], end, np.nan))
    return ends[0], ends[1]


def resamples(
    used: FloatArray | IntArray,
    *,
    strata: IntArray | None = None,
    draws: int = 2000,
    in_tail: int = 0,
    seed: int = 0,
    level: float = 0.95,
) -> Resamples:
    """Draw queries with replacement from those whose entry in ``used`` (n_queries,) is not 0.

    Strata under ``LEAST_STRATUM`` queries are merged. Of n queries n - 1 are drawn, and weigh n /
    (n - 1) each, which makes the variance unbiased in small strata too [RW88]_. Draws follow the
    numbers of the queries: number them by id, and no order of a file changes an interval.

    Parameters
    ----------
    used
        Queries with a non-zero entry take part, (n_queries,).
    strata
        Queries are drawn within the same number, such as one per set of assessors, (n_queries,).
        Otherwise the assignment, which was not random, would count as chance and intervals would be
        too wide.
    draws
        Number of resamples, fewer if there are very many queries.
    in_tail
        More are drawn if fewer than this would be beyond each end; if all that exist are no more
        than that, as for six queries, every resample is taken once, whatever the seed.
    seed
        Seed of the draws.
    level
        Level of the intervals.

    Examples
    --------
    >>> drawn = resamples(np.array([1, 0, 1, 1]), draws=100)
    >>> drawn.weights.sum(axis=1).max().item(), drawn.weights[:, 1].sum().item()
    (3.0, 0.0)
    """
    chosen = np.flatnonzero(np.asarray(used))
    if chosen.size < 2:
        weights = np.zeros((draws, np.size(used)))
        weights[:, chosen] = 1.0
        return Resamples(weights, int(chosen.size), level)
    strata_of = _strata(np.zeros(chosen.size, dtype=np.int64) if strata is None else strata[chosen])
    freedom = int(chosen.size) - len(strata_of)
    wanted = max(draws, ceil(in_tail / _beyond(level, freedom)))
    wanted = min(wanted, max(LEAST_DRAWS, DRAWN_CELLS // np.size(used)))
    sizes = [members.size for members in strata_of]
    if in_tail and max(sizes) < 8 and prod(n ** (n - 1) for n in sizes) <= wanted:
        counts = _every_resample(sizes)
    else:
        rng = np.random.default_rng(seed)
        counts = [draw_counts(rng, n, wanted, size=n - 1) for n in sizes]
    weights = np.zeros((counts[0].shape[0], np.size(used)))
    for members, times in zip(strata_of, counts, strict=True):
        weights[:, chosen[members]] = times * (members.size / (members.size - 1))
    return Resamples(weights, int(chosen.size), level, freedom)


def _every_resample(sizes: Sequence[int]) -> list[IntArray]:
    """Return how often each query is drawn in all ordered resamples of n - 1, by stratum."""
    found = []
    for n in sizes:
        drawn = np.indices((n,) * (n - 1)).reshape(n - 1, -1)
        found.append((drawn[..., None] == np.arange(n)).sum(axis=0))
    rows = np.indices([len(each) for each in found]).reshape(len(sizes), -1)
    return [each[row] for each, row in zip(found, rows, strict=True)]


def draw_counts(
    rng: np.random.Generator, n: int, draws: int, *, size: int | None = None
) -> IntArray:
    """Count how often each of ``n`` queries is drawn in each resample: (draws, n).

    Parameters
    ----------
    rng
        Source of randomness.
    n
        Number of queries.
    draws
        Number of resamples.
    size
        Queries drawn per resample, with replacement; ``n`` if None.
    """
    return rng.multinomial(n if size is None else size, np.full(n, 1 / n), size=draws)


def known_ends(low: FloatArray, high: FloatArray) -> list[tuple[float, float] | None]:
    """Return both ends of each interval, None where it is undefined."""
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return [None if np.isnan(pair[0]) else pair for pair in pairs]


def resampled_rows(groups: IntArray, runs: int, seed: int) -> Iterator[IntArray]:
    """Yield the rows of each resample of whole groups, drawn with replacement.

    Parameters
    ----------
    groups
        Group of each row, (n,).
    runs
        Number of resamples.
    seed
        Seed; the resample of one number does not depend on how many there are.
    """
    unique, owner = np.unique(groups, return_inverse=True)
    members = [np.flatnonzero(owner == group) for group in range(unique.size)]
    for run in range(runs):
        drawn = np.random.default_rng([seed, run]).integers(0, unique.size, unique.size)
        yield np.concatenate([members[group] for group in drawn])


def percentiles(values: FloatArray | Sequence[FloatArray], tail: float) -> FloatArray:
    """Return both ends of percentile intervals over axis 0 of (draws, ...), NaN left out."""
    return np.nanquantile(values, (tail, 1 - tail), axis=0)


def same_assessors(query: IntArray, assessor: IntArray, n_queries: int) -> IntArray:
    """Assign one number to all queries that the same assessors judged: (n_queries,).

    Parameters
    ----------
    query, assessor
        Who judged what, (r,), in any order, with repetitions.
    n_queries
        Number of queries.

    Examples
    --------
    >>> same_assessors(np.array([0, 0, 1, 1, 2]), np.array([5, 7, 7, 5, 5]), 4).tolist()
    [0, 0, 1, 2]
    """
    width = int(assessor.max(initial=0)) + 1
    keys = np.unique(query * width + assessor)
    parts = np.split(keys % width, np.searchsorted(keys // width, np.arange(1, n_queries)))
    numbers: dict[bytes, int] = {}
    labels = [numbers.setdefault(part.tobytes(), len(numbers)) for part in parts]
    return np.array(labels[:n_queries], dtype=np.int64)


def _strata(labels: IntArray) -> list[IntArray]:
    """Group positions by label.

    Small strata are merged, so that each has at least two.
    """
    groups: list[IntArray] = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    large = [group for group in groups if group.size >= LEAST_STRATUM]
    small = [group for group in groups if group.size < LEAST_STRATUM]
    if not small:
        return large
    rest = np.concatenate(small)
    if rest.size < 2 and large:
        return [*large[:-1], np.concatenate([large[-1], rest])]
    return [*large, rest]


def grouped_sums(
    weights: FloatArray, query: IntArray, group: IntArray, values: FloatArray, n_groups: int
) -> FloatArray:
    """Compute weighted sums (draws, n_groups, width) of rows that belong to a query and a group.

    The product is sparse: a group has few of the queries.

    Parameters
    ----------
    weights
        Weight of each query in each resample, (draws, n_queries).
    query, group
        Query and group of each row, (r,).
    values
        Values (r, width).
    n_groups
        Number of groups.

    Returns
    -------
    FloatArray
        Sums (draws, n_groups, width).
    """
    width = values.shape[1]
    rows = (group[:, None] * width + np.arange(width)).ravel()
    columns = np.repeat(query, width)
    shape = (n_groups * width, weights.shape[1])
    table = sparse.csr_array((values.ravel().astype(float), (rows, columns)), shape=shape)
    drawn = np.asarray((table @ weights.T).T)
    return np.ascontiguousarray(drawn).reshape(weights.shape[0], n_groups, width)
