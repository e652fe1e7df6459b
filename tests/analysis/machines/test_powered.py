"""Prediction-powered means: formulas, coverage and length of intervals, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bench.machine_data import DATA
from bench.machine_ranks import STRENGTHS, rank_coverage
from bench.machines import coverage, judge_coverage
from tests.cases import each_case
from topkapi.analysis.bounded import mean_interval
from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import PoweredMean, powered_mean, powered_systems, win_shares
from topkapi.analysis.typing import FloatArray


def drawn(
    n: int = 12, more: int = 60, *, slope: float = 0.6, seed: int = 0
) -> tuple[FloatArray, ...]:
    """Draw values between 0 and 1 (people, machine, machine alone)."""
    rng = np.random.default_rng(seed)
    f = rng.uniform(0.3, 0.7, n + more)
    return 0.5 + slope * (f[:n] - 0.5) + 0.05 * rng.normal(size=n), f[:n], f[n:]


def lengths(found: PoweredMean) -> tuple[float, float]:
    """Return both sides of the interval relative to those of people alone."""
    return (
        (found.value - found.low) / (found.people_value - found.people_low),
        (found.high - found.value) / (found.people_high - found.people_value),
    )


def test_the_estimate_is_that_of_the_tuned_formula() -> None:
    y, f, others = drawn()
    found = powered_mean(y, f, others, drawn_at_random=True)
    weight = np.cov(y, f)[0, 1] / (1 + 12 / 60) / f.var(ddof=1)
    assert 0 < weight < 1
    assert found.weight == pytest.approx(weight)
    assert found.value == pytest.approx(y.mean() - weight * (f.mean() - others.mean()))
    assert found.correlation == pytest.approx(np.corrcoef(y, f)[0, 1])
    assert (found.people_low, found.people_high) == mean_interval(y, (0, 1))
    assert found.high - found.low < 0.75 * (found.people_high - found.people_low)


def test_the_interval_is_shorter_by_the_error_of_regression_in_double_samples() -> None:
    y, f, others = drawn()
    found = powered_mean(y, f, others, drawn_at_random=True)
    line = stats.linregress(f, y)
    every = np.concatenate([f, others])
    residual = y - line.intercept - line.slope * f
    noise = (residual**2).sum() / 10
    of_mean = noise / 12 + line.stderr**2 * (every.mean() - f.mean()) ** 2
    of_machine = (line.slope**2 - line.stderr**2) * every.var(ddof=1) / 72
    freedom = 10 * (of_mean + of_machine) ** 2 / (of_mean**2 + of_machine**2)
    half = stats.t.ppf(0.975, freedom) * np.sqrt(of_mean + of_machine)
    alone = stats.t.ppf(0.975, 11) * stats.sem(y)
    assert lengths(found) == pytest.approx((half / alone, half / alone))


@pytest.mark.parametrize("slope", [-0.6, -0.1])
def test_a_machine_without_information_is_ignored(slope: float) -> None:
    y, f, others = drawn(slope=slope)
    found = powered_mean(y, f, others, drawn_at_random=True)
    assert found.weight == 0
    alone = (found.people_value, found.people_low, found.people_high)
    assert (found.value, found.low, found.high) == pytest.approx(alone)


def test_the_weight_is_at_most_one() -> None:
    y, f, others = drawn(slope=1.6)
    found = powered_mean(y, f, others, drawn_at_random=True)
    assert found.weight == 1
    assert found.value == pytest.approx((y - f).mean() + others.mean())
    variance = (y - f).var(ddof=1) / 12 + others.var(ddof=1) / 60
    welch = stats.ttest_ind(y - f, -others, equal_var=False)  # degrees of freedom of this sum
    half = stats.t.ppf(0.975, welch.df) * np.sqrt(variance)
    assert lengths(found)[0] == pytest.approx(half / stats.t.ppf(0.975, 11) / stats.sem(y))


@each_case(
    ("people", "low", "high"), [([0.0] * 10, 0.0, 1 - 0.025**0.1), ([0.6] * 10, 0.415, 0.723)]
)
def test_equal_values_have_an_interval(people: list[float], low: float, high: float) -> None:
    machine = np.linspace(0, 1, 50)
    found = powered_mean(people, machine[:10], machine[10:], drawn_at_random=True)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-4)
    assert found.weight == 0


def test_a_slope_needs_five_queries_that_differ() -> None:
    machine = np.linspace(0, 1, 60)
    for unlike, used in ((4, False), (5, True)):
        people = np.where(np.arange(20) < 20 - unlike, 0.0, machine[:20])
        found = powered_mean(people, machine[:20], machine[20:], drawn_at_random=True)
        assert (found.weight > 0) is used


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=5, max_size=12),
    st.lists(st.floats(0, 1), min_size=2, max_size=20),
)
def test_any_scores_have_an_interval_around_the_estimate(
    labelled: list[tuple[float, float]], others: list[float]
) -> None:
    y, f = np.array(labelled).T
    found = powered_mean(y, f, others, drawn_at_random=True)
    assert found.low <= found.value <= found.high
    assert 0 <= found.weight <= 1
    assert -1.001 <= found.correlation <= 1.001


@pytest.mark.thorough
@each_case(
    ("zeros", "correlation", "labelled", "longest"),
    [(0.0, 0.7, 10, 0.83), (0.0, 0.0, 20, 1.0), (0.8, 0.9, 10, 1.0), (0.8, 0.9, 20, 0.98)],
)
def test_intervals_hold_the_mean_and_are_short(
    zeros: float, correlation: float, labelled: int, longest: float
) -> None:
    found = coverage(zeros, correlation, labelled, 200)
    assert found["held"] >= 0.93
    assert found["people_held"] >= 0.93
    assert found["length"] <= longest


@pytest.mark.thorough
@pytest.mark.skipif(not DATA.exists(), reason="the shared files of people and machines are absent")
def test_intervals_hold_the_mean_of_real_judges() -> None:
    assert judge_coverage(10, 10, paired=False)["held"] >= 0.92


def test_queries_that_were_not_drawn_are_refused() -> None:
    with pytest.raises(BadData, match="draw queries at random"):
        powered_mean(*drawn(), drawn_at_random=False)
    with pytest.raises(BadData, match="draw queries at random"):
        powered_systems({"a": {}}, {"a": {}}, drawn_at_random=False)


@each_case(
    ("people", "machine", "others", "message"),
    [
        ([1.0] * 4, [1.0] * 4, [1.0] * 9, "4 queries judged by people"),
        ([1.0] * 6, [1.0] * 6, [1.0], "1 by the machine alone"),
        ([1.0] * 6, [1.0] * 5, [1.0] * 9, "not of the same queries"),
        ([1.0] * 6, [1.0] * 6, [float("nan")] * 9, "not a finite number"),
        ([1.0] * 6, [1.2] * 6, [1.0] * 9, "not between 0 and 1"),
    ],
)
def test_values_that_cannot_be_used_are_refused(
    people: list[float], machine: list[float], others: list[float], message: str
) -> None:
    with pytest.raises(BadData, match=message):
        powered_mean(people, machine, others, drawn_at_random=True)


def test_systems_are_compared_by_query() -> None:
    rng = np.random.default_rng(2)
    hard = rng.uniform(0.1, 0.5, 80)
    machine = {
        name: {f"q{i}": float(hard[i] + gain + 0.02 * rng.random()) for i in range(80)}
        for name, gain in (("a", 0.0), ("b", 0.3), ("c", 0.1))
    }
    people = {
        name: {f"q{i}": each[f"q{i}"] + 0.02 * float(rng.random()) for i in range(30)}
        for name, each in machine.items()
    }
    found = powered_systems(people, machine, drawn_at_random=True, baseline="a")
    assert [each.system for each in found] == ["b", "c", "a"]
    best, _, last = found
    assert last.difference is None
    assert best.difference is not None
    assert 0 < best.difference.low < 0.3 < best.difference.high
    assert best.difference.people_low > -1
    assert (best.mean.labelled, best.mean.machine_only) == (30, 50)
    del machine["b"]["q3"]
    with pytest.raises(BadData, match="b: its queries are not those of a"):
        powered_systems(people, machine, drawn_at_random=True)
    with pytest.raises(BadData, match="no system 'x' to compare with: a, b, c"):
        powered_systems(people, machine, drawn_at_random=True, baseline="x")


def test_rank_sets_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(5)
    machine = {f"s{i}": {f"q{q}": i / 5 + 0.3 * rng.random() for q in range(60)} for i in range(4)}
    people = {
        name: {f"q{q}": each[f"q{q}"] + 0.1 * rng.random() for q in range(30)}
        for name, each in machine.items()
    }
    found = powered_systems(people, machine, drawn_at_random=True)
    for row in found:
        others = [each for each in machine if each != row.system]
        gaps = [
            powered_mean(
                [people[row.system][f"q{q}"] - people[other][f"q{q}"] for q in range(30)],
                [machine[row.system][f"q{q}"] - machine[other][f"q{q}"] for q in range(30)],
                [machine[row.system][f"q{q}"] - machine[other][f"q{q}"] for q in range(30, 60)],
                drawn_at_random=True,
                bounds=(-1, 1),
                level=1 - 0.05 / 6,
            )
            for other in others
        ]
        assert row.ranks == (1 + sum(g.high < 0 for g in gaps), 4 - sum(g.low > 0 for g in gaps))
        alone = 1 + sum(g.people_high < 0 for g in gaps), 4 - sum(g.people_low > 0 for g in gaps)
        assert row.people_ranks == alone
    assert found[0].ranks[0] == 1
    assert found[-1].ranks[1] == 4
    assert len({row.ranks for row in found}) > 1


@pytest.mark.thorough
@pytest.mark.parametrize("strengths", [STRENGTHS, (0.0,) * 5])
def test_rank_sets_hold_all_ranks_together(strengths: tuple[float, ...]) -> None:
    found = rank_coverage(0.9, 20, 40, strengths)
    assert found["held"] >= 0.9
    assert found["ranks"] <= found["ranks_people_alone"] + 0.05


def test_few_queries_tell_no_systems_apart() -> None:
    values = {name: {f"q{q}": float(name == "a") for q in range(30)} for name in "abc"}
    few = {name: {f"q{q}": each[f"q{q}"] for q in range(6)} for name, each in values.items()}
    rows = powered_systems(few, values, drawn_at_random=True)
    assert {row.ranks for row in rows} == {(1, 3)}, "six equal signs have p = 2 / 2^6"


def test_systems_that_were_not_all_compared_have_no_share() -> None:
    with pytest.raises(BadData, match="q2: a was not compared with every other system"):
        win_shares({"q1": [("a", "b", 1), ("b", "c", 1), ("a", "c", 1)], "q2": [("a", "b", 1)]})
