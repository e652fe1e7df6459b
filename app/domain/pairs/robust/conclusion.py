"""What the chains conclude: the list, and how sure of it one may be."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.robust.gains import discounts, gains
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

HEAD = 5  # places filled by expected gain; below, gains are small and membership is what counts
INTERVAL = 0.9
_DRAWS = 600  # scores drawn per chain for a conclusion, in sweeps over all documents
_SWEEPS = (3, 12)


@dataclass(frozen=True, slots=True)
class ItemPosterior:
    """How sure the place of one document is: its chance to be in the top k, its likely ranks.

    From ``low`` to ``high`` (1 = best) nine in ten of the probable orders rank it. ``gain`` is what
    it is expected to add to a list at its head, as a share of the best possible list.
    """

    place: int
    in_top: float
    low: int
    high: int
    gain: float


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The most probable list with its expected kappa-NDCG, and the assessor's error rate."""

    ranking: tuple[int, ...]
    item_posteriors: tuple[ItemPosterior, ...]
    quality: float
    error_rate: float


def quality_now(posterior: Posterior, k: int) -> float:
    """The expected kappa-NDCG of the list that the chains as they are would give."""
    best = posterior.best(k)
    if not best.shape[1]:
        return 1.0
    gain = gains(k)[: best.shape[1]]
    mean = np.bincount(best.ravel(), np.tile(gain, best.shape[0])) / posterior.chains
    top = np.sort(mean)[::-1][: best.shape[1]]
    weights = discounts(k)
    ideal = float(gain @ weights[: gain.size])
    return float(top @ weights[: top.size]) / ideal


def conclude(posterior: Posterior, k: int, rng: np.random.Generator) -> Conclusion:
    """Move the chains on, over all documents, and sum up where they went.

    The first places go by expected gain, which makes the expected DCG largest; the rest by the
    chance of being in the top k.
    """
    living = posterior.living
    if not living.size:
        return Conclusion((), (), 1.0, posterior.error_rate)
    counts, error = _rank_counts(posterior, rng)
    size = min(k, living.size)
    shares = counts[living] / counts[living[0]].sum()
    gain = np.zeros(living.size)
    gain[:size] = gains(k)[:size]
    expected, inside = shares @ gain, shares[:, :size].sum(axis=1)
    order = _listed(expected, inside, size)
    weights = discounts(k)[:size]
    ideal = float(gain[:size] @ weights)
    expected /= ideal
    quality = float(expected[order] @ weights)
    lows, highs = _intervals(shares)
    rows = zip(living, inside, lows, highs, expected, strict=True)
    item_posteriors = tuple(
        ItemPosterior(int(place), float(chance), int(low), int(high), float(gain))
        for place, chance, low, high, gain in rows
    )
    return Conclusion(tuple(int(each) for each in living[order]), item_posteriors, quality, error)


def _rank_counts(posterior: Posterior, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """How often each document had each rank, over sweeps of all chains; the mean error rate."""
    living, chains = posterior.living, np.arange(posterior.chains)
    sweeps = int(np.clip(_DRAWS // living.size, *_SWEEPS))
    counts = np.zeros((posterior.n, living.size))
    errors = []
    ranks = np.tile(np.arange(living.size), (chains.size, 1))
    for _ in range(sweeps):
        posterior.move(rng.permutation(living).tolist(), rng)
        posterior.draw_errors(rng)
        errors.append(posterior.error_rate)
        cells = posterior.best(living.size) * living.size + ranks
        counts += np.bincount(cells.ravel(), minlength=counts.size).reshape(counts.shape)
    return counts, float(np.mean(errors))


def _listed(expected: FloatArray, inside: FloatArray, size: int) -> IntArray:
    by_gain = np.argsort(-expected, kind="stable")[: min(HEAD, size)]
    left = inside.copy()
    left[by_gain] = -1.0
    by_chance = np.argsort(-left, kind="stable")[: size - by_gain.size]
    return np.concatenate([by_gain, by_chance])


def _intervals(shares: FloatArray) -> tuple[IntArray, IntArray]:
    """First and last rank (1 = best) of the central `INTERVAL` of each row."""
    tail = (1.0 - INTERVAL) / 2.0
    reached = shares.cumsum(axis=1)
    lows = (reached <= tail).sum(axis=1) + 1
    highs = (reached < 1.0 - tail - 1e-12).sum(axis=1) + 1
    return lows, highs
