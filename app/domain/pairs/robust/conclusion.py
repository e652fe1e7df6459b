"""Conclusion from the posterior: the list, and the confidence in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.confidence import ErrorModel, Expected, ListConfidence, PageConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.normal import FloatArray, IntArray
from topkapi.app.domain.pairs.robust.posterior import Posterior

INTERVAL = 0.9
JOINTLY = 100  # pages drawn together, if that many were asked about
DRAWS = 2000
_TAILS = ((1.0 - INTERVAL) / 2.0, (1.0 + INTERVAL) / 2.0)
_LEAST = 0.001  # pages with a smaller probability of being in the top k are omitted
_DIGITS = 4  # further digits are sampling noise


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The most probable list with its expected quality, and what was learned of the assessor.

    ``pages`` are the documents ``living``, by index, and ``ranks`` their sampled ranks, counted
    from 0: (samples, documents). ``people`` has the means and variances of each person's error
    model (`error_prior.moments`).
    """

    k: int
    ranking: tuple[int, ...]
    pages: tuple[PageConfidence, ...]
    ranks: IntArray
    error_rate: float
    people: tuple[ErrorModel, ...]

    @property
    def living(self) -> tuple[int, ...]:
        """The documents that were not removed, in the order of the ranks."""
        return tuple(page.item for page in self.pages)

    def kappa_ndcg(self, listed: Sequence[int] = ()) -> Expected:
        """Return the expected kappa-NDCG of ``listed``, by default of the ranking."""
        return self._expected(Goal.ORDER, listed)

    def overlap(self, listed: Sequence[int] = ()) -> Expected:
        """Return the expected share of the true top k in ``listed``, by default the ranking."""
        return self._expected(Goal.MEMBERS, listed)

    def quality(self, goal: Goal) -> float:
        """Return the expected quality for ``goal``."""
        return self._expected(goal, ()).mean

    def _expected(self, goal: Goal, listed: Sequence[int]) -> Expected:
        """Return the gains of the listed documents over those of the true list."""
        gain, discount = _measure(self.k, len(self.living), goal)
        if not gain.any():
            return Expected(1.0, 1.0, 1.0)
        column = {index: number for number, index in enumerate(self.living)}
        total = np.zeros(len(self.ranks))
        for index, weight in zip(listed or self.ranking, discount, strict=False):
            if index in column:  # a removed document has gain 0
                total += weight * gain[self.ranks[:, column[index]]]
        low, high = np.quantile(total, _TAILS)
        return Expected(float(total.mean()), float(low), float(high))


def gains(k: int) -> FloatArray:
    """Return the gains of the true ranks 1 to k, (2^(k + 1 - rank) - 1) / 2^k (Niu et al. 2012)."""
    return np.asarray(np.exp2(-np.arange(k, dtype=float)) - 2.0**-k)


def discounts(k: int) -> FloatArray:
    """Return the discounts of the positions 1 to k of a list, 1 / log2(1 + position)."""
    return np.asarray(1.0 / np.log2(np.arange(2, k + 2)))


def _measure(k: int, n: int, goal: Goal) -> tuple[FloatArray, FloatArray]:
    """Return gains of ``n`` true ranks and discounts of places; the best list has 1."""
    size, gain = min(k, n), np.zeros(n)
    gain[:size] = gains(k)[:size] if goal is Goal.ORDER else 1.0
    discount = discounts(k) if goal is Goal.ORDER else np.ones(k)
    return gain, discount / max(float(gain[:size] @ discount[:size]), 1e-9)


def quality_of(best: IntArray, k: int, goal: Goal) -> float:
    """Return the expected kappa-NDCG, or overlap, of the best list given draws of the best pages.

    It is a little too high: the list is chosen by the draws that it is measured by.
    """
    best = best[:, :k]
    if not best.shape[1]:
        return 1.0
    gain, discount = _measure(k, best.shape[1], goal)
    mean = np.bincount(best.ravel(), np.tile(gain, best.shape[0])) / best.shape[0]
    top = np.sort(mean)[::-1][: gain.size]
    return float(top @ discount[: top.size])


def conclude(posterior: Posterior, k: int, rng: np.random.Generator) -> Conclusion:
    """Draw scores, and summarize the ranks.

    The documents most probably in the top k are listed by expected gain, which maximizes the
    expected DCG. (Those with the largest expected gain are hardly ever others.)
    """
    living = posterior.living
    count = int(np.clip(200_000 // max(1, living.size), 500, DRAWS))
    scores, points = posterior.draw(count, rng, JOINTLY)
    if posterior.guided:
        scores = posterior.of_everybody(scores, points)
    ranks = (-scores[:, living]).argsort(axis=1).argsort(axis=1)
    gain, _ = _measure(k, living.size, Goal.ORDER)
    inside = (ranks < k).mean(axis=0)
    listed = np.argsort(-inside, kind="stable")[:k]
    listed = listed[np.argsort(-gain[ranks[:, listed]].mean(axis=0), kind="stable")]
    low, high = np.quantile(ranks, _TAILS, axis=0, method="inverted_cdf") + 1
    return Conclusion(
        k=k,
        ranking=tuple(living[listed].tolist()),
        pages=tuple(
            map(PageConfidence, living.tolist(), inside.tolist(), low.tolist(), high.tolist())
        ),
        ranks=ranks,
        error_rate=posterior.error_rate(),
        people=tuple(map(posterior.errors_of, range(posterior.people))),
    )


def confidence_from(
    found: Conclusion, plan: Plan, judgments: Sequence[Judgment], concluded: Sequence[ItemId]
) -> ListConfidence:
    """Return ``found``, the conclusion from ``judgments``, as a `ListConfidence`.

    ``concluded`` is the list of the finished session, or empty.
    """
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
        pages=_pages(found, plan, ranking),
        kappa_ndcg=quality,
        overlap=_rounded(found.overlap(listed)),
        error_model=(_all_rounded(found.people[0][0]), _all_rounded(found.people[0][1])),
    )


def _pages(found: Conclusion, plan: Plan, ranking: Sequence[ItemId]) -> tuple[PageConfidence, ...]:
    """Return the listed pages, then the others that may be in the top k, most probable first."""
    pages = {
        plan.order[each.item]: replace(
            each, item=plan.order[each.item], in_top=round(each.in_top, _DIGITS)
        )
        for each in found.pages
    }
    others = [pages[item] for item in pages.keys() - set(ranking) if pages[item].in_top >= _LEAST]
    others.sort(key=lambda each: (-each.in_top, each.item))
    return (*(pages[item] for item in ranking), *others)


def _rounded(value: Expected) -> Expected:
    return Expected(*_all_rounded((value.mean, value.low, value.high)))


def _all_rounded(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(value, _DIGITS) for value in values)
