"""The result of a session is the same, computed from its answers or by the session itself."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.people import answer_all, answering_at_random
from tests.domain.test_session import random_session
from tests.strategies import plans
from topkapi.app.domain.grades.session import GradePlan, GradeSession, Grading
from topkapi.app.domain.log import Entry, EntryKind, answer, stacks
from topkapi.app.domain.outcome import grades_given, outcome
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Finished, PairSession


@given(
    plan=plans(),
    random=st.randoms(use_true_random=False),
    steps=st.integers(0, 90),
    to_the_end=st.booleans(),
)
def test_the_outcome_of_any_log_is_that_of_its_session(
    plan: Plan, random: Random, steps: int, to_the_end: bool
) -> None:
    session, log = random_session(plan, random, steps)
    if to_the_end:
        answer_all(session, answering_at_random(random))
        log = [answer(judgment) for judgment in session.effective]
    done, undone = stacks(log)
    state = session.state
    expected = state.result if isinstance(state, Finished) else None
    assert outcome(plan, done, undone=len(undone)) == expected
    assert expected is not None or not to_the_end


@settings(max_examples=8, deadline=None)
@given(random=st.randoms(use_true_random=False), back=st.integers(0, 2))
def test_a_sampled_list_is_the_one_that_was_stored(random: Random, back: int) -> None:
    plan = Plan(order=tuple(range(1, 7)), k=2, sorter="robust", budget=5, seed="s")
    session = PairSession(plan)
    answer_all(session, answering_at_random(random, removals=0.0))
    state, pending_question = session.state, session.pending_question
    assert isinstance(state, Finished)
    assert outcome(plan, session.effective, pending_question=pending_question) == state.result
    again = outcome(plan, session.effective)
    assert again is not None
    assert set(again.ranking) <= set(plan.order)
    for _ in range(back):
        session.append(Entry(EntryKind.UNDO))
    if back:
        assert (
            outcome(plan, session.effective, undone=back, pending_question=pending_question) is None
        )
        assert outcome(plan, session.effective[:2], pending_question=pending_question) is None


def test_grades_are_numbers_once_every_page_has_one() -> None:
    plan = GradePlan(order=(7, 5, 9), grades=("bad", "good"))
    session = GradeSession(plan)
    for page, grade in ((7, "good"), (5, "unjudgeable"), (9, "bad")):
        assert grades_given(plan, session.effective) is None
        session.append(answer(Grading(page, grade)))
    assert grades_given(plan, session.effective) == {7: 1, 9: 0}
