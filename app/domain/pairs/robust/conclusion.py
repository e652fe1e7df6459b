"""Conclusion from the posterior: the list, and the confidence in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.confidence import ErrorModel, Expected, ListConfidence, PageConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.error_prior import error_rates, moments
from topkapi.app.domain.pairs.robust.gains import discounts, gains
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

HEAD = 5  # ranks filled by expected gain; below, gains are small and membership matters
INTERVAL = 0.9
JOINTLY = 100  # pages drawn together, if that many were asked about
DRAWS = 2000
_TAILS = ((1.0 - INTERVAL) / 2.0, (1.0 + INTERVAL) / 2.0)


@dataclass(frozen=True, slots=True)
class ItemPosterior:
    """Posterior of one document: its probability to be in the top k, and its likely ranks.

    ``low`` to ``high`` (1 = best) is the central 90 % interval of its rank.
    """

    index: int
    in_top: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The most probable list with its expected quality, and what was learned of the assessor.

    ``ranks`` are the sampled ranks of the documents ``living``, counted from 0: (samples,
    documents). ``people`` has the means and variances of each person's error model
    (`error_prior.moments`), ``ranker`` the mean and variance of the correlation of true scores with
    those of the ranker, if there is one.
    """

    k: int
    ranking: tuple[int, ...]
    item_posteriors: tuple[ItemPosterior, ...]
    living: tuple[int, ...]
    ranks: IntArray
    error_rate: float
    people: tuple[ErrorModel, ...]
    ranker: tuple[float, float] | None = None

    @property
    def errors(self) -> ErrorModel:
        """The learned error model of the first person."""
        return self.people[0]

    def kappa_ndcg(self, listed: Sequence[int] | None = None) -> Expected:
        """Return the expected kappa-NDCG of ``listed``, by default of the ranking."""
        return _expected(self._sampled_ndcg(listed or self.ranking))

    def overlap(self, listed: Sequence[int] | None = None) -> Expected:
        """Return the expected share of the true top k in ``listed``, by default the ranking."""
        return _expected(self._sampled_overlap(listed or self.ranking))

    def quality(self, goal: Goal) -> float:
        """Return the expected quality for ``goal``."""
        return (self.kappa_ndcg() if goal is Goal.ORDER else self.overlap()).mean

    def _sampled_ndcg(self, listed: Sequence[int]) -> FloatArray:
        size = min(self.k, len(self.living))
        if not size:
            return np.ones(len(self.ranks))
        gain = np.zeros(len(self.living))
        gain[:size] = gains(self.k)[:size]
        ideal = float(gain[:size] @ discounts(self.k)[:size])
        return self._sampled(gain, discounts(self.k) / ideal, listed)

    def _sampled_overlap(self, listed: Sequence[int]) -> FloatArray:
        size = min(self.k, len(self.living))
        if not size:
            return np.ones(len(self.ranks))
        inside = (np.arange(len(self.living)) < size).astype(float)
        return self._sampled(inside, np.full(self.k, 1.0 / size), listed)

    def _sampled(
        self, values: FloatArray, weights: FloatArray, listed: Sequence[int]
    ) -> FloatArray:
        """Return a weighted sum of the values of ranks in every sample."""
        column = {index: number for number, index in enumerate(self.living)}
        total = np.zeros(len(self.ranks))
        for index, weight in zip(listed, weights, strict=False):
            if index in column:  # a removed document has gain 0
                total += weight * values[self.ranks[:, column[index]]]
        return total


def _expected(sampled: FloatArray) -> Expected:
    low, high = np.quantile(sampled, _TAILS)
    return Expected(float(sampled.mean()), float(low), float(high))


def quality_of(best: IntArray, k: int, goal: Goal) -> float:
    """Return the expected kappa-NDCG, or overlap, of the best list given draws of the best pages.

    It is a little too high: the list is chosen by the draws that it is measured by.
    """
    best = best[:, :k]
    size = best.shape[1]
    if not size:
        return 1.0
    gain = gains(k)[:size] if goal is Goal.ORDER else np.ones(size)
    weights = discounts(k)[:size] if goal is Goal.ORDER else np.ones(size)
    mean = np.bincount(best.ravel(), np.tile(gain, best.shape[0])) / best.shape[0]
    top = np.sort(mean)[::-1][:size]
    return float(top @ weights[: top.size]) / float(gain @ weights)


def conclude(posterior: Posterior, k: int, rng: np.random.Generator, goal: Goal) -> Conclusion:
    """Draw scores, and summarize the ranks.

    For the order, the first `HEAD` ranks are filled by expected gain, which maximizes the expected
    DCG, and the rest of the list by the probability of being in the top k; for membership, all of
    it. The chosen documents are listed by expected gain.
    """
    living = posterior.living
    count = int(np.clip(200_000 // max(1, living.size), 500, DRAWS))
    scores, points = posterior.draw(count, rng, JOINTLY)
    ranks = (-scores[:, living]).argsort(axis=1).argsort(axis=1)
    size = min(k, living.size)
    shares = _shares(ranks)
    gain = np.zeros(living.size)
    gain[:size] = gains(k)[:size]
    expected, inside = shares @ gain, shares[:, :size].sum(axis=1)
    order = _listed(expected, inside, size, HEAD if goal is Goal.ORDER else 0)
    lows, highs = _intervals(shares)
    item_posteriors = tuple(
        ItemPosterior(int(index), float(chance), int(low), int(high))
        for index, chance, low, high in zip(living, inside, lows, highs, strict=True)
    )
    rhos = posterior.rhos[points]
    return Conclusion(
        k=k,
        ranking=tuple(int(each) for each in living[order]),
        item_posteriors=item_posteriors,
        living=tuple(int(each) for each in living),
        ranks=ranks,
        error_rate=error_rate(posterior),
        people=tuple(errors_of(posterior, person) for person in range(posterior.people)),
        ranker=(float(rhos.mean()), float(rhos.var())) if posterior.guided else None,
    )


def errors_of(posterior: Posterior, person: int) -> ErrorModel:
    """Return means and variances of a person's error model now."""
    return moments(posterior.cells_of(person), posterior.tie_share(person))


def error_rate_of(posterior: Posterior, person: int) -> float:
    """Return a person's expected error over random pairs."""
    return float((posterior.cells_of(person) * error_rates()).sum())


def error_rate(posterior: Posterior) -> float:
    """Return the expected error over random pairs, by the number of people's answers."""
    everybody = range(posterior.people)
    answers = np.array([posterior.answers_of(each) for each in everybody], float) + 1e-9
    rates = np.array([error_rate_of(posterior, each) for each in everybody])
    return float(answers @ rates / answers.sum())


def _shares(ranks: IntArray) -> FloatArray:
    """Return how often each document has each rank: (documents, ranks)."""
    samples, size = ranks.shape
    cells = ranks + np.arange(size) * size
    counts = np.bincount(cells.ravel(), minlength=size * size).reshape(size, size)
    return np.asarray(counts / max(1, samples))


def _listed(expected: FloatArray, inside: FloatArray, size: int, head: int) -> IntArray:
    by_gain = np.argsort(-expected, kind="stable")[: min(head, size)]
    left = inside.copy()
    left[by_gain] = -1.0
    by_chance = np.argsort(-left, kind="stable")[: size - by_gain.size]
    chosen = np.concatenate([by_gain, by_chance])
    return chosen[np.argsort(-expected[chosen], kind="stable")]


def _intervals(shares: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first and last rank (1 = best) of the central `INTERVAL` of each row."""
    reached = shares.cumsum(axis=1)
    lows = (reached <= _TAILS[0]).sum(axis=1) + 1
    highs = (reached < _TAILS[1] - 1e-12).sum(axis=1) + 1
    return lows, highs


_LEAST = 0.001  # pages with a smaller probability of being in the top k are omitted
_DIGITS = 4  # further digits are sampling noise


def confidence_from(
    found: Conclusion, plan: Plan, judgments: Sequence[Judgment], concluded: Sequence[ItemId]
) -> ListConfidence:
    """Return ``found``, the conclusion from ``judgments``, as a `ListConfidence`.

    ``concluded`` is the list of the finished session, or empty.
    """
    posteriors = {plan.order[each.index]: each for each in found.item_posteriors}
    ranking = tuple(plan.order[index] for index in found.ranking)
    index = {item: number for number, item in enumerate(plan.order)}
    listed = [index[item] for item in concluded]
    quality = _rounded(found.kappa_ndcg(listed))
    return ListConfidence(
        ranking=ranking,
        quality=_rounded(found.kappa_ndcg()).mean,
        concluded_quality=quality.mean if concluded else None,
        error_rate=round(found.error_rate, _DIGITS),
        answers=sum(judgment.answer.is_preference for judgment in judgments),
        pages=tuple(
            _page(item, posteriors[item]) for item in (*ranking, *_others(posteriors, ranking))
        ),
        kappa_ndcg=quality,
        overlap=_rounded(found.overlap(listed)),
        error_model=(_all_rounded(found.errors[0]), _all_rounded(found.errors[1])),
    )


def _others(posteriors: dict[ItemId, ItemPosterior], ranking: Sequence[ItemId]) -> list[ItemId]:
    """Return the pages outside ``ranking`` that may be in the top k, most probable first."""
    others = [
        item for item in posteriors.keys() - set(ranking) if posteriors[item].in_top >= _LEAST
    ]
    return sorted(others, key=lambda item: (-posteriors[item].in_top, item))


def _page(item: ItemId, posterior: ItemPosterior) -> PageConfidence:
    return PageConfidence(item, round(posterior.in_top, _DIGITS), posterior.low, posterior.high)


def _rounded(value: Expected) -> Expected:
    return Expected(*_all_rounded((value.mean, value.low, value.high)))


def _all_rounded(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(value, _DIGITS) for value in values)
