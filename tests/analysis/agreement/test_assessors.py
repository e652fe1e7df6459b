from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

from tests.analysis.agreement import brute
from tests.cases import each_case
from topkapi.analysis.agreement import (
    Judgments,
    count_triads,
    grouped_sums,
    left_bias,
    pair_tables,
    repeated,
    resamples,
    rest_counts,
)


def test_the_rest_of_an_assessor_is_every_table_they_are_in() -> None:
    preferences = brute.random_preferences(4, 4, 5, 6)
    query, who, counts = rest_counts(pair_tables(preferences))
    wanted = np.zeros((4, 3, 3))
    for (_, one, two), table in brute.tables(preferences).items():
        wanted[one] += table
        wanted[two] += table.T
    found = np.zeros((4, 9))
    np.add.at(found, who, counts)
    assert found.reshape(4, 3, 3).tolist() == wanted.tolist()
    assert set(query.tolist()) <= set(range(5))


def test_grouped_sums_are_weighted_sums_of_rows() -> None:
    rng = np.random.default_rng(0)
    weights = resamples(np.ones(6), draws=7, seed=1).weights
    query, group, values = rng.integers(0, 6, 20), rng.integers(0, 3, 20), rng.random((20, 2))
    found = grouped_sums(weights, query, group, values, 4)
    for draw in range(7):
        for one in range(4):
            rows = group == one
            expected = (weights[draw, query[rows], None] * values[rows]).sum(axis=0)
            assert found[draw, one] == pytest.approx(expected, abs=1e-12)


def random_session(seed: int, answers: int = 60, documents: int = 8) -> Judgments:
    rng = np.random.default_rng(seed)
    left = rng.integers(0, documents, answers)
    return Judgments.of(
        assessor=rng.integers(0, 2, answers),
        query=rng.integers(0, 2, answers),
        left=left,
        right=(left + rng.integers(1, documents, answers)) % documents,
        answer=rng.integers(-1, 2, answers),
    )


def first_answers(asked: Judgments, who: int, query: int) -> dict[tuple[int, int], int]:
    said: dict[tuple[int, int], int] = {}
    rows = zip(asked.assessor, asked.query, asked.left, asked.right, asked.answer, strict=True)
    for one, about, left, right, answer in rows:
        if (one, about) == (who, query) and (int(left), int(right)) not in said:
            said[int(left), int(right)] = int(answer)
            said[int(right), int(left)] = -int(answer)
    return said


@pytest.mark.parametrize("dense", [0, 1000])
@pytest.mark.parametrize("seed", range(8))
def test_triads_equal_looking_at_every_triple(
    seed: int, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topkapi.analysis.agreement.transitivity.DENSE_UP_TO", dense)
    asked = random_session(seed)
    found = count_triads(asked)
    for row, (who, query) in enumerate(zip(found.assessor, found.query, strict=True)):
        said = first_answers(asked, int(who), int(query))
        triples = cycles = broken = 0
        for a in range(8):
            for b in range(a + 1, 8):
                for c in range(b + 1, 8):
                    if not {(a, b), (b, c), (a, c)} <= said.keys():
                        continue
                    triples += 1
                    answers = (said[a, b], said[b, c], said[c, a])
                    cycles += answers in ((1, 1, 1), (-1, -1, -1))
                    weak = [answers.count(1), answers.count(-1)]
                    broken += min(weak) == 0 and max(weak) > 0
        assert (found.cycles[row], found.broken[row], found.triples[row]) == (
            cycles,
            broken,
            triples,
        )


def test_no_answers_have_no_triads_and_no_side() -> None:
    none = Judgments.of(assessor=[], query=[], left=[], right=[], answer=[])
    assert count_triads(none).triples.size == 0
    assert np.isnan(left_bias(none).share)
    assert repeated(none).counts.shape == (0, 3, 3)


@each_case("seed", range(5))
def test_repeats_are_compared_with_the_first_answer(seed: int) -> None:
    asked = random_session(seed)
    expected = np.zeros((3, 3))
    seen: dict[tuple[int, int, int, int], int] = {}
    rows = zip(asked.assessor, asked.query, asked.left, asked.right, asked.answer, strict=True)
    for who, query, left, right, answer in rows:
        turn = 1 if left < right else -1
        key = (int(who), int(query), int(min(left, right)), int(max(left, right)))
        if key in seen:
            expected[1 - seen[key], 1 - turn * int(answer)] += 1
        else:
            seen[key] = turn * int(answer)
    assert repeated(asked).counts.sum(axis=0).tolist() == expected.tolist()


def test_a_side_that_wins_too_often_is_noticed_and_a_fair_one_is_not() -> None:
    rng = np.random.default_rng(3)
    fixed = {"assessor": np.zeros(2000), "query": np.arange(2000) // 50}
    pair = {"left": np.zeros(2000), "right": np.ones(2000)}
    leaning = Judgments.of(**fixed, **pair, answer=np.where(rng.random(2000) < 0.6, 1, -1))
    fair = Judgments.of(**fixed, **pair, answer=np.where(rng.random(2000) < 0.5, 1, -1))
    found = left_bias(leaning)
    assert found.total == 2000
    assert 0.57 < found.share < 0.63
    assert max(found.p, found.p_queries) < 0.01
    assert min(left_bias(fair).p, left_bias(fair).p_queries) > 0.05


def test_few_queries_have_no_interval() -> None:
    sums = np.array([[3.0, 4.0], [1.0, 4.0]])
    share = lambda x: x[..., 0] / x[..., 1]  # noqa: E731
    low, high = resamples(np.array([1, 0]), draws=50).interval(sums, share)
    assert np.isnan(low)
    assert np.isnan(high)
    assert np.isnan(resamples(np.array([1, 1]), draws=50).interval(sums, share)[0])
    low, high = resamples(np.ones(6), draws=50).interval(np.tile(sums, (3, 1)), share)
    assert 0.25 <= float(low) < float(high) <= 0.75


def test_resamples_without_the_figure_are_left_out() -> None:
    drawn = replace(resamples(np.ones(6), draws=200), freedom=0)
    values = np.where(np.arange(200) % 4 == 0, np.nan, np.arange(200.0))
    low, high = drawn.ends(values)
    known = values[~np.isnan(values)]
    assert float(low) == pytest.approx(np.quantile(known, 0.025))
    assert float(high) == pytest.approx(np.quantile(known, 0.975))
    mostly = np.where(np.arange(200) % 4 == 0, 1.0, np.nan)
    assert np.isnan(drawn.ends(mostly)[0])


def test_queries_are_drawn_within_their_strata() -> None:
    strata = np.array([0] * 5 + [1] * 7 + [2, 3, 3])
    weights = resamples(np.ones(15), strata=strata, draws=300).weights
    for members in (slice(0, 5), slice(5, 12), slice(12, 15)):  # the last three drawn together
        total = weights[:, members].sum(axis=1)
        assert total == pytest.approx(np.full(300, total[0]))
    assert weights[:, 0] == pytest.approx(weights[:, 0].round(9))
    assert weights.mean(axis=0) == pytest.approx(np.ones(15), abs=0.3)
    lonely = resamples(np.ones(6), strata=np.array([0, 0, 0, 0, 0, 1]), draws=50).weights
    assert (lonely[:, 5] == 0).any()


def test_few_queries_widen_the_percentiles_as_student_needs() -> None:
    drawn = replace(resamples(np.ones(9), draws=50), freedom=8)
    values = np.arange(2001.0)
    tail = stats.norm.cdf(stats.t.ppf(0.025, 8))
    low, high = drawn.ends(values)
    assert float(low) == pytest.approx(np.quantile(values, tail))
    assert float(high) == pytest.approx(np.quantile(values, 1 - tail))
    assert tail < 0.013


def test_resampled_variance_is_unbiased_in_small_strata() -> None:
    values = np.array([1.0, 4.0, 2.0, 7.0, 5.0])
    drawn = resamples(np.ones(5), draws=20_000, seed=3)
    means = drawn.weights @ values / 5
    assert means.var() == pytest.approx(values.var(ddof=1) / 5, rel=0.05)


def test_every_resample_of_few_queries_is_taken_once() -> None:
    values = np.array([1.0, 4.0, 2.0, 7.0, 5.0])
    drawn, again = (resamples(np.ones(5), in_tail=50, seed=seed) for seed in (0, 9))
    assert np.array_equal(drawn.weights, again.weights)
    plain = sorted(sum(each) / 4 for each in product(values.tolist(), repeat=4))
    assert np.sort(drawn.weights @ values / 5) == pytest.approx(plain)
    strata = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    both = resamples(np.ones(8), strata=strata, in_tail=50).weights
    assert np.unique(both, axis=0).shape[0] == 20 * 20
    assert both.shape[0] == 64 * 64


@each_case(("queries", "apart"), [(8, 0.08), (20, 0.08), (200, 0.08)])
def test_a_tail_rests_on_fifty_resamples(queries: int, apart: float) -> None:
    values = np.random.default_rng(queries).normal(size=queries)
    ends = []
    for seed in range(6):
        drawn = resamples(np.ones(queries), in_tail=50, seed=seed)
        beyond = stats.norm.cdf(stats.t.ppf(0.025, drawn.freedom))
        assert drawn.weights.shape[0] * beyond >= 50
        ends.append(drawn.ends(drawn.weights @ values / queries))
    low, high = np.array(ends, dtype=float).T
    assert max(np.ptp(low), np.ptp(high)) <= apart * (high - low).mean()
