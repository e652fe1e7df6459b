"""Tests of teams: several people, several workers, one list, and no pair on two screens."""

from contextlib import nullcontext
from datetime import datetime, timedelta
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
from sqlalchemy import select, update

from tests.factories import make_assignment, make_study, make_user, queries_of
from tests.services.test_labeling import AssignedWork, answer_to
from topkapi.app.db.base import clock, now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, PairLease, Query, Study, User
from topkapi.app.domain.enums import TimerKind
from topkapi.app.domain.errors import Archived, LogRefusal
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.pairs.robust.error_prior import CELLS
from topkapi.app.domain.pairs.robust.team import TeamStrategy
from topkapi.app.domain.pairs.session import Asking, Finished, PairSession, result_of
from topkapi.app.domain.pairs.team_session import merged
from topkapi.app.services.assignments import bulk
from topkapi.app.services.judging import labeling, timing
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.judging.study_errors import learn_errors
from topkapi.app.services.judging.teams import LEASE, LONGEST_LEASE

pytestmark = pytest.mark.both


class Member(AssignedWork):
    """The assignment of one member; ``screen`` is what was last shown."""

    screen: AssignmentState

    def look(self, live: LiveSessions | None = None) -> AssignmentState:
        """Open the page, as the web layer does."""
        self.screen = super().look(live)
        if not self.screen.is_stored:
            with self.sessions.write.begin() as session:
                self.screen = labeling.offer(
                    session, self.live if live is None else live, **self.who
                )
        return self.screen

    def submit(
        self, submission: Submission, live: LiveSessions | None = None, **more: Any
    ) -> AssignmentState:
        self.screen = super().submit(submission, live, **more)
        return self.screen

    def reply(self, answer: Answer = Answer.LEFT, live: LiveSessions | None = None) -> Submission:
        """Answer what is on the screen, however long it has been there."""
        given = Submission(self.screen.position, answer=answer_to(self.screen, answer))
        self.submit(given, live)
        return given

    def undo(self, live: LiveSessions | None = None) -> AssignmentState:
        return self.submit(Submission(self.screen.position, EntryKind.UNDO), live)

    def event(self, kind: TimerKind, at: datetime | None = None) -> None:
        with self.sessions.write.begin() as session:
            timing.record_event(session, **self.who, report=timing.TimerReport(kind), at=at)

    @property
    def pair(self) -> frozenset[int]:
        """The pair on the screen."""
        return frozenset(self.screen.state.shown)

    def is_finished(self) -> bool:
        """Whether the database says so."""
        with self.sessions.read.begin() as session:
            return session.get_one(Assignment, self.assignment_id).finished_at is not None


def make_team(sessions: Sessions, size: int, **plan: Any) -> list[Member]:
    with sessions.write.begin() as session:
        query = queries_of(session, make_study(session, queries=2))[0]
        options = {"k": 2, "sorter": "robust", "budget": 6, "together": True, **plan}
        return [
            Member(
                sessions,
                make_assignment(
                    session, user=make_user(session), query=query, round=number, **options
                ),
            )
            for number in range(size)
        ]


def expire_soon(sessions: Sessions) -> datetime:
    with sessions.write.begin() as session:
        soon = clock(session) + LEASE / 2
        session.execute(update(PairLease).values(expires_at=soon))
    return soon


def expire_leases(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        session.execute(update(PairLease).values(expires_at=clock(session) - timedelta(seconds=1)))


def list_of(member: Member) -> Any:
    state = member.look(LiveSessions()).state
    assert isinstance(state, Finished)
    return state


def test_everybody_is_asked_another_pair_and_the_answers_of_all_use_up_the_budget(
    sessions: Sessions,
) -> None:
    team = make_team(sessions, 3)
    pairs = [frozenset(member.look().state.shown) for member in team]
    assert len(set(pairs)) == 3
    for number in range(6):
        member = team[number % 3]
        assert member.screen.progress.expected_left <= 6 - number + 2
        member.reply()
    assert all(member.is_finished() for member in team)
    lists = [list_of(member).result for member in team]
    assert lists[0] == lists[1] == lists[2]
    assert len(lists[0].ranking) == 2


def test_what_others_answer_moves_the_progress_of_all(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2)
    first.look()
    assert second.look().progress.expected_left == 6
    first.reply()
    first.reply()
    seen = second.look()
    assert (seen.progress.answered, seen.progress.expected_left) == (2, 4)
    assert seen.position == 0, "the log of each is their own"


def test_an_answer_on_its_way_when_the_team_finishes_is_kept_and_counted(
    sessions: Sessions,
) -> None:
    first, second = make_team(sessions, 2, budget=2)
    first.look()
    second.look()
    asked = second.pair
    first.reply()
    first.reply()
    assert first.screen.finished
    assert second.is_finished()
    second.reply(Answer.RIGHT)
    assert second.screen.finished
    shown = [(each.judgment.left, each.judgment.right) for each in second.log() if each.judgment]
    assert [frozenset(pair) for pair in shown] == [asked]
    assert list_of(first).result == list_of(second).result
    assert list_of(first).confidence.answers == 3


def test_a_pair_that_was_not_shown_is_refused_after_the_end(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2, budget=2)
    before = first.look()
    second.look()
    first.reply()
    first.reply()
    with pytest.raises(LogRefusal):
        second.submit(Submission(0, answer=answer_to(before, Answer.LEFT)))
    assert second.log() == []


def test_undo_takes_back_the_own_answer_and_reopens_the_query_for_all(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2, budget=3)
    first.look()
    second.look()
    second.reply()
    first.reply()
    first.reply()
    last = first.log()[-1].judgment
    assert first.screen.finished
    assert second.is_finished()
    first.undo()
    assert isinstance(first.screen.state, Asking)
    assert last is not None
    assert first.screen.state.question == last.question
    assert not second.is_finished()
    assert not second.look().finished
    assert [entry.kind for entry in second.log()] == [EntryKind.ANSWER]
    second.reply()
    assert second.screen.finished
    assert first.is_finished()


@pytest.mark.parametrize("how", ["leave", "expiry"])
def test_a_pair_is_free_when_its_holder_leaves_or_is_silent(sessions: Sessions, how: str) -> None:
    first, second = make_team(sessions, 2, budget=20, k=5)
    held = frozenset(first.look().state.shown)
    if how == "leave":
        first.event(TimerKind.LEAVE)
    else:
        expire_leases(sessions)
    assert frozenset(second.look().state.shown) == held
    second.reply()
    first.reply(Answer.RIGHT)
    assert len(first.log()) == 1, "what was shown counts"


def test_a_heartbeat_keeps_the_lease(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2)
    first.look()
    soon = expire_soon(sessions)
    first.event(TimerKind.HEARTBEAT)
    with sessions.read.begin() as session:
        assert session.scalars(select(PairLease.expires_at)).one() > soon
    assert frozenset(second.look().state.shown) != first.pair


def test_heartbeats_alone_do_not_keep_a_pair_for_ever(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2, budget=20, k=5)
    first.look()
    first.event(TimerKind.START, at=now() - LONGEST_LEASE)
    soon = expire_soon(sessions)
    first.event(TimerKind.HEARTBEAT)
    with sessions.read.begin() as session:
        assert session.scalars(select(PairLease.expires_at)).one() == soon
    first.event(TimerKind.RESUME)
    with sessions.read.begin() as session:
        assert session.scalars(select(PairLease.expires_at)).one() > soon
    assert frozenset(second.look().state.shown) != first.pair


def test_who_comes_back_to_a_pair_that_others_answered_gets_another(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2, budget=20, k=5)
    held = frozenset(first.look().state.shown)
    first.event(TimerKind.LEAVE)
    second.look()
    second.reply()
    assert frozenset(first.look().state.shown) != held


@pytest.mark.thorough
def test_members_wait_while_others_have_the_last_pairs(sessions: Sessions) -> None:
    team = make_team(sessions, 2, budget=40, k=6)
    for number in range(14):
        member = team[number % 2]
        member.look()
        member.reply()
    last, waiting = team
    last.look()
    assert not last.screen.finished
    assert waiting.look().finished
    assert not waiting.is_finished(), "the last answer is missing"
    for archived_at in (now(), None):
        with sessions.write.begin() as session:
            session.execute(update(Study).values(archived_at=archived_at))
        with pytest.raises(Archived) if archived_at else nullcontext():
            waiting.look()
    last.reply()
    assert waiting.is_finished()
    assert list_of(last).result == list_of(waiting).result


def test_who_joins_a_finished_team_sees_its_list(sessions: Sessions) -> None:
    first, late = make_team(sessions, 2, budget=2)
    first.look()
    first.reply()
    first.reply()
    assert late.is_finished()
    assert list_of(late).result == list_of(first).result


def test_the_answers_of_void_work_do_not_count(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2, budget=4)
    for member in (first, second, first, second):
        member.look()
        member.reply()
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        bulk.void(session, study, [second.assignment_id], reason="guessed")
    assert not first.is_finished()
    assert first.look().progress.answered == 2
    first.reply()
    first.reply()
    assert first.screen.finished


class Teamwork(RuleBasedStateMachine):
    """Three members and two workers, compared with plain lists of entries."""

    sessions: Sessions

    @initialize(budget=st.sampled_from([3, 7, 20]), checks=st.sampled_from([0.0, 0.4]))
    def begin(self, budget: int, checks: float) -> None:
        self.team = make_team(self.sessions, 3, budget=budget, check_share=checks)
        self.workers = [LiveSessions(), LiveSessions()]
        self.logs: list[list[Entry[Judgment]]] = [[] for _ in self.team]
        self.order: list[tuple[int, Entry[Judgment]]] = []
        self.sent: list[Submission | None] = [None] * 3
        for member in self.team:
            member.look(self.workers[0])

    def entered(self, who: int, entry: Entry[Judgment]) -> None:
        self.logs[who].append(entry)
        self.order.append((who, entry))

    @rule(who=st.integers(0, 2), worker=st.integers(0, 1), answer=st.sampled_from(list(Answer)))
    def answer(self, who: int, worker: int, answer: Answer) -> None:
        """Answer what is on the screen: it counts, whatever the others have done."""
        member = self.team[who]
        if isinstance(member.screen.state, Asking):
            question = member.screen.state.question
            self.sent[who] = member.reply(answer, self.workers[worker])
            judgment = Judgment(question.kind, question.left, question.right, answer)
            self.entered(who, Entry(EntryKind.ANSWER, judgment))
            self.asked_alone(member)

    @rule(
        who=st.integers(0, 2),
        worker=st.integers(0, 1),
        kind=st.sampled_from([EntryKind.UNDO, EntryKind.REDO]),
    )
    def step(self, who: int, worker: int, kind: EntryKind) -> None:
        member = self.team[who]
        can = member.screen.can_undo if kind is EntryKind.UNDO else member.screen.can_redo
        submission = Submission(member.screen.position, kind)
        if can:
            member.submit(submission, self.workers[worker])
            self.entered(who, Entry(kind))
        else:
            with pytest.raises(LogRefusal):
                member.submit(submission, self.workers[worker])

    @precondition(lambda self: any(self.sent))
    @rule(who=st.integers(0, 2), worker=st.integers(0, 1))
    def retry(self, who: int, worker: int) -> None:
        if (sent := self.sent[who]) is not None:
            self.team[who].submit(sent, self.workers[worker])

    @rule(who=st.integers(0, 2), worker=st.integers(0, 1))
    def reload(self, who: int, worker: int) -> None:
        self.team[who].look(self.workers[worker])
        self.asked_alone(self.team[who])

    def asked_alone(self, member: Member) -> None:
        """Check that a new question is leased to the person who sees it."""
        state = member.screen.state
        if isinstance(state, Asking) and not member.screen.can_redo:
            with self.sessions.read.begin() as session:
                lease = session.get_one(PairLease, member.assignment_id)
            if state.question.kind is QuestionKind.SORT:
                assert {lease.first_id, lease.second_id} == member.pair

    @rule(who=st.integers(0, 2), kind=st.sampled_from([TimerKind.LEAVE, TimerKind.HEARTBEAT]))
    def clock_event(self, who: int, kind: TimerKind) -> None:
        self.team[who].event(kind)

    @rule()
    def time_passes(self) -> None:
        expire_leases(self.sessions)

    @rule(worker=st.integers(0, 1))
    def restart(self, worker: int) -> None:
        self.workers[worker] = LiveSessions()

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        for member, log in zip(getattr(self, "team", ()), getattr(self, "logs", ()), strict=True):
            assert member.log() == log
            alone = PairSession(member.plan, log)
            with self.sessions.read.begin() as session:
                row = session.get_one(Assignment, member.assignment_id)
                assert (row.answered, alone.length) == (alone.answered, len(log))

    @invariant()
    def no_pair_is_leased_twice_and_each_is_what_its_holder_is_asked(self) -> None:
        leased = []
        for member in getattr(self, "team", ()):
            with self.sessions.read.begin() as session:
                lease = session.get(PairLease, member.assignment_id)
                asked = session.get_one(Assignment, member.assignment_id).pending_question or {}
                if lease is not None:
                    leased.append({lease.first_id, lease.second_id})
                    assert set(asked["pair"]) == leased[-1]
        assert len(set(map(frozenset, leased))) == len(leased)

    @invariant()
    def everyone_sees_the_list_of_all_answers(self) -> None:
        ended = [member for member in getattr(self, "team", ()) if member.is_finished()]
        if not ended:
            return
        given, _ = merged(self.order)
        team = TeamStrategy(ended[0].plan)
        team.join(given, 0, [None] * 3, ())
        expected = result_of(ended[0].plan, (), team.end())
        assert len(ended) == 3
        for member in ended:
            with self.sessions.read.begin() as session:
                shown = labeling.assignment_state(session, LiveSessions(), **member.who)
            assert isinstance(shown.state, Finished)
            assert shown.state.result == expected


@pytest.mark.thorough
def test_a_team_keeps_its_promises_whatever_happens(sessions: Sessions) -> None:
    class OnThisDatabase(Teamwork):
        pass

    OnThisDatabase.sessions = sessions
    run_state_machine_as_test(
        OnThisDatabase,
        settings=settings(
            max_examples=5,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_entries_of_a_team_are_numbered_in_their_order(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2)
    for member in (first, second, first):
        member.look()
        member.reply()
    with sessions.read.begin() as session:
        rows = session.scalars(select(JudgmentRow).order_by(JudgmentRow.id)).all()
    assert [row.assignment_id for row in rows] == [
        first.assignment_id,
        second.assignment_id,
        first.assignment_id,
    ]


@pytest.mark.thorough
def test_members_start_from_what_the_study_has_learned(sessions: Sessions) -> None:
    one, other = make_team(sessions, 2)
    while not one.look().finished:
        one.reply()
        if not other.look().finished:
            other.reply()
    with sessions.write.begin() as session:
        work = session.get_one(Assignment, one.assignment_id)
        query = session.get_one(Query, work.query_id)
        following = queries_of(session, session.get_one(Study, query.study_id))[1]
        study_id = query.study_id
    learn_errors(sessions, study_id)
    with sessions.write.begin() as session:
        again = [
            Member(
                sessions,
                make_assignment(
                    session,
                    user=session.get_one(User, each.user_id),
                    query=following,
                    k=2,
                    sorter="robust",
                    budget=6,
                    together=True,
                ),
            )
            for each in (one, other)
        ]
    for each in again:
        each.look()
    again[0].reply()

    def kept() -> list[Any]:
        with sessions.read.begin() as session:
            stored = [session.get_one(Assignment, each.assignment_id) for each in again]
            return [(each.pending_question or {}).get("prior") for each in stored]

    priors = kept()
    assert all(prior is not None and len(prior) == CELLS for prior in priors)
    while not again[0].look(LiveSessions()).finished:
        again[0].reply(Answer.RIGHT, LiveSessions())
    assert kept() == priors
    again[0].undo(LiveSessions())
    again[1].look(LiveSessions())
    assert kept() == priors
