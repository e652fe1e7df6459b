"""The posterior: chains against weighted draws from the prior, question choice, stated quality."""

from collections.abc import Iterator
from itertools import product
from math import erf, exp, log, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from topkapi.analysis.metrics import kappa_ndcg_of_lists
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import conclude
from topkapi.app.domain.pairs.robust.error_prior import ErrorPrior, error_rates
from topkapi.app.domain.pairs.robust.gains import discounts, gains, interest
from topkapi.app.domain.pairs.robust.moves import answer_probability, by_lapse, pair_probabilities
from topkapi.app.domain.pairs.robust.posterior import CHAINS, Posterior
from topkapi.app.domain.pairs.robust.question import (
    best_question,
    by_mean_worth,
    by_variance,
    weights_of,
)
from topkapi.app.domain.pairs.robust.sampled import Rules, open_sorter
from topkapi.app.domain.pairs.robust.sorter import Answered, Event, Removed, RobustSorter
from topkapi.app.domain.pairs.robust.special import logistic, probability, quantile
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
    """Draws from the prior, weighted by the likelihood as the model's formulas say."""

    def __init__(self, n: int, told: list[Answered], draws: int = 400_000) -> None:
        rng = np.random.default_rng(5)
        self.models = ErrorPrior().draw(draws, rng)
        lapse, width, tie_ratio, evenness = self.models.T
        tie_width = tie_ratio * width
        scores = rng.standard_normal((n, draws))
        shares = _normal_shares(scores)
        worth = (1 - evenness) * scores + evenness * (shares - 0.5) * sqrt(12)
        ties = sum(each.preference is TIE for each in told) / (len(told) + 1)
        if not ties:
            tie_width = np.zeros(draws)
        weights = np.ones(draws)
        for each in told:
            apart = worth[each.pair[0]] - worth[each.pair[1]]
            first = (1 - lapse) * _logistic((apart - tie_width) / width) + lapse * (1 - ties) / 2
            second = (1 - lapse) * _logistic((-apart - tie_width) / width) + lapse * (1 - ties) / 2
            weights *= {FIRST: first, SECOND: second, TIE: 1 - first - second}[each.preference]
        self.weights = weights / weights.sum()
        self.ranks = (-scores).argsort(axis=0).argsort(axis=0)

    def mean(self, values: FloatArray) -> float:
        return float(self.weights @ values)


def _normal_shares(scores: FloatArray) -> FloatArray:
    grid = np.linspace(-6, 6, 20_001)
    return np.interp(scores, grid, [0.5 * (1 + erf(each / sqrt(2))) for each in grid])


def _logistic(values: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -500, 500))))


def sorter_after(n: int, k: int, steps: list[Event], goal: Goal = Goal.ORDER) -> RobustSorter:
    """Return a sorter whose chains have moved often enough to be independent of their start."""
    sorter = RobustSorter(n, k, seed=1, span=20, goal=goal, chains=2000)
    for step in steps:
        sorter.take(step)
    states = np.arange(1, 2001, dtype=np.uint64) << np.uint64(40)
    for _ in range(80):
        sorter._posterior.move(sorter._posterior.living, states)
        sorter._posterior.move_models(states)
    return sorter


@pytest.mark.thorough
@pytest.mark.parametrize("told", [STRICT, WITH_TIES], ids=["strict", "ties"])
def test_ranks_quality_and_errors_are_those_of_weighted_prior_draws(told: list[Answered]) -> None:
    n, k = 5, 2
    exact, found = Weighted(n, told), sorter_after(n, k, [*told]).conclude()
    gain = np.zeros(n)
    gain[:k] = gains(k)
    for each in found.item_posteriors:
        ranks = exact.ranks[each.index]
        assert each.in_top == pytest.approx(exact.mean(ranks < k), abs=0.02)
        inside = (ranks + 1 >= each.low) & (ranks + 1 <= each.high)
        assert exact.mean(inside) >= 0.9 - 0.02
    quality = sum(
        exact.mean(gain[exact.ranks[index]]) * discount
        for index, discount in zip(found.ranking, discounts(k), strict=True)
    ) / float(gain[:k] @ discounts(k))
    overlap = sum(exact.mean(exact.ranks[index] < k) for index in found.ranking) / k
    assert found.kappa_ndcg().mean == pytest.approx(quality, abs=0.02)
    assert found.overlap().mean == pytest.approx(overlap, abs=0.02)
    lapse, width, tie_ratio, evenness = exact.models.T
    expected = [np.log(lapse / (1 - lapse)), np.log(width), np.log(tie_ratio), evenness]
    for column, values in enumerate(expected):
        if column == 2 and told is STRICT:
            continue  # without ties nothing is learned about their width
        assert found.errors[0][column] == pytest.approx(exact.mean(values), abs=0.12)


@pytest.mark.thorough
def test_intervals_are_quantiles_of_the_measures_over_the_samples() -> None:
    found = sorter_after(5, 2, [*STRICT]).conclude()
    true = kappa_ndcg_of_lists(
        found.ranks[:, [found.living.index(each) for each in found.ranking]], 2
    )
    measured = found.kappa_ndcg()
    assert measured.mean == pytest.approx(true.mean())
    assert (measured.low, measured.high) == pytest.approx(tuple(np.quantile(true, (0.05, 0.95))))
    assert found.overlap().low in (0.0, 0.5, 1.0)


@pytest.mark.thorough
def test_a_removed_document_leaves_as_if_it_had_never_been_compared() -> None:
    found = sorter_after(5, 2, [*STRICT, Removed(1)]).conclude()
    others = [0, 2, 3, 4]
    told = [
        Answered((others.index(a), others.index(b)), FIRST) for a, b in ANSWERS if 1 not in (a, b)
    ]
    exact = Weighted(4, told)
    assert [each.index for each in found.item_posteriors] == others
    for each in found.item_posteriors:
        chance = exact.mean(exact.ranks[others.index(each.index)] < 2)
        assert each.in_top == pytest.approx(chance, abs=0.025)


@given(
    difference=st.floats(-4, 4),
    lapse=st.floats(0.002, 0.95),
    width=st.floats(0.01, 2),
    tie_width=st.floats(0, 2),
    tied=st.floats(0, 1),
)
def test_the_probabilities_of_the_answers_are_those_of_the_model_and_sum_to_one(
    difference: float, lapse: float, width: float, tie_width: float, tied: float
) -> None:
    def link(value: float) -> float:
        return 1 / (1 + exp(-max(-500.0, min(500.0, value / width))))

    found = [
        answer_probability(
            difference,
            answer,
            1 - lapse,
            by_lapse(answer, lapse, tied),
            tie_width / width,
            1 / width,
        )
        for answer in (1.0, -1.0, 0.0)
    ]
    first = (1 - lapse) * link(difference - tie_width) + lapse * (1 - tied) / 2
    second = (1 - lapse) * link(-difference - tie_width) + lapse * (1 - tied) / 2
    assert found == pytest.approx([first, second, 1 - first - second], abs=1e-4)


@given(share=st.floats(1e-5, 1 - 1e-5), value=st.floats(-20, 20))
def test_compiled_special_functions_are_accurate(share: float, value: float) -> None:
    assert probability(quantile(share)) == pytest.approx(share, abs=1e-7)
    assert logistic(value) == pytest.approx(1 / (1 + exp(-value)), abs=2e-5)


def test_error_rates_average_the_errors_over_random_pairs() -> None:
    models = np.array([[0.2, 0.22, 0.1, 0.0], [0.002, 0.002, 0.1, 0.0], [0.1, 1.0, 0.1, 0.0]])
    rng = np.random.default_rng(2)
    apart = np.abs(rng.standard_normal(400_000) - rng.standard_normal(400_000))
    for model, rate in zip(models, error_rates(models), strict=True):
        errors = model[0] / 2 + (1 - model[0]) / (1 + np.exp(np.minimum(apart / model[1], 700)))
        assert rate == pytest.approx(float(errors.mean()), abs=0.002)


def test_a_learned_prior_moves_the_error_model() -> None:
    learned = ErrorPrior.of((log(0.3 / 0.7), log(0.5)), (25.0, 25.0))
    sorter = RobustSorter(6, 2, seed=1, span=10, priors=(learned,), chains=2000)
    sorter.take(Answered((0, 1), FIRST))
    means, variances_of = sorter.conclude().errors
    assert means[:2] == pytest.approx((log(0.3 / 0.7), log(0.5)), abs=0.05)
    assert variances_of[0] == pytest.approx(1 / 25, rel=0.2)


def answered(
    posterior: Posterior, weights: FloatArray, pair: Pair
) -> Iterator[tuple[float, FloatArray]]:
    """Yield the probability of each answer about ``pair``, and the chain weights given it."""
    first, second = np.array([pair[0]]), np.array([pair[1]])
    for chance in pair_probabilities(posterior.v, first, second, posterior.models, posterior.tied):
        weighed = weights * chance[0]
        yield float(weighed.sum()), weighed / weighed.sum()


def worths(posterior: Posterior, weights: FloatArray) -> FloatArray:
    """Return the worth of every document in every chain: (documents, chains)."""
    ranks = (-posterior.u).argsort(axis=1).argsort(axis=1)
    return np.pad(weights, (0, posterior.n))[ranks].T


def variances(table: FloatArray, weights: FloatArray) -> float:
    means = table @ weights
    return float((weights * (table - means[:, None]) ** 2).sum())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seed", "limit", "last"), list(product(range(4), (1, 2), (FIRST, TIE))), ids=str
)
def test_the_question_and_the_next_one_lower_the_variances_most(
    seed: int, limit: int, last: Preference
) -> None:
    """Compare with every pair, every answer, every next pair and every answer to it."""
    n, k = 5, 3
    posterior = Posterior(n, np.random.default_rng(seed), chains=400)
    for pair, preference in (((0, 1), FIRST), ((2, 3), last)):
        posterior.record(pair, preference)
    states = np.arange(400, dtype=np.uint64)
    for _ in range(5):
        posterior.move(range(n), states)
        posterior.move_models(states)
    table = worths(posterior, weights_of(k, 0.8, Goal.ORDER))
    alike = np.full(400, 1 / 400)
    pairs = [(a, b) for b in range(n) for a in range(b) if posterior.asked[a, b] < limit]

    def left_by(pair: Pair, weights: FloatArray) -> float:
        return sum(
            chance * variances(table, weighed)
            for chance, weighed in answered(posterior, weights, pair)
        )

    def left_by_two(pair: Pair) -> float:
        total = 0.0
        for chance, weighed in answered(posterior, alike, pair):
            again = posterior.asked[pair] + 1 < limit
            total += chance * min(left_by(each, weighed) for each in pairs if again or each != pair)
        return total

    asked = best_question(posterior, k, fade=0.8, limit=limit, goal=Goal.ORDER)
    assert asked is not None
    least = min(map(left_by_two, pairs))
    assert left_by_two(asked) == pytest.approx(least, rel=1e-4)


def test_documents_are_listed_by_their_mean_worth() -> None:
    posterior = Posterior(9, np.random.default_rng(3))
    posterior.remove(4)
    weights = weights_of(3, 0.8, Goal.MEMBERS)
    living = np.delete(np.arange(9), 4)
    ranks = (-posterior.u[:, living]).argsort(axis=1).argsort(axis=1)
    means = np.pad(weights, (0, 9))[ranks].mean(axis=0)
    assert by_mean_worth(posterior, weights).tolist() == living[np.argsort(-means)].tolist()


@pytest.mark.thorough
def test_for_members_the_least_certain_documents_are_compared() -> None:
    """Check that sure members do not take the places of those that may or may not belong."""
    n, k = 60, 25
    sorter = RobustSorter(n, k, seed=1, span=200, limit=1000, goal=Goal.MEMBERS)
    for upper in range(20):
        for lower in range(20, n, 2):
            sorter.take(Answered((upper, lower), FIRST))
    pair = sorter.ask()
    assert pair is not None
    assert min(pair) >= 20


def test_documents_are_ordered_by_the_variance_of_their_worth() -> None:
    posterior = Posterior(9, np.random.default_rng(3))
    weights = weights_of(3, 0.98, Goal.MEMBERS)
    worth = np.zeros((posterior.chains, 9))
    for chain, best in enumerate(posterior.best(3)):
        worth[chain, best] = weights
    found = worth.var(axis=0)[by_variance(posterior, weights)]
    assert np.all(np.diff(found) <= 1e-12)


def test_interest_sums_to_one_and_gains_are_those_of_the_measure() -> None:
    assert interest(10, 0.7).sum() == pytest.approx(1.0)
    ideal = float(gains(4) @ discounts(4))
    swapped = kappa_ndcg_of_lists(np.array([[1, 0, 2, 3]]), 4)[0]
    assert float(gains(4)[[1, 0, 2, 3]] @ discounts(4)) / ideal == pytest.approx(swapped)


@pytest.mark.thorough
def test_what_stops_a_session_holds_for_wide_errors() -> None:
    sorter = sorter_after(6, 3, [*STRICT])
    found = sorter.conclude()
    column = [found.living.index(item) for item in found.ranking]
    each = kappa_ndcg_of_lists(found.ranks[:, column], 3)
    wide = each[found.widths >= np.median(found.widths)].mean()
    assert found.cautious_quality(Goal.ORDER) == pytest.approx(wide)
    assert found.kappa_ndcg().mean == pytest.approx(each.mean())
    assert sorter.may_stop_at(wide - 0.2)
    assert not sorter.may_stop_at(max(wide, found.kappa_ndcg().mean) + 0.2)


@pytest.mark.thorough
def test_members_are_listed_by_their_probability_of_belonging() -> None:
    found = sorter_after(5, 2, [*STRICT], Goal.MEMBERS).conclude()
    chances = {each.index: each.in_top for each in found.item_posteriors}
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
        sorter = open_sorter(n, k, Rules(questions, None, 3), f"{number}")
        for _ in range(questions):
            pair = sorter.ask()
            assert pair is not None
            sorter.take(Answered(pair, assessor.prefer(pair)))
        found = sorter.conclude()
        stated.append(found.kappa_ndcg().mean)
        ranks = np.array([[rank[item] for item in found.ranking]])
        true.append(float(kappa_ndcg_of_lists(ranks, k)[0]))
    assert -0.1 < np.mean(stated) - np.mean(true) < 0.03
    assert np.mean(true) > (0.6 if error == 0.2 else 0.85)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [100, 200])
def test_nothing_is_believed_of_documents_that_were_not_compared(n: int) -> None:
    """Check that their scores stay uniform, although chains are copied after every answer."""
    sorter = RobustSorter(n, 10, seed=1, span=2 * n)
    compared = 4 * n // 5
    for first in range(0, compared, 2):
        sorter.take(Answered((first, first + 1), FIRST))
    means = sorter._posterior.u[:, compared:].mean(axis=0)
    independent = 1 / sqrt(12 * CHAINS)
    assert means.std() < 2 * independent


def test_a_session_without_documents_may_stop() -> None:
    sorter = RobustSorter(2, 1, seed=0, span=4)
    for index in range(2):
        sorter.take(Removed(index))
    assert sorter.may_stop_at(0.9)
    assert sorter.conclude().kappa_ndcg().mean == 1.0


def test_no_documents_conclude_nothing() -> None:
    empty = Posterior(0, np.random.default_rng(0))
    found = conclude(empty, 3, np.zeros(200, dtype=np.uint64), Goal.ORDER)
    assert found.ranking == ()
    assert found.kappa_ndcg().mean == found.overlap().mean == 1.0
