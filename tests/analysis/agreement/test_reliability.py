"""Error rates without a ground truth: order, coverage, and silence where nothing can be told."""

import numpy as np
import pytest
from scipy import stats

from bench.error_rates import coverage
from tests.cases import each_case
from tests.simulated_study import noise_of, simulated_study
from topkapi.analysis.agreement import (
    Judgments,
    agreement,
    errors_of_answers,
    errors_of_lists,
    from_judgments,
    from_scores,
    pair_tables,
    rest_counts,
)
from topkapi.analysis.agreement.reliability import identified
from topkapi.analysis.agreement.reliability.rates import SPREAD, Population
from topkapi.analysis.typing import FloatArray

DENSE = {"assessors": 30, "queries": 12, "pairs": 60, "votes": 8000}
SPARSE = {"assessors": 100, "queries": 15, "pairs": 60, "votes": 2000}


def crowd(
    seed: int, errors: str, *, assessors: int, queries: int, pairs: int, votes: int
) -> tuple[FloatArray, Judgments]:
    """Simulate votes with known error rates: uniform errors, or normal noise of what is seen."""
    rng = np.random.default_rng(seed)
    rates = np.clip(rng.beta(2, 8, assessors), 0.005, 0.5)
    who, query = rng.integers(0, assessors, votes), rng.integers(0, queries, votes)
    ends = np.array(np.triu_indices(20, k=1)).T
    chosen = np.stack([rng.permutation(len(ends))[:pairs] for _ in range(queries)])
    left, right = ends[chosen[query, rng.integers(0, pairs, votes)]].T
    worth = rng.normal(size=(queries, 20))
    apart = worth[query, left] - worth[query, right]
    if errors == "uniform":
        turned = np.where(rng.random(votes) < rates[who], -1, 1) * apart
    else:
        turned = apart + noise_of(rates)[who] * rng.normal(0, np.sqrt(2), votes)
    answer = np.sign(turned).astype(int)
    return rates, Judgments.of(assessor=who, query=query, left=left, right=right, answer=answer)


@pytest.mark.thorough
@pytest.mark.parametrize("errors", ["uniform", "normal"])
@pytest.mark.parametrize(("design", "studies"), [(DENSE, 2), (SPARSE, 1)], ids=["dense", "sparse"])
def test_rates_order_people_better_than_agreement_and_intervals_cover(
    errors: str, design: dict[str, int], studies: int
) -> None:
    """Check 60 or 100 intervals: at least 88 % of them hold the truth.

    That is three standard errors below 95 %; of intervals that hold only 80 %, 97 of 100 samples of
    this size would be found out.
    """
    ours, plain, held = [], [], []
    for seed in range(studies):
        rates, asked = crowd(seed, errors, **design)
        votes = from_judgments(asked, design["assessors"], design["queries"])
        found = errors_of_answers(votes, seed=seed, sweeps=250)
        _, who, counts = rest_counts(pair_tables(votes))
        sums = np.zeros((rates.size, 9))
        np.add.at(sums, who, counts)
        shares = agreement(sums.reshape(-1, 3, 3))
        known = ~np.isnan(found.value) & ~np.isnan(shares)
        assert (found.value[known] > 0).all()
        ours.append(stats.spearmanr(found.value[known], rates[known]).statistic)
        plain.append(stats.spearmanr(-shares[known], rates[known]).statistic)
        held += ((found.low <= rates) & (rates <= found.high))[known].tolist()
    assert np.mean(ours) >= np.mean(plain)
    assert 0.88 <= np.mean(held) <= 0.99


@pytest.mark.thorough
@pytest.mark.parametrize("queries", [12, 100])
def test_intervals_of_few_people_cover_with_little_and_with_much_data(queries: int) -> None:
    """Check 20 studies of four people: 80 intervals, and rates that are not understated."""
    found = coverage(4, 4, queries, runs=20)
    assert 0.92 <= found["held"] <= 0.99
    assert found["understated"] <= 0.05
    assert abs(found["bias"]) < 0.005


@pytest.mark.thorough
@pytest.mark.parametrize(("queries", "rounds"), [(12, 2), (30, 4)])
def test_rates_of_lists_order_people_and_their_intervals_cover(queries: int, rounds: int) -> None:
    """Check 10 studies of seven people under both tools: 140 intervals."""
    held = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        errors = np.sort(np.clip(rng.beta(2, 8, 7), 0.02, 0.45))
        made = simulated_study(
            errors.tolist(), queries=queries, documents=20, k=5, rounds=rounds, answers=0, seed=seed
        )
        for tool in made.tools:
            tables = pair_tables(from_scores(tool.scores, 7, queries))
            found = errors_of_lists(tool.scores, tables, seed=seed)
            held += ((found.low <= errors) & (errors <= found.high)).tolist()
    assert np.mean(held) >= 0.91


def test_copies_of_answers_within_a_query_add_no_certainty() -> None:
    """Judge four documents like one: independent answers would halve the intervals."""
    _, once = crowd(0, "uniform", assessors=6, queries=8, pairs=20, votes=500)
    copied = Judgments.of(
        **{name: np.tile(getattr(once, name), 4) for name in ("assessor", "query", "answer")},
        left=np.add.outer([0, 20, 40, 60], once.left).ravel(),
        right=np.add.outer([0, 20, 40, 60], once.right).ravel(),
    )
    one, four = (errors_of_answers(from_judgments(a, 6, 8), sweeps=100) for a in (once, copied))
    assert (four.high - four.low).mean() > 0.75 * (one.high - one.low).mean()


def test_the_mean_of_people_varies_as_its_posterior() -> None:
    """Between people whose deviation is 1, and a normal prior: both variances are known."""
    population, rates = Population(np.random.default_rng(0)), np.full(12, 20)
    means = []
    for _ in range(2000):
        population.deviation = 1.0
        population.update(rates)
        means.append(population.mean)
    assert np.std(means) == pytest.approx((12 + 1 / SPREAD**2) ** -0.5, rel=0.1)


def test_two_assessors_cannot_be_told_apart() -> None:
    asked = Judgments.of(
        assessor=[0, 1] * 20,
        query=[0] * 40,
        left=np.repeat(np.arange(20), 2),
        right=np.repeat(np.arange(1, 21), 2),
        answer=[1, 1] * 15 + [1, -1] * 5,
    )
    assert np.isnan(errors_of_answers(from_judgments(asked, 2, 1)).value).all()
    alone = asked.take(asked.assessor == 0)
    assert np.isnan(errors_of_answers(from_judgments(alone, 2, 1)).value).all()


@each_case(
    ("groups", "known"),
    [
        ([(0, 1)], [False] * 5),
        ([(0, 1), (1, 2), (0, 2)], [True] * 3 + [False] * 2),
        ([(0, 1), (1, 2), (2, 3), (0, 3)], [False] * 5),
        ([(0, 1), (1, 2), (0, 2), (2, 4)], [True, True, True, False, True]),
        ([(0, 1, 2), (2, 4)], [True, True, True, False, True]),
    ],
)
def test_an_odd_ring_of_shared_items_identifies(
    groups: list[tuple[int, ...]], known: list[bool]
) -> None:
    item = np.concatenate([[number] * len(group) for number, group in enumerate(groups)])
    assert identified(item, np.concatenate(groups), 5).tolist() == known
