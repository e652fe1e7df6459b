"""The posterior against weighted draws from the prior, question choice, stated quality."""

from dataclasses import replace
from math import erf, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from topkapi.analysis.metrics import kappa_ndcg_of_lists
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.robust.conclusion import conclude, discounts, gains
from topkapi.app.domain.pairs.robust.error_prior import (
    GENERAL,
    LAPSES,
    TAUS,
    ErrorPrior,
    error_rates,
)
from topkapi.app.domain.pairs.robust.normal import density, distribution
from topkapi.app.domain.pairs.robust.posterior import Posterior
from topkapi.app.domain.pairs.robust.question import best_question, sampled
from topkapi.app.domain.pairs.robust.sorter import Answered, Event, Removed, RobustSorter, Rules
from topkapi.app.domain.pairs.simulated_assessors import (
    Errors,
    SimulatedAssessor,
    by_worth,
    true_worths,
)

FloatArray = NDArray[np.float64]
FIRST, SECOND, TIE = Preference.FIRST, Preference.SECOND, Preference.TIE
ANSWERS = [(0, 1), (1, 2), (2, 0), (3, 1), (3, 0), (2, 4), (0, 4)]  # winner, loser; with a cycle
STRICT = [Answered(pair, FIRST) for pair in ANSWERS]
WITH_TIES = [*STRICT, Answered((1, 4), TIE), Answered((2, 3), TIE), Answered((4, 3), SECOND)]


class Weighted:
    """Draws from the prior of scores and error models, weighted by the likelihood of answers."""

    def __init__(self, n: int, told: list[Answered], draws: int = 400_000) -> None:
        rng = np.random.default_rng(5)
        cells = rng.choice(len(GENERAL.logs), draws, p=_shares(GENERAL))
        tau, self.lapse = TAUS[cells // LAPSES.size], LAPSES[cells % LAPSES.size]
        self.log_tau = np.log(tau)
        scores = rng.standard_normal((n, draws)) * tau
        ties = sum(each.preference is TIE for each in told)
        share = (ties + 0.5) / (len(told) + 10) if ties else 0.0
        width = sqrt(2) * _inverse_erf(share) * np.sqrt(1 + tau**2)
        weights = np.ones(draws)
        for each in told:
            apart = scores[each.pair[0]] - scores[each.pair[1]]
            first, second = _below(apart - width), _below(-apart - width)
            chance = {FIRST: first, SECOND: second, TIE: 1 - first - second}[each.preference]
            random = share if each.preference is TIE else (1 - share) / 2
            weights *= self.lapse * random + (1 - self.lapse) * chance
        self.weights = weights / weights.sum()
        self.ranks = (-scores).argsort(axis=0).argsort(axis=0)

    def mean(self, values: FloatArray) -> float:
        return float(self.weights @ values)


def _shares(prior: ErrorPrior) -> FloatArray:
    shares = np.exp(np.array(prior.logs))
    return np.asarray(shares / shares.sum())


_GRID = np.linspace(-9, 9, 20_001)
_BELOW = np.array([0.5 * (1 + erf(each / sqrt(2))) for each in _GRID])


def _below(values: FloatArray) -> FloatArray:
    return np.asarray(np.interp(values, _GRID, _BELOW))


def _inverse_erf(share: float) -> float:
    return float(np.interp((1 + share) / 2, _BELOW, _GRID)) / sqrt(2)


def sorter_after(n: int, k: int, steps: list[Event], goal: Goal = Goal.ORDER) -> RobustSorter:
    sorter = RobustSorter(n, k, Rules(goal=goal), "1")
    for step in steps:
        sorter.take(step)
    return sorter


@pytest.mark.parametrize("told", [STRICT, WITH_TIES], ids=["strict", "ties"])
def test_ranks_quality_and_errors_are_nearly_those_of_weighted_prior_draws(
    told: list[Answered],
) -> None:
    n, k = 5, 2
    exact, sorter = Weighted(n, told), sorter_after(n, k, [*told])
    found = sorter.conclude()
    gain = np.zeros(n)
    gain[:k] = gains(k)
    for each in found.pages:
        ranks = exact.ranks[each.item]
        assert each.in_top == pytest.approx(exact.mean(ranks < k), abs=0.06)
        inside = (ranks + 1 >= each.low) & (ranks + 1 <= each.high)
        assert exact.mean(inside) >= 0.9 - 0.04
    quality = sum(
        exact.mean(gain[exact.ranks[index]]) * discount
        for index, discount in zip(found.ranking, discounts(k), strict=True)
    ) / float(gain[:k] @ discounts(k))
    overlap = sum(exact.mean(exact.ranks[index] < k) for index in found.ranking) / k
    assert found.kappa_ndcg().mean == pytest.approx(quality, abs=0.05)
    assert found.overlap().mean == pytest.approx(overlap, abs=0.05)
    cells = sorter._posterior.cells_of(0)
    assert cells.sum() == pytest.approx(1.0)
    assert cells.sum(axis=1) @ np.log(TAUS) == pytest.approx(exact.mean(exact.log_tau), abs=0.12)
    assert cells.sum(axis=0) @ LAPSES == pytest.approx(exact.mean(exact.lapse), abs=0.03)


def test_intervals_are_quantiles_of_the_measures_over_the_samples() -> None:
    found = sorter_after(5, 2, [*STRICT]).conclude()
    true = kappa_ndcg_of_lists(
        found.ranks[:, [found.living.index(each) for each in found.ranking]], 2
    )
    measured = found.kappa_ndcg()
    assert measured.mean == pytest.approx(true.mean())
    assert (measured.low, measured.high) == pytest.approx(tuple(np.quantile(true, (0.05, 0.95))))
    assert found.overlap().low in (0.0, 0.5, 1.0)


def test_of_a_removed_document_only_what_its_answers_tell_of_the_person_stays() -> None:
    found = sorter_after(5, 2, [*STRICT, Removed(1)]).conclude()
    others = [0, 2, 3, 4]
    told = [
        Answered((others.index(a), others.index(b)), FIRST) for a, b in ANSWERS if 1 not in (a, b)
    ]
    exact = Weighted(4, told)
    assert [each.item for each in found.pages] == others
    for each in found.pages:
        chance = exact.mean(exact.ranks[others.index(each.item)] < 2)
        assert each.in_top == pytest.approx(chance, abs=0.1)


@given(st.floats(-30, 30))
def test_the_normal_distribution_is_accurate(value: float) -> None:
    assert float(distribution(np.array(value))) == pytest.approx(
        0.5 * (1 + erf(value / sqrt(2))), abs=1e-6
    )
    nearby = distribution(np.array([value + 1e-3, value - 1e-3]))
    assert float(density(np.array(value))) == pytest.approx(
        (nearby[0] - nearby[1]) / 2e-3, abs=1e-3
    )


def test_error_rates_average_the_errors_over_random_pairs() -> None:
    rng = np.random.default_rng(2)
    apart = np.abs(rng.standard_normal(400_000) - rng.standard_normal(400_000))
    for row, tau in enumerate(TAUS):
        close = float(_below(-tau * apart).mean())
        for lapse, rate in zip(LAPSES, error_rates()[row], strict=True):
            assert rate == pytest.approx(lapse / 2 + (1 - lapse) * close, abs=0.002)


def test_a_prior_that_is_sure_keeps_its_error_model() -> None:
    logs = np.full((TAUS.size, LAPSES.size), -20.0)
    logs[2, 3] = 0.0
    sorter = RobustSorter(6, 2, Rules(priors=(ErrorPrior.of(logs.ravel()),)), "1")
    sorter.take(Answered((0, 1), FIRST))
    means, variances = sorter.conclude().people[0]
    assert means[0] == pytest.approx(np.log(LAPSES[3] / (1 - LAPSES[3])), abs=0.01)
    assert means[1] == pytest.approx(np.log(1 / (1.7 * TAUS[2])), abs=0.01)
    assert max(variances) < 0.01
    assert sorter._posterior.error_rate_of(0) == pytest.approx(error_rates()[2, 3], abs=0.01)


@pytest.mark.parametrize("far", [0, 40])
@pytest.mark.parametrize("goal", list(Goal))
def test_the_question_is_least_known_about_the_pages_that_matter_most(
    goal: Goal, far: float
) -> None:
    """Compare with every pair, the variances of the answer given the scores and in all.

    Only differences of scores count, however far they are from those before the first answer.
    """
    n, k = 6, 3
    posterior = Posterior(n, (GENERAL,))
    for pair, preference in (((0, 1), FIRST), ((2, 3), SECOND), ((1, 2), FIRST)):
        posterior.take(pair, preference)
    drawn = sampled(posterior, k, 400, np.random.default_rng(1))
    drawn = replace(drawn, scores=drawn.scores + far)
    fade = {Goal.ORDER: 0.8, Goal.MEMBERS: 1.0}[goal]
    worth = np.zeros(drawn.scores.shape)
    for row, best in enumerate(drawn.best):
        worth[row, best] = fade ** np.arange(best.size)
    lapse = posterior.lapses()[drawn.points, 0]
    told = {}
    for second in range(n):
        for first in range(second):
            if posterior.asked[first, second]:
                continue
            apart = drawn.scores[:, first] - drawn.scores[:, second]
            chance = lapse / 2 + (1 - lapse) / (1 + np.exp(-1.702 * apart))
            whole = chance.mean() * (1 - chance.mean())
            by_chance = (chance * (1 - chance)).mean()
            told[first, second] = (1 - by_chance / whole) * worth.std(axis=0)[[first, second]].sum()
    asked = best_question(posterior, drawn, share=0.0, limit=1, goal=goal)
    assert asked is not None
    assert told[min(asked), max(asked)] == pytest.approx(max(told.values()), rel=1e-3)
    assert drawn.scores[:, asked[0]].mean() >= drawn.scores[:, asked[1]].mean() - 0.2


def test_no_page_is_asked_about_much_more_often_than_the_others() -> None:
    sorter = RobustSorter(30, 5, Rules(), "1")
    for _ in range(90):
        pair = sorter.ask()
        assert pair is not None
        sorter.take(Answered(pair, FIRST if min(pair) == pair[0] else SECOND))
    times = sorter._posterior.asked.sum(axis=1)
    assert times.min() > 0
    assert times.max() <= np.median(times) + 15


def test_for_members_sure_ones_are_not_compared() -> None:
    n, k = 60, 25
    sorter = RobustSorter(n, k, Rules(limit=1000, goal=Goal.MEMBERS), "1")
    for upper in range(20):
        for lower in range(20, n, 2):
            sorter.take(Answered((upper, lower), FIRST))
    pair = sorter.ask()
    assert pair is not None
    assert min(pair) >= 20


def test_gains_are_those_of_the_measure() -> None:
    ideal = float(gains(4) @ discounts(4))
    swapped = kappa_ndcg_of_lists(np.array([[1, 0, 2, 3]]), 4)[0]
    assert float(gains(4)[[1, 0, 2, 3]] @ discounts(4)) / ideal == pytest.approx(swapped)


def test_a_session_stops_at_the_quality_that_it_states() -> None:
    sorter = sorter_after(6, 3, [*STRICT])
    stated = sorter.conclude().kappa_ndcg().mean
    assert sorter.may_stop_at(min(stated, sorter.quality()) - 0.01)
    assert not sorter.may_stop_at(stated + 0.01)


def test_members_are_listed_by_their_probability_of_belonging() -> None:
    found = sorter_after(5, 2, [*STRICT], Goal.MEMBERS).conclude()
    chances = {each.item: each.in_top for each in found.pages}
    assert min(chances[each] for each in found.ranking) >= max(
        chance for index, chance in chances.items() if index not in found.ranking
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("errors", "error"), [(Errors.UNIFORM, 0.05), (Errors.UNIFORM, 0.2), (Errors.NORMAL, 0.1)]
)
def test_the_stated_quality_is_honest(errors: Errors, error: float) -> None:
    """Check that over 40 short sessions the sorter states little less than is true, and not more.

    So few answers leave the error model to its prior, which is wider than any of these assessors.
    """
    n, k, questions = 16, 4, 32
    stated, true = [], []
    for number in range(40):
        random = Random(f"honest/{error}/{number}")
        worth = true_worths(n, 0, random, errors)
        rank = {item: index for index, item in enumerate(by_worth(worth))}
        assessor = SimulatedAssessor(worth, error=error, errors=errors, random=random)
        sorter = RobustSorter(n, k, Rules(questions, None, 3), f"{number}")
        for _ in range(questions):
            pair = sorter.ask()
            assert pair is not None
            sorter.take(Answered(pair, assessor.prefer(pair)))
        found = sorter.conclude()
        stated.append(found.kappa_ndcg().mean)
        ranks = np.array([[rank[item] for item in found.ranking]])
        true.append(float(kappa_ndcg_of_lists(ranks, k)[0]))
    assert -0.12 < np.mean(stated) - np.mean(true) < 0.03
    assert np.mean(true) > (0.6 if error == 0.2 else 0.85)


def test_nothing_is_believed_of_documents_that_were_not_compared() -> None:
    sorter = RobustSorter(100, 10, Rules(), "1")
    for first in range(0, 80, 2):
        sorter.take(Answered((first, first + 1), FIRST))
    scores, points = sorter._posterior.draw(2000, np.random.default_rng(1), 60)
    spread = TAUS[sorter._posterior.taus[points]]
    means = (scores[:, 80:] / spread[:, None]).mean(axis=0)
    assert means.std() < 2 / sqrt(2000)


def test_points_without_weight_are_dropped_and_the_bytes_are_bounded() -> None:
    sorter = RobustSorter(300, 10, Rules(), "1")
    for number in range(300):
        first, second = number, (number * 7 + 1) % 300
        if first != second:
            sorter.take(Answered((min(first, second), max(first, second)), FIRST))
    assert sorter._posterior.logs.size < TAUS.size
    assert sorter.nbytes < 12_000_000


def test_a_session_without_documents_may_stop() -> None:
    sorter = RobustSorter(2, 1, Rules(), "0")
    for index in range(2):
        sorter.take(Removed(index))
    assert sorter.ask() is None
    assert sorter.may_stop_at(0.9)
    assert sorter.conclude().kappa_ndcg().mean == 1.0


def test_no_documents_conclude_nothing() -> None:
    found = conclude(Posterior(0, (GENERAL,)), 3, np.random.default_rng(0))
    assert found.ranking == ()
    assert found.kappa_ndcg().mean == found.overlap().mean == 1.0


def test_the_same_answers_give_the_same_list_on_every_processor() -> None:
    """Recorded on x86-64; linear algebra of other processors differs in the last digits."""
    sorter = RobustSorter(12, 3, Rules(), "recorded")
    for number in range(48):
        first, second = number % 12, (number * 5 + number // 12 + 1) % 12
        if first != second:
            better = (first < second) != (number % 7 == 3)
            sorter.take(Answered((first, second), FIRST if better else Preference.SECOND))
    found = sorter.conclude()
    assert found.ranking == (0, 4, 1)
    inside = (0.863, 0.508, 0.043, 0.327, 0.626, 0.098, 0.373, 0.013, 0.007, 0.129, 0.013, 0.001)
    assert [page.in_top for page in found.pages] == pytest.approx(inside, abs=0.005)
    stated = (found.kappa_ndcg().mean, found.overlap().mean, found.error_rate)
    assert stated == pytest.approx((0.711, 0.666, 0.224), abs=0.005)
