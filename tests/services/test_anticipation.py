"""A slow sorter computes the next question before the transaction of the answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.services.test_labeling import AssignedWork, answer_to
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import StaleForm
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.robust.sorter import Event, RobustSorter
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions

pytestmark = pytest.mark.both

GIVEN = (Answer.LEFT, Answer.RIGHT, Answer.TIE, Answer.LEFT_BAD, EntryKind.UNDO, EntryKind.REDO)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """Collect the steps that sorters take."""
    found: list[Event] = []
    take = RobustSorter.take

    def noted(self: RobustSorter, step: Event) -> None:
        found.append(step)
        take(self, step)

    monkeypatch.setattr(RobustSorter, "take", noted)
    return found


def robust(sessions: Sessions) -> AssignedWork:
    """Return an assignment with one answer, so that its session is in the cache."""
    work = AssignedWork(sessions, k=2, sorter="robust", budget=20)
    work.answer(Answer.LEFT)
    return work


def submission(work: AssignedWork, given: Answer | EntryKind = Answer.LEFT) -> Submission:
    state = work.look()
    if isinstance(given, EntryKind):
        return Submission(state.position, given)
    return Submission(state.position, answer=answer_to(state, given))


def anticipate(work: AssignedWork, expected: Submission) -> None:
    compute = labeling.anticipation(work.live, work.assignment_id, work.user_id, expected)
    assert compute is not None
    compute()


def test_what_was_computed_before_is_not_computed_again(
    sessions: Sessions, taken: list[Event]
) -> None:
    work = robust(sessions)
    for answer in (Answer.RIGHT, Answer.TIE, Answer.LEFT):
        sent = submission(work, answer)
        anticipate(work, sent)
        assert taken
        taken.clear()
        after = work.submit(sent)
        assert not taken
        assert after == work.look(LiveSessions())


@pytest.mark.thorough
@settings(max_examples=15)
@given(entries=st.lists(st.tuples(st.sampled_from(GIVEN), st.sampled_from(GIVEN)), max_size=6))
def test_a_submission_leads_to_the_same_state_whatever_was_expected(
    sessions: Sessions, entries: list[tuple[Answer | EntryKind, Answer | EntryKind]]
) -> None:
    work = robust(sessions)
    for expected, actual in entries:
        before = work.look()
        if not before.state.shown:
            break
        anticipate(work, submission(work, expected))
        assert work.look() == before
        if actual is EntryKind.REDO and not before.can_redo:
            continue
        if actual is EntryKind.UNDO and not before.can_undo:
            continue
        after = work.submit(submission(work, actual))
        assert after == work.look(LiveSessions())


def test_an_answer_of_another_worker_in_between_is_noticed(sessions: Sessions) -> None:
    work = robust(sessions)
    mine = submission(work, Answer.LEFT)
    anticipate(work, mine)
    work.submit(submission(work, Answer.RIGHT), LiveSessions())
    with pytest.raises(StaleForm):
        work.submit(mine)
    assert work.look() == work.look(LiveSessions())
    assert len(work.log()) == 2


def test_an_entry_expected_for_another_position_does_not_count(sessions: Sessions) -> None:
    work = robust(sessions)
    anticipate(work, submission(work, EntryKind.UNDO))
    work.submit(submission(work, Answer.RIGHT), LiveSessions())
    after = work.submit(submission(work, EntryKind.UNDO))
    assert after == work.look(LiveSessions())
    assert after.position == 3


def test_what_is_computed_counts_as_memory(sessions: Sessions) -> None:
    work = robust(sessions)
    before = work.live.size
    anticipate(work, submission(work))
    assert work.live.size > 1.5 * before
    work.submit(submission(work))
    assert work.live.size < 1.5 * before


def test_before_the_first_answer_earlier_sessions_may_still_count(
    sessions: Sessions, taken: list[Event]
) -> None:
    work = AssignedWork(sessions, k=2, sorter="robust", budget=20)
    anticipate(work, submission(work))
    assert not taken


def test_a_fast_sorter_and_an_unknown_assignment_need_nothing(sessions: Sessions) -> None:
    work = AssignedWork(sessions, k=2)
    sent = submission(work)
    assert labeling.anticipation(work.live, work.assignment_id, work.user_id, sent) is None
    assert labeling.anticipation(LiveSessions(), work.assignment_id, work.user_id, sent) is None


def test_only_the_assessor_of_an_assignment_makes_it_compute(sessions: Sessions) -> None:
    work = robust(sessions)
    sent = submission(work)
    stranger_id = work.user_id + 1
    assert labeling.anticipation(work.live, work.assignment_id, stranger_id, sent) is None
    assert labeling.anticipation(work.live, work.assignment_id, work.user_id, sent) is not None
