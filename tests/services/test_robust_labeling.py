"""Tests of sessions with sampled questions: the pending question is stored and shown again."""

import json
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from tests.factories import make_assignment, make_user
from tests.services.test_labeling import AssignedWork, Labeling, answer_to, run_on
from tests.waiting import until
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Query, User
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.robust.strategy import RobustStrategy
from topkapi.app.domain.pairs.robust.study_errors import study_priors
from topkapi.app.domain.pairs.session import Asking, Finished, PairSession
from topkapi.app.domain.pairs.strategy import EVIDENCE, AskPair
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.judging.study_errors import StudyLearner, learn_errors

pytestmark = pytest.mark.both


@pytest.fixture
def assigned(sessions: Sessions) -> AssignedWork:
    return AssignedWork(sessions, k=2, sorter="robust", budget=8)


def stored(assigned: AssignedWork) -> dict[str, Any] | None:
    with assigned.sessions.read.begin() as session:
        return session.get_one(Assignment, assigned.assignment_id).pending_question


def another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the sampler draw another pair: the last two remaining pages."""

    def step(self: RobustStrategy) -> AskPair:
        out = {judgment.removed for judgment in self._answers}
        first, second = [item for item in self._plan.order if item not in out][-2:]
        return AskPair((first, second))

    monkeypatch.setattr(RobustStrategy, "step", step)


def shown(assignment_state: AssignmentState) -> tuple[int, int]:
    assert isinstance(assignment_state.state, Asking)
    return assignment_state.state.question.left, assignment_state.state.question.right


def test_the_open_question_is_stored_and_shown_by_any_worker_on_any_machine(
    assigned: AssignedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stored(assigned) is None
    for answer in (Answer.LEFT, Answer.TIE, Answer.RIGHT):
        before = assigned.answer(answer)
    pending_question = stored(assigned)
    assert pending_question is not None
    assert pending_question["after"] == 3
    assert set(pending_question["pair"]) == set(shown(before))
    another_machine(monkeypatch)
    assert assigned.look(LiveSessions()) == before
    after = assigned.submit(Submission(3, answer=answer_to(before, Answer.LEFT)), LiveSessions())
    assert set(shown(after)) == set(assigned.plan.order[-2:]), "the other machine drew the next"
    assert assigned.look() == after, "and the first worker shows it too"


def test_undo_shows_the_recorded_pair_and_redo_the_offered_one_on_another_machine(
    assigned: AssignedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    screens = [assigned.look()]
    for answer in (Answer.LEFT, Answer.RIGHT, Answer.LEFT):
        screens.append(assigned.answer(answer))
    another_machine(monkeypatch)
    for position, back in ((3, 2), (4, 1), (5, 0)):
        assignment_state = assigned.submit(Submission(position, EntryKind.UNDO), LiveSessions())
        assert shown(assignment_state) == shown(screens[back])
    for position, forth in ((6, 1), (7, 2), (8, 3)):
        assignment_state = assigned.submit(Submission(position, EntryKind.REDO), LiveSessions())
        assert shown(assignment_state) == shown(screens[forth])


def test_another_answer_after_undo_does_not_bring_the_old_question_back(
    assigned: AssignedWork,
) -> None:
    assigned.answer(Answer.LEFT)
    assigned.answer(Answer.LEFT)
    old = stored(assigned)
    assignment_state = assigned.submit(Submission(2, EntryKind.UNDO))
    assigned.submit(Submission(3, answer=answer_to(assignment_state, Answer.RIGHT_BAD)))
    new = stored(assigned)
    assert old is not None
    assert new is not None
    assert old["after"] == new["after"] == 2
    gone = shown(assignment_state)[1]
    assert gone not in shown(assigned.look(LiveSessions()))


def test_the_list_it_ended_with_is_stored_and_not_drawn_again(
    assigned: AssignedWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    for left in range(8, 0, -1):
        assignment_state = assigned.look()
        assert assignment_state.progress.expected_left == assignment_state.progress.high == left
        assignment_state = assigned.answer(Answer.LEFT)
    assert isinstance(assignment_state.state, Finished)
    pending_question = stored(assigned)
    assert pending_question is not None
    listed = [item for items in pending_question["ranking"] for item in items]
    assert tuple(listed) == assignment_state.state.result.ranking
    another_machine(monkeypatch)
    assert assigned.look(LiveSessions()) == assignment_state


def test_other_sorters_store_nothing(sessions: Sessions) -> None:
    assigned = AssignedWork(sessions, k=2)
    assigned.answer(Answer.LEFT)
    assert stored(assigned) is None


class RobustLabeling(Labeling):
    """The same tabs and workers, with sampled questions."""

    @initialize(
        k=st.integers(1, 4), sorter=st.just("robust"), check_share=st.sampled_from([0.0, 0.5])
    )
    def begin(self, k: int, sorter: str, check_share: float) -> None:
        super().begin(k=k, sorter=sorter, check_share=check_share)


@pytest.mark.thorough
def test_tabs_workers_and_repetitions_leave_one_log(sessions: Sessions) -> None:
    run_on(sessions, RobustLabeling, examples=4, steps=16)


def next_query(assigned: AssignedWork, *, by_another: bool = False) -> AssignedWork:
    """Return work on another query of the study, of the same person or of another one."""
    with assigned.sessions.write.begin() as session:
        first = session.get_one(Assignment, assigned.assignment_id)
        one = session.get_one(Query, first.query_id)
        name = "another's" if by_another else "next"
        other = Query(study_id=one.study_id, external_id=name, text="next", position=1)
        session.add(other)
        session.flush()
        user = make_user(session) if by_another else session.get_one(User, first.user_id)
        made = make_assignment(session, user=user, query=other, k=2, sorter="robust", budget=8)
        made.plan = {**first.plan, "seed": "next"}
        made.plan_digest = plan_digest(made.plan)
    return AssignedWork(assigned.sessions, made)


def study_of(assigned: AssignedWork) -> int:
    with assigned.sessions.read.begin() as session:
        work = session.get_one(Assignment, assigned.assignment_id)
        return session.get_one(Query, work.query_id).study_id


@pytest.mark.thorough
def test_finished_work_of_the_study_informs_the_next_query_once_and_for_all(
    assigned: AssignedWork,
) -> None:
    for _ in range(8):
        assigned.answer(Answer.LEFT)
    early = next_query(assigned)
    early.answer(Answer.LEFT)
    assert "prior" not in (stored(early) or {}), "nothing is learned yet"
    learn_errors(assigned.sessions, study_of(assigned))
    ended = stored(assigned)
    assert ended is not None
    assert EVIDENCE not in (stored(early) or {})
    later = next_query(assigned, by_another=True)
    later.answer(Answer.LEFT)
    offered = stored(later)
    assert offered is not None
    found = study_priors({assigned.user_id: [ended[EVIDENCE]], later.user_id: []})
    assert offered["prior"] == list(found[later.user_id])
    with assigned.sessions.write.begin() as session:
        session.get_one(Assignment, assigned.assignment_id).finished_at = None
    for number in range(7):
        worker = LiveSessions() if number % 2 else later.live
        shown_now = later.look(worker)
        later.submit(Submission(number + 1, answer=answer_to(shown_now, Answer.RIGHT)), worker)
        kept = stored(later)
        assert kept is not None
        assert kept["prior"] == offered["prior"], "it is never computed again"
    replayed = PairSession(later.plan, later.log(), {**offered, "after": -1})
    again = json.loads(json.dumps(replayed.pending_question))
    assert again == kept, "a restart computes the same with the stored prior"


def test_a_server_learns_from_a_query_after_its_last_answer_is_stored(
    assigned: AssignedWork,
) -> None:
    learner = StudyLearner(assigned.sessions)
    assigned.live = LiveSessions(when_finished=learner.learn_after)
    for _ in range(8):
        assigned.answer(Answer.LEFT)
    ended = until(lambda: (stored(assigned) or {}).get(EVIDENCE), "the evidence")
    learner.close()
    assert max(ended) == 0.0
    state = assigned.submit(Submission(8, EntryKind.UNDO))
    assigned.submit(Submission(9, answer=answer_to(state, Answer.RIGHT)), LiveSessions())
    assert EVIDENCE not in (stored(assigned) or {}), "other answers are other evidence"


def test_the_first_query_of_a_person_has_no_prior(assigned: AssignedWork) -> None:
    assigned.answer(Answer.LEFT)
    offered = stored(assigned)
    assert offered is not None
    assert "prior" not in offered
