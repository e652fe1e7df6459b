from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from topkapi.analysis.agreement import resamples
from topkapi.analysis.efficiency import (
    Sessions,
    Timings,
    by_assessor,
    course,
    drift,
    effort,
    resampled_medians,
    spread,
)
from topkapi.analysis.errors import BadData
from topkapi.analysis.resampling import LEAST_QUERIES


def two_sessions() -> tuple[Timings, Sessions]:
    timings = Timings.of(
        session=[0, 0, 0, 1, 1],
        position=[0, 1, 2, 0, 1],
        active=[4.0, 6.0, 8.0, 10.0, 2.0],
        wall=[5.0, 6.0, 30.0, 10.0, 2.0],
        effective=[True, False, True, True, True],
    )
    sessions = Sessions.of(assessor=[0, 1], query=[0, 1], n=[4, 8], k=[2, 4], bound=[5.0, 1.0])
    return timings, sessions


def test_a_case_by_hand() -> None:
    found = effort(*two_sessions(), resamples(np.ones(2), draws=200))
    assert found.seconds.mean == (4 + 8 + 10 + 2) / 4
    assert found.seconds.median == 6
    assert found.judgments.mean == 2
    assert found.minutes.mean == pytest.approx((18 + 12) / 120)  # what was taken back cost time
    assert found.wall_minutes.mean == pytest.approx((41 + 12) / 120)
    assert found.theory == pytest.approx((4 * 1 + 8 * 2) / 2)
    assert (found.bound, found.over_bound) == (3, 1)
    assert found.taken_back == 1 / 5


def test_unfinished_sessions_count_for_seconds_only() -> None:
    timings, sessions = two_sessions()
    half = Sessions.of(assessor=[0, 1], query=[0, 1], n=[4, 8], finished=[True, False])
    found = effort(timings, half, resamples(np.ones(2), draws=50))
    assert (found.sessions, found.judgments.mean, found.seconds.count) == (1, 2, 4)
    assert found.theory == 4
    assert np.isnan(found.bound)
    assert len(sessions) == 2


def test_nothing_timed_is_undefined_not_zero() -> None:
    timings = Timings.of(session=[], position=[], active=[])
    sessions = Sessions.of(assessor=[], query=[], n=[])
    drawn = resamples(np.zeros(1), draws=20)
    found = effort(timings, sessions, drawn)
    assert np.isnan([found.seconds.mean, found.minutes.median, found.theory]).all()
    assert np.isnan(found.taken_back)
    assert course(timings, sessions, drawn).start == ()
    assert np.isnan(drift(timings, sessions, drawn)).all()
    assert by_assessor(timings, sessions) == {}


@given(
    answers=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 4)), min_size=1, max_size=20),
    queries=st.integers(LEAST_QUERIES, LEAST_QUERIES + 3),
    seed=st.integers(0, 10**6),
)
def test_resampled_medians_and_means_equal_plain_resampling(
    answers: list[tuple[int, int]], queries: int, seed: int
) -> None:
    values = np.array([float(value) for value, _ in answers])
    query = np.array([number % queries for _, number in answers])
    drawn = replace(resamples(np.ones(queries), draws=30, seed=seed), freedom=0)
    found = resampled_medians(values, query, drawn.weights)
    means = []
    for weights, median in zip(drawn.weights, found, strict=True):
        times = (weights * (queries - 1) / queries).round().astype(int)
        pool = np.repeat(values, times[query])
        means.append(pool.mean() if pool.size else np.nan)
        if not pool.size:
            assert np.isnan(median)
        else:
            assert median == np.sort(pool)[(pool.size - 1) // 2]
    assume(not np.isnan(means).any())  # with too few resamples there is no interval
    ends = np.quantile(means, [0.025, 0.975])
    described = spread(values, query, drawn)
    assert [described.mean_low, described.mean_high] == pytest.approx(ends, abs=1e-9)


def test_medians_of_very_many_values_are_close() -> None:
    rng = np.random.default_rng(2)
    values, query = rng.lognormal(2, 0.6, 50_000), rng.integers(0, 40, 50_000)
    weights = resamples(np.ones(40), draws=10).weights
    for row, median in zip(weights, resampled_medians(values, query, weights), strict=True):
        assert median == pytest.approx(
            np.median(np.repeat(values, (row * 39 / 40).round().astype(int)[query])), rel=5e-3
        )


def test_a_known_drift_is_found() -> None:
    rng = np.random.default_rng(4)
    session, position = np.divmod(np.arange(40 * 140), 140)
    level = rng.uniform(8, 30, 40)[session]
    seconds = level * 0.7 ** (position / 100) * rng.lognormal(0, 0.3, session.size)
    timings = Timings.of(session=session, position=position, active=seconds)
    sessions = Sessions.of(assessor=np.arange(40) % 4, query=np.arange(40) // 2, n=50, k=10)
    drawn = resamples(np.ones(20), draws=500)
    factor, low, high = drift(timings, sessions, drawn)
    assert low < 0.7 < high
    assert high - low < 0.1
    assert factor == pytest.approx(0.7, abs=0.05)
    steps = course(timings, sessions, drawn)
    assert steps.median[0] > steps.median[-1]
    assert sum(steps.count) == session.size
    assert np.mean(np.array(steps.low) <= np.array(steps.median)) > 0.9


def test_quantiles_of_each_assessor() -> None:
    found = by_assessor(*two_sessions())
    assert found[0][2] == 6
    assert found[1].tolist() == np.quantile([10, 2], [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()


def test_bad_columns_are_refused() -> None:
    with pytest.raises(BadData, match="not negative"):
        Timings.of(session=[0], position=[0], active=[-1.0])
    with pytest.raises(BadData, match="differ in length"):
        Timings.of(session=[0, 1], position=[0], active=[1.0])
    with pytest.raises(BadData, match="differ in length"):
        Sessions.of(assessor=[0, 1], query=[0], n=5)
