"""The posterior: chains against all enumerated orders, question choice, stated quality."""

from collections.abc import Iterator
from itertools import permutations
from math import lgamma
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from topkapi.analysis.metrics import kappa_ndcg_of_lists
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import conclude
from topkapi.app.domain.pairs.robust.gains import discounts, gains, interest
from topkapi.app.domain.pairs.robust.gibbs import TIE_WIDTH
from topkapi.app.domain.pairs.robust.posterior import ERROR_PRIOR, Posterior
from topkapi.app.domain.pairs.robust.question import best_question, worths
from topkapi.app.domain.pairs.robust.sampled import Rules, open_sorter
from topkapi.app.domain.pairs.robust.sorter import Removed, RobustSorter, Told
from topkapi.app.domain.pairs.simulated_assessors import SimulatedAssessor, by_worth, true_worths

FloatArray = NDArray[np.float64]
FIRST, SECOND, TIE = Preference.FIRST, Preference.SECOND, Preference.TIE
ANSWERS = [(0, 1), (1, 2), (2, 0), (3, 1), (3, 0), (2, 4), (0, 4)]  # winner, loser; with a cycle


def enumerated(n: int, answers: list[tuple[int, int]]) -> dict[tuple[int, ...], float]:
    """Return the probability of every order, with the error rate integrated out."""
    weights = {}
    for order in permutations(range(n)):
        wrong = sum(order.index(winner) > order.index(loser) for winner, loser in answers)
        right = len(answers) - wrong
        weights[order] = np.exp(
            lgamma(ERROR_PRIOR[0] + wrong)
            + lgamma(ERROR_PRIOR[1] + right)
            - lgamma(sum(ERROR_PRIOR) + len(answers))
        )
    total = sum(weights.values())
    return {order: weight / total for order, weight in weights.items()}


def sorter_after(n: int, k: int, answers: list[tuple[int, int]], seed: int = 1) -> RobustSorter:
    sorter = RobustSorter(n, k, seed=seed, span=20, chains=2000)
    for pair in answers:
        sorter.take(Told(pair, FIRST))
    return sorter


def test_chances_ranks_and_quality_are_those_of_all_orders_enumerated() -> None:
    n, k = 5, 2
    exact = enumerated(n, ANSWERS)
    found = sorter_after(n, k, ANSWERS).conclude()
    gain = gains(k)
    expected = np.zeros(n)
    for order, chance in exact.items():
        expected[list(order[:k])] += chance * gain
    for each in found.item_posteriors:
        chance = sum(p for order, p in exact.items() if each.index in order[:k])
        assert each.in_top == pytest.approx(chance, abs=0.02)
        ranks = np.array([order.index(each.index) + 1 for order in exact])
        shares = np.array(list(exact.values()))
        assert shares[(ranks >= each.low) & (ranks <= each.high)].sum() >= 0.9 - 0.02
    best = np.sort(expected)[::-1][:k]
    ideal = gain @ discounts(k)
    assert found.quality == pytest.approx(best @ discounts(k) / ideal, abs=0.02)
    assert set(found.ranking) == set(np.argsort(-expected)[:k].tolist())


def test_the_error_rate_is_the_one_of_all_orders_enumerated() -> None:
    exact = enumerated(5, ANSWERS)
    mean = 0.0
    for order, chance in exact.items():
        wrong = sum(order.index(winner) > order.index(loser) for winner, loser in ANSWERS)
        mean += chance * (ERROR_PRIOR[0] + wrong) / (sum(ERROR_PRIOR) + len(ANSWERS))
    assert sorter_after(5, 2, ANSWERS).conclude().error_rate == pytest.approx(mean, abs=0.01)


def test_a_removed_document_leaves_as_if_it_had_never_been_compared() -> None:
    sorter = sorter_after(5, 2, ANSWERS)
    sorter.take(Removed(1))
    found = sorter.conclude()
    others = [0, 2, 3, 4]
    answers = [(others.index(a), others.index(b)) for a, b in ANSWERS if 1 not in (a, b)]
    exact = enumerated(4, answers)
    assert [each.index for each in found.item_posteriors] == others
    for each in found.item_posteriors:
        position = others.index(each.index)
        chance = sum(p for order, p in exact.items() if position in order[:2])
        assert each.in_top == pytest.approx(chance, abs=0.025)


def answered(
    posterior: Posterior, weights: FloatArray, pair: Pair
) -> Iterator[tuple[float, FloatArray]]:
    """Yield the probability of each answer about ``pair``, and the chain weights given it."""
    above = posterior.scores[pair[0]] > posterior.scores[pair[1]]
    for answer in (True, False):
        weighed = weights * np.where(above == answer, 1 - posterior.errors, posterior.errors)
        yield float(weighed.sum()), weighed / weighed.sum()


def variances(table: FloatArray, weights: FloatArray) -> float:
    means = table @ weights
    return float((weights * (table - means[:, None]) ** 2).sum())


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_the_question_and_the_next_one_lower_the_variances_most(seed: int, limit: int) -> None:
    """Compare with every pair, both answers, every next pair and both answers to it."""
    n, k = 5, 3
    random = np.random.default_rng(seed)
    posterior = Posterior(n, random, chains=400)
    for pair in ((0, 1), (2, 3)):
        posterior.record(pair, FIRST)
    for _ in range(5):
        posterior.move(range(n), random)
    table = worths(posterior, k, 0.8)
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

    asked = best_question(posterior, k, fade=0.8, limit=limit)
    assert asked is not None
    least = min(map(left_by_two, pairs))
    assert left_by_two(asked) == pytest.approx(least, rel=1e-5)


def test_a_tie_draws_two_documents_together_as_much_as_its_weight_says() -> None:
    sorter = RobustSorter(2, 1, seed=1, span=20, chains=4000)
    sorter.take(Told((0, 1), TIE))
    near = np.abs(sorter._posterior.scores[0] - sorter._posterior.scores[1]) <= TIE_WIDTH
    area = 1 - (1 - TIE_WIDTH) ** 2
    errors = sorter._posterior.errors
    doubted = np.sqrt(errors / (1 - errors))
    expected = float((area / (area + (1 - area) * doubted)).mean())
    assert float(near.mean()) == pytest.approx(expected, abs=0.03)
    assert expected > 2 * area


def test_interest_sums_to_one_and_gains_are_those_of_the_measure() -> None:
    assert interest(10, 0.7).sum() == pytest.approx(1.0)
    ideal = float(gains(4) @ discounts(4))
    swapped = kappa_ndcg_of_lists(np.array([[1, 0, 2, 3]]), 4)[0]
    assert float(gains(4)[[1, 0, 2, 3]] @ discounts(4)) / ideal == pytest.approx(swapped)


@pytest.mark.parametrize("error", [0.05, 0.2])
def test_the_stated_quality_is_honest(error: float) -> None:
    """Check that over 40 sessions the means differ by less than 3.5 standard errors."""
    n, k, questions = 16, 4, 32
    stated, true = [], []
    for number in range(40):
        random = Random(f"honest/{error}/{number}")
        worth = true_worths(n, 0, random)
        rank = {item: index for index, item in enumerate(by_worth(worth))}
        assessor = SimulatedAssessor(worth, error=error, random=random)
        sorter = open_sorter(n, k, Rules(questions, None, 3), f"{number}")
        for _ in range(questions):
            pair = sorter.ask()
            assert pair is not None
            sorter.take(Told(pair, assessor.prefer(pair)))
        found = sorter.conclude()
        stated.append(found.quality)
        ranks = np.array([[rank[item] for item in found.ranking]])
        true.append(float(kappa_ndcg_of_lists(ranks, k)[0]))
    spread = float(np.std(np.array(stated) - np.array(true), ddof=1)) / 40**0.5
    assert abs(np.mean(stated) - np.mean(true)) < max(0.03, 3.5 * spread)
    assert np.mean(true) > (0.85 if error < 0.1 else 0.6)


def test_no_documents_conclude_nothing() -> None:
    empty = conclude(Posterior(0, np.random.default_rng(0)), 3, np.random.default_rng(0))
    assert empty.ranking == ()
    assert empty.quality == 1.0
