"""Conclusion from the chains: the list, and the confidence in it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.robust.gains import discounts, gains
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

HEAD = 5  # ranks filled by expected gain; below, gains are small and membership matters
INTERVAL = 0.9
_DRAWS = 600  # scores drawn per chain for a conclusion, in sweeps over all documents
_SWEEPS = (3, 12)


@dataclass(frozen=True, slots=True)
class ItemPosterior:
    """Posterior of one document: its probability to be in the top k, and its likely ranks.

    ``low`` to ``high`` (1 = best) is the central 90 % interval of its rank. ``gain`` is its
    expected gain, as a share of the DCG of the ideal list.
    """

    index: int
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
    """Return the expected kappa-NDCG of the best list under the current chains."""
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
    """Move the chains, over all documents, and summarize the sampled ranks.

    The first `HEAD` ranks are filled by expected gain, which maximizes the expected DCG; the rest
    by the probability of being in the top k.
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
        ItemPosterior(int(index), float(chance), int(low), int(high), float(gain))
        for index, chance, low, high, gain in rows
    )
    return Conclusion(tuple(int(each) for each in living[order]), item_posteriors, quality, error)


def _rank_counts(posterior: Posterior, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Count how often each document has each rank, over sweeps of all chains.

    Return the counts, and the mean error rate.
    """
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
    """Return the first and last rank (1 = best) of the central `INTERVAL` of each row."""
    tail = (1.0 - INTERVAL) / 2.0
    reached = shares.cumsum(axis=1)
    lows = (reached <= tail).sum(axis=1) + 1
    highs = (reached < 1.0 - tail - 1e-12).sum(axis=1) + 1
    return lows, highs
