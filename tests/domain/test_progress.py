"""Progress: it decreases only by undo, and its range has the promised coverage."""

from collections.abc import Sequence
from itertools import groupby
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.people import answer_all, answer_once, answering_at_random, truthful
from topkapi.app.domain.log import Entry, EntryKind, answer
from topkapi.app.domain.pairs.answers import Judgment
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import PairSession
from topkapi.app.domain.pairs.simulated_assessors import SimulatedAssessor, true_worths

UNDO: Entry[Judgment] = Entry(EntryKind.UNDO)


@pytest.mark.thorough
@settings(max_examples=40)
@given(
    n=st.sampled_from([2, 5, 16]),
    k=st.sampled_from([1, 3, 20]),
    sorter=st.sampled_from(["heap", "tournament", "buckets"]),
    random=st.randoms(use_true_random=False),
)
def test_the_share_answered_never_falls_whatever_is_answered(
    n: int, k: int, sorter: str, random: Random
) -> None:
    session = PairSession(Plan(tuple(range(n)), k, sorter, seed="p"))
    person = answering_at_random(random, removals=0.1)
    share = 0.0
    while answer_once(session, person):
        progress = session.progress
        assert progress.answered == session.answered
        now = progress.answered / (progress.answered + progress.expected_left)
        assert now >= share
        assert progress.low <= progress.expected_left <= progress.high
        share = now
    assert session.progress.expected_left == 0
    assert share <= 1.0


def test_a_rebuilt_session_tells_the_same_progress() -> None:
    plan = Plan(tuple(range(30)), 6, seed="p")
    session = PairSession(plan)
    person = truthful({item: float(item * 7 % 31) for item in plan.order})
    log = []
    while answer_once(session, person):
        assert session.last is not None
        log.append(session.last)
        progress = session.progress
        assert PairSession(plan, log).progress == progress
    session.append(UNDO)
    assert session.progress == PairSession(plan, [*log, UNDO]).progress


def covered(sorter: str, error: float, shares: Sequence[float]) -> list[float]:
    """Return how often the range at each share of a session covers the true number left."""
    hits, runs = [0] * len(shares), 250
    plan = Plan(tuple(range(50)), 10, sorter, seed="c")
    for number in range(runs):
        random = Random(f"{sorter}/{error}/0/{number}")
        assessor = SimulatedAssessor(true_worths(50, 0, random), error=error, random=random)
        judgments = _judge(PairSession(plan), assessor)
        session, done = PairSession(plan), 0
        for index, share in enumerate(shares):
            session.extend(judgments[done : (done := int(share * len(judgments)))])
            progress = session.progress
            hits[index] += progress.low <= len(judgments) - session.answered <= progress.high
    return [each / runs for each in hits]


def _judge(session: PairSession, assessor: SimulatedAssessor) -> list[Entry[Judgment]]:
    from topkapi.app.domain.pairs.answers import Answer, Preference, Question

    answers = {
        Preference.FIRST: Answer.LEFT,
        Preference.SECOND: Answer.RIGHT,
        Preference.TIE: Answer.TIE,
    }

    def person(question: Question) -> Answer:
        return answers[assessor.prefer((question.left, question.right))]

    answer_all(session, person)
    return [*map(answer, session.effective)]


@pytest.mark.thorough
@pytest.mark.parametrize("error", [0.0, 0.1])
@pytest.mark.parametrize("sorter", ["heap", "insertion"])
def test_nine_in_ten_sessions_end_within_the_range(sorter: str, error: float) -> None:
    """Allow for sampling: 85 to 95 % are promised, with a standard error of 2 % for 250 runs."""
    found = covered(sorter, error, (0.1, 0.5, 0.9))
    assert [share for share in found if not 0.83 <= share <= 0.97] == []


def test_checks_lengthen_what_is_expected() -> None:
    plain = PairSession(Plan(tuple(range(20)), 5, seed="a"))
    checked = PairSession(Plan(tuple(range(20)), 5, check_share=0.5, seed="a"))
    ratio = checked.progress.expected_left / plain.progress.expected_left
    assert ratio == pytest.approx(1.5, abs=0.03)


def test_a_session_that_ended_has_nothing_left() -> None:
    session = PairSession(Plan((1, 2, 3), 2, seed="e"))
    answer_all(session, truthful({1: 1.0, 2: 2.0, 3: 3.0}))
    progress = session.progress
    assert (progress.expected_left, progress.low, progress.high) == (0, 0, 0)


@pytest.mark.parametrize("grades", [0, 5])
@pytest.mark.parametrize("error", [0.0, 0.1])
def test_what_is_left_never_rises_and_the_bar_fills(error: float, grades: int) -> None:
    plan = Plan(tuple(range(20)), 5, seed="p")
    for number in range(10):
        random = Random(f"{error}/{grades}/{number}")
        assessor = SimulatedAssessor(true_worths(20, grades, random), error=error, random=random)
        session, shown = PairSession(plan), []
        for entry in _judge(PairSession(plan), assessor):
            shown.append(session.progress.expected_left)
            session.append(entry)
        assert shown == sorted(shown, reverse=True)
        still = max(len(list(equal)) for left, equal in groupby(shown) if left > 3)
        assert still <= 4, "while more than a few are left, the number keeps moving"
        assert len(shown) / (len(shown) + shown[-1]) >= 0.8, "the bar is nearly full at the end"
