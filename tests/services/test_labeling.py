"""Tests of the labeling service: writes, refusals, and that nothing is lost or duplicated."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from tests.factories import make_assignment
from tests.waiting import until
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AnswerNotAllowed, LogRefusal, StaleForm, Withdrawn
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Asking, Finished, PairSession
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState

pytestmark = pytest.mark.both


def answer_to(assignment_state: AssignmentState, answer: Answer) -> SubmittedAnswer:
    """Return ``answer`` to the open question of ``assignment_state``."""
    assert isinstance(assignment_state.state, Asking)
    question = assignment_state.state.question
    return SubmittedAnswer(
        answer.value,
        left=assignment_state.documents[question.left].name,
        right=assignment_state.documents[question.right].name,
    )


class AssignedWork:
    """Operations on one assignment, by default a new one, each call in its own transaction."""

    def __init__(
        self, sessions: Sessions, assignment: Assignment | None = None, **plan: Any
    ) -> None:
        self.sessions, self.live = sessions, LiveSessions()
        if assignment is None:
            with sessions.write.begin() as session:
                assignment = make_assignment(session, **plan)
        self.assignment_id, self.user_id = assignment.id, assignment.user_id
        self.who: dict[str, Any] = {"assignment_id": assignment.id, "user_id": assignment.user_id}
        self._plan = assignment.plan

    @property
    def plan(self) -> Plan:
        return Plan.from_json(self._plan)

    def look(self, live: LiveSessions | None = None) -> AssignmentState:
        with self.sessions.read.begin() as session:
            return labeling.assignment_state(
                session, self.live if live is None else live, **self.who
            )

    def submit(
        self, submission: Submission, live: LiveSessions | None = None, **more: Any
    ) -> AssignmentState:
        with self.sessions.write.begin() as session:
            return labeling.submit(
                session,
                self.live if live is None else live,
                **self.who,
                submission=submission,
                **more,
            )

    def answer(self, answer: Answer = Answer.LEFT, **more: Any) -> AssignmentState:
        assignment_state = self.look()
        return self.submit(
            Submission(
                assignment_state.position, answer=answer_to(assignment_state, answer), **more
            )
        )

    def rows(self, session: Session) -> list[JudgmentRow]:
        statement = select(JudgmentRow).where(JudgmentRow.assignment_id == self.assignment_id)
        return list(session.scalars(statement.order_by(JudgmentRow.position)))

    def log(self) -> list[Entry[Judgment]]:
        with self.sessions.read.begin() as session:
            return [_entry(row) for row in self.rows(session)]


def _entry(row: JudgmentRow) -> Entry[Judgment]:
    if row.entry is not EntryKind.ANSWER:
        return Entry(row.entry)
    assert row.left_id is not None
    assert row.right_id is not None
    kind = row.question_kind or QuestionKind.SORT
    return Entry(row.entry, Judgment(kind, row.left_id, row.right_id, Answer(row.answer or "")))


class Labeling(RuleBasedStateMachine):
    """Two tabs and two workers on one assignment, compared with a plain list of entries."""

    sessions: Sessions

    @initialize(
        k=st.integers(1, 4),
        sorter=st.sampled_from(["heap", "tournament", "insertion"]),
        check_share=st.sampled_from([0.0, 0.5]),
    )
    def begin(self, k: int, sorter: str, check_share: float) -> None:
        self.assigned = AssignedWork(self.sessions, k=k, sorter=sorter, check_share=check_share)
        self.workers = [LiveSessions(), LiveSessions()]
        self.log: list[Entry[Judgment]] = []
        self.tabs = [self.assigned.look(), self.assigned.look()]
        self.sent: list[tuple[Submission, Entry[Judgment]]] = []

    def model(self) -> PairSession:
        return PairSession(self.assigned.plan, self.log)

    def send(self, submission: Submission, entry: Entry[Judgment], tab: int, worker: int) -> None:
        """Submit, and compare the outcome with the one expected from the list of entries."""
        length = len(self.log)
        if submission.position == length:
            expected: type[LogRefusal] | None = None
            try:
                model = self.model()
                model.append(entry)
            except LogRefusal as refusal:
                expected = type(refusal)
        elif submission.position < length and self.log[submission.position] == entry:
            expected = None
        else:
            expected = StaleForm
        if expected is not None:
            with pytest.raises(expected):
                self.assigned.submit(submission, self.workers[worker])
            self.tabs[tab] = self.assigned.look(self.workers[worker])
            return
        self.tabs[tab] = self.assigned.submit(submission, self.workers[worker])
        if submission.position == length:
            self.log.append(entry)
            self.sent.append((submission, entry))

    @rule(tab=st.integers(0, 1), worker=st.integers(0, 1), answer=st.sampled_from(list(Answer)))
    def answer_in_a_tab(self, tab: int, worker: int, answer: Answer) -> None:
        assignment_state = self.tabs[tab]
        if not isinstance(assignment_state.state, Asking):
            return
        question = assignment_state.state.question
        entry = Entry(
            EntryKind.ANSWER, Judgment(question.kind, question.left, question.right, answer)
        )
        submission = Submission(
            assignment_state.position, answer=answer_to(assignment_state, answer), active_ms=5
        )
        self.send(submission, entry, tab, worker)

    @rule(
        tab=st.integers(0, 1),
        worker=st.integers(0, 1),
        kind=st.sampled_from([EntryKind.UNDO, EntryKind.REDO]),
    )
    def step_in_a_tab(self, tab: int, worker: int, kind: EntryKind) -> None:
        submission = Submission(self.tabs[tab].position, kind)
        self.send(submission, Entry(kind), tab, worker)

    @precondition(lambda self: self.sent)
    @rule(tab=st.integers(0, 1), worker=st.integers(0, 1), back=st.integers(1, 3))
    def send_an_earlier_submission_again(self, tab: int, worker: int, back: int) -> None:
        submission, entry = self.sent[-min(back, len(self.sent))]
        self.send(submission, entry, tab, worker)

    @rule(tab=st.integers(0, 1), worker=st.integers(0, 1))
    def reload_a_tab(self, tab: int, worker: int) -> None:
        self.tabs[tab] = self.assigned.look(self.workers[worker])

    @rule(worker=st.integers(0, 1))
    def restart_a_worker(self, worker: int) -> None:
        self.workers[worker] = LiveSessions()

    @invariant()
    def the_log_and_the_state_are_the_models(self) -> None:
        if not hasattr(self, "assigned"):
            return
        assert self.assigned.log() == self.log
        model = self.model()
        for worker in self.workers:
            assignment_state = self.assigned.look(worker)
            assert assignment_state.state == model.state
            assert assignment_state.position == len(self.log)
            assert (assignment_state.can_undo, assignment_state.can_redo) == (
                model.can_undo,
                model.can_redo,
            )
        with self.sessions.read.begin() as session:
            row = session.get_one(Assignment, self.assigned.assignment_id)
            assert row.answered == model.answered
            assert (row.finished_at is not None) == (
                isinstance(model.state, Finished) and bool(self.log)
            )


def run_on(sessions: Sessions, machine: type[Labeling], *, examples: int, steps: int) -> None:
    """Run a state machine on the database of the test."""
    run_state_machine_as_test(
        type(machine.__name__, (machine,), {"sessions": sessions}),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.thorough
def test_tabs_workers_and_repetitions_leave_one_log(sessions: Sessions) -> None:
    run_on(sessions, Labeling, examples=25, steps=30)


def test_a_worker_that_waited_for_the_lock_sees_what_the_other_wrote(sessions: Sessions) -> None:
    work = AssignedWork(sessions, k=4)
    work.answer()
    first, second = LiveSessions(), LiveSessions()
    for live in (first, second):
        work.look(live)
    sent = Submission(1, answer=answer_to(work.look(), Answer.LEFT))
    with ThreadPoolExecutor(1) as pool:
        with sessions.write.begin() as session:
            labeling.submit(session, first, **work.who, submission=sent)
            waiting = pool.submit(work.submit, sent, second)
            until_a_lock_is_waited_for(session)
        assert waiting.result().position == 2
    assert len(work.log()) == 2


def until_a_lock_is_waited_for(session: Session) -> None:
    """Return when another transaction waits; on SQLite it cannot even begin."""
    if session.connection().dialect.name == "postgresql":
        count = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        until(lambda: session.scalar(count), "a lock that is waited for")


def test_a_withdrawn_assignment_takes_nothing_more(sessions: Sessions) -> None:
    assigned = AssignedWork(sessions)
    assigned.answer()
    with sessions.write.begin() as session:
        session.get_one(Assignment, assigned.assignment_id).withdrawn_at = now()
    with pytest.raises(Withdrawn):
        assigned.look()
    with pytest.raises(Withdrawn):
        assigned.submit(Submission(1, EntryKind.UNDO))
    assert len(assigned.log()) == 1


def test_a_word_that_is_no_answer_is_refused_and_the_session_goes_on(sessions: Sessions) -> None:
    assigned = AssignedWork(sessions)
    assignment_state = assigned.look()
    answer = answer_to(assignment_state, Answer.LEFT)
    with pytest.raises(AnswerNotAllowed, match="perhaps"):
        assigned.submit(
            Submission(0, answer=SubmittedAnswer("perhaps", left=answer.left, right=answer.right))
        )
    assert assigned.submit(Submission(0, answer=answer)).position == 1


def test_a_rolled_back_answer_leaves_no_trace_in_the_live_session(sessions: Sessions) -> None:
    """Check that the database wins if only the live session has an answer."""
    assigned = AssignedWork(sessions)
    assigned.answer()
    before = assigned.look()
    with sessions.write() as session:
        labeling.submit(
            session,
            assigned.live,
            **assigned.who,
            submission=Submission(1, answer=answer_to(before, Answer.RIGHT)),
        )
        session.rollback()
    assert assigned.look() == before
    after = assigned.submit(Submission(1, answer=answer_to(before, Answer.LEFT)))
    assert after.state == PairSession(assigned.plan, assigned.log()).state


def test_grades_share_the_log_with_its_undo_and_redo(sessions: Sessions) -> None:
    assigned = AssignedWork(sessions, tool=Tool.GRADES)
    names = []
    for number, grade in enumerate(["good", "bad", "perfect", "fair", "unjudgeable", "good"]):
        assignment_state = assigned.look()
        assert assignment_state.progress.expected_left == 6 - number
        name = next(assignment_state.documents[page].name for page in assignment_state.new)
        names.append(name)
        assigned.submit(Submission(number, answer=SubmittedAnswer(grade, document=name)))
    assert assigned.look().finished
    assigned.submit(Submission(6, EntryKind.UNDO))
    reopened = assigned.look()
    assert not reopened.finished
    assert reopened.new == frozenset()
    assert assigned.submit(Submission(7, EntryKind.REDO)).finished
    assigned.submit(Submission(8, EntryKind.UNDO))
    with pytest.raises(AnswerNotAllowed, match="splendid"):
        assigned.submit(Submission(9, answer=SubmittedAnswer("splendid", document=names[-1])))
