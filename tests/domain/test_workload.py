"""The estimate of time left for a whole queue."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.workload import LEAST_ANSWERS, Work, time_left

ANY: dict[str, Any] = {
    "tool": st.sampled_from(Tool),
    "answered": st.integers(0, 200),
    "active_ms": st.integers(0, 10**7),
}
FINISHED = st.builds(Work, finished=st.just(True), expected_left=st.just(0), **ANY)
LEFT = st.one_of(st.none(), st.integers(0, 200))
OPEN = st.builds(Work, finished=st.just(False), expected_left=LEFT, **ANY)
QUEUES = st.lists(st.one_of(FINISHED, OPEN), max_size=12)


@given(works=QUEUES)
def test_every_open_work_is_counted_once_and_time_is_never_negative(works: list[Work]) -> None:
    left = time_left(works)
    assert left.ms >= 0
    assert 0 <= left.known <= left.open_works
    assert left.open_works == sum(not work.finished for work in works)
    assert left.is_whole == (left.known == left.open_works)


@given(works=QUEUES, extra=FINISHED)
def test_finished_work_needs_no_time_and_order_does_not_matter(
    works: list[Work], extra: Work
) -> None:
    assert time_left([extra]).ms == 0
    assert time_left(works) == time_left(works[::-1])


@given(pace=st.integers(1, 60_000), left=st.integers(0, 300), waiting=st.integers(0, 5))
def test_at_a_steady_pace_the_estimate_is_exact(pace: int, left: int, waiting: int) -> None:
    begun = Work(Tool.PAIRS, False, 10, left, 10 * pace)
    short = Work(Tool.PAIRS, False, 0, 2, 0)  # an adjudication: no measure of the others
    later = [Work(Tool.PAIRS, False, 0, None, 0)] * waiting
    found = time_left([begun, short, *later])
    assert found.is_whole
    assert found.ms == pytest.approx(pace * (left + 2 + waiting * (10 + left)), abs=1)


def test_too_few_answers_give_no_pace() -> None:
    few = Work(Tool.GRADES, False, LEAST_ANSWERS - 1, 10, 5000)
    other = Work(Tool.PAIRS, False, LEAST_ANSWERS, 2, LEAST_ANSWERS * 1000)
    found = time_left([few, other])
    assert (found.ms, found.known, found.open_works) == (2000, 1, 2)
