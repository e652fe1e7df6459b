"""Tests of timing: reports of browsers, times that the server accepts, and losses by crashes."""

from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_user
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, TimerEvent
from topkapi.app.db.queries.judging.labeling import AssignmentHead, assignment_of
from topkapi.app.db.queries.judging.timing import count_pauses, time_on_question
from topkapi.app.domain.enums import TimerKind
from topkapi.app.domain.errors import NotFound
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.timing import START_SLACK_MS, Spent, Start, spent
from topkapi.app.services.judging.timing import (
    FIRST_SECONDS,
    UNSEEN_SECONDS,
    TimerReport,
    first_serving,
    record_event,
    spent_on_answer,
    spent_on_entry,
)
from topkapi.app.services.late_writes import LateWrite, LateWrites

pytestmark = pytest.mark.both

NOON = datetime.fromisoformat("2026-11-15T12:00:00+00:00")


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


@pytest.fixture
def work(session: Session) -> Assignment:
    row = make_assignment(session)
    row.created_at = after(-86_400)
    session.flush()
    return row


def tell(
    session: Session,
    work: Assignment,
    kind: TimerKind,
    at: float,
    ms: int = 0,
    reason: str | None = None,
) -> int:
    return record_event(
        session,
        assignment_id=work.id,
        user_id=work.user_id,
        report=TimerReport(kind, ms, reason),
        at=after(at),
    )


def head(session: Session, work: Assignment) -> AssignmentHead:
    found = assignment_of(session, work.id, work.user_id)
    assert found is not None
    return found


def entered(session: Session, work: Assignment, at: float, active_ms: int) -> Spent:
    """Append an answer with its time and return what was recorded."""
    time = spent_on_answer(session, head(session, work), active_ms, after(at))
    position = session.query(JudgmentRow).filter_by(assignment_id=work.id).count()
    row = JudgmentRow(
        assignment_id=work.id,
        position=position,
        entry=EntryKind.UNDO,
        active_ms=time.active_ms,
        wall_ms=time.wall_ms,
        created_at=after(at),
    )
    session.add(row)
    work.last_entry_at = after(at)
    session.flush()
    return time


def test_answers_that_arrive_together_keep_their_own_times(
    session: Session, work: Assignment
) -> None:
    tell(session, work, TimerKind.START, 0)
    assert entered(session, work, 12, 5_000) == Spent(5_000, 12_000)
    assert entered(session, work, 12.02, 600) == Spent(600, 600)
    assert entered(session, work, 12.04, 700) == Spent(700, 700)
    # all answers together claim at most what has passed since the clock was started
    assert entered(session, work, 12.06, 99_000).active_ms == 12_060 - 6_300


def test_a_pause_for_inactivity_takes_back_the_idle_time(
    session: Session, work: Assignment
) -> None:
    tell(session, work, TimerKind.START, 0)
    tell(session, work, TimerKind.HEARTBEAT, 15, 15_000)
    tell(session, work, TimerKind.HEARTBEAT, 30, 30_000)
    tell(session, work, TimerKind.AUTO_PAUSE, 40, 10_000, "idle")
    assert time_on_question(session, head(session, work)) == 10_000
    tell(session, work, TimerKind.RESUME, 60, 10_000)
    tell(session, work, TimerKind.HEARTBEAT, 65, 15_000)
    assert time_on_question(session, head(session, work)) == 15_000


@given(
    active=st.integers(-10, 10**9),
    wall=st.integers(0, 10**6),
    ago=st.integers(0, 10**6),
    kept=st.integers(0, 10**6),
    unclaimed=st.integers(-10, 10**6),
)
def test_active_time_never_exceeds_wall_time(
    active: int, wall: int, ago: int, kept: int, unclaimed: int
) -> None:
    end = NOON + timedelta(milliseconds=wall)
    start = Start(end - timedelta(milliseconds=ago), kept)
    for given_start in (None, start):
        time = spent(active, since=NOON, now=end, start=given_start)
        assert 0 <= time.active_ms <= time.wall_ms == wall
    assert spent(active, since=NOON, now=end, start=start).active_ms <= kept + ago + START_SLACK_MS
    late = spent(active, since=NOON, now=end, unclaimed_ms=unclaimed)
    assert 0 <= late.active_ms <= late.wall_ms
    assert late.active_ms <= wall + max(0, unclaimed)


def test_a_crash_loses_the_time_since_the_last_heartbeat(
    session: Session, work: Assignment
) -> None:
    tell(session, work, TimerKind.START, 0)
    tell(session, work, TimerKind.HEARTBEAT, 15, 15_000)
    tell(session, work, TimerKind.HEARTBEAT, 30, 30_000)
    # at 44 seconds the computer is switched off; an hour later the person is back
    assert time_on_question(session, head(session, work)) == 30_000
    assert tell(session, work, TimerKind.START, 3600) == 30_000
    time = spent_on_entry(head(session, work), 40_000, after(3610))
    assert time.active_ms == 40_000


def test_time_away_is_not_time_at_work(session: Session, work: Assignment) -> None:
    tell(session, work, TimerKind.START, 0)
    tell(session, work, TimerKind.LEAVE, 20, 20_000)
    tell(session, work, TimerKind.START, 7200)
    claimed = spent_on_entry(head(session, work), 7_230_000, after(7230))
    assert claimed.active_ms == 20_000 + 30_000 + START_SLACK_MS
    assert claimed.wall_ms == (86_400 + 7230) * 1000


def test_a_report_is_bounded_when_it_arrives(session: Session, work: Assignment) -> None:
    tell(session, work, TimerKind.START, 0)
    assert tell(session, work, TimerKind.HEARTBEAT, 10, 10**9) == 10_000 + START_SLACK_MS


def test_a_new_question_begins_at_nothing(session: Session, work: Assignment) -> None:
    tell(session, work, TimerKind.START, 0)
    tell(session, work, TimerKind.HEARTBEAT, 15, 15_000)
    work.last_entry_at = after(20)
    assert time_on_question(session, head(session, work)) == 0
    assert head(session, work).started_at is None  # that clock belonged to the previous question
    # a heartbeat about the previous question arrives late
    assert tell(session, work, TimerKind.HEARTBEAT, 20.05, 20_000) == 50
    assert spent_on_entry(head(session, work), 4_000, after(25)).active_ms == 4_000


def test_programs_without_a_clock_are_bounded_by_the_wall(
    session: Session, work: Assignment
) -> None:
    work.last_entry_at = after(0)
    assert spent_on_entry(head(session, work), 99_000, after(10)).active_ms == 10_000


def test_ten_first_answers_are_not_paid_ten_times(session: Session) -> None:
    """Nobody looks at ten questions at the same time, whatever the clocks of ten tabs say."""
    user = make_user(session)
    works = [make_assignment(session, user=user, seed=f"s{number}") for number in range(10)]
    for row in works:
        row.created_at = after(-86_400)
    times = [entered(session, row, 20 + number / 10, 99_000) for number, row in enumerate(works)]
    assert sum(time.active_ms for time in times) <= FIRST_SECONDS * 1000 + 1_000
    for row in works:
        tell(session, row, TimerKind.START, 100)
        tell(session, row, TimerKind.HEARTBEAT, 115, 15_000)
    times = [entered(session, row, 120 + number / 10, 99_000) for number, row in enumerate(works)]
    assert 20_000 <= sum(time.active_ms for time in times) <= 21_000 + START_SLACK_MS


@pytest.mark.thorough
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["start", "heartbeat", "answer"])),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([0.1, 1.0, 7.0]),
)
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_forged_clocks_of_several_questions_gain_no_time(
    session: Session, steps: list[tuple[int, str]], between: float
) -> None:
    """Whatever four tabs report, all answers together take no longer than it really took."""
    user = make_user(session)
    works = [make_assignment(session, user=user, seed=f"s{number}") for number in range(4)]
    for row in works:
        row.created_at = after(-86_400)
        tell(session, row, TimerKind.START, 0)
    paid = 0
    for number, (which, what) in enumerate(steps, start=1):
        at = number * between
        if what == "answer":
            paid += entered(session, works[which], at, 99_000_000).active_ms
        else:
            tell(session, works[which], TimerKind(what), at, 99_000_000)
    assert paid <= len(steps) * between * 1000 + START_SLACK_MS
    session.rollback()


def test_changing_between_two_tabs_keeps_the_time_of_both(session: Session) -> None:
    user = make_user(session)
    one, other = (make_assignment(session, user=user, seed=seed) for seed in ("a", "b"))
    one.created_at = other.created_at = after(-60)
    tell(session, one, TimerKind.START, 0)
    tell(session, one, TimerKind.AUTO_PAUSE, 30, 30_000, "hidden")
    tell(session, other, TimerKind.START, 30)
    assert entered(session, other, 60, 30_000).active_ms == 30_000
    tell(session, one, TimerKind.RESUME, 60, 30_000)
    assert entered(session, one, 70, 40_000).active_ms == 40_000
    # both are answered without a connection, by turns, and the answers arrive together
    for number, (row, ms) in enumerate([(one, 4_000), (other, 9_000), (one, 3_000), (one, 2_000)]):
        assert entered(session, row, 90 + number / 100, ms).active_ms == ms


def test_later_answers_elsewhere_take_no_time(session: Session) -> None:
    """The demo writes the answers of one assignment after the other, not in the order of time."""
    user = make_user(session)
    one, other = (make_assignment(session, user=user, seed=seed) for seed in ("a", "b"))
    one.created_at = other.created_at = after(-60)
    tell(session, other, TimerKind.START, 100)
    assert entered(session, other, 160, 60_000).active_ms == 60_000
    tell(session, one, TimerKind.START, 0)
    assert entered(session, one, 30, 30_000).active_ms == 30_000


def test_a_long_answer_without_a_heartbeat_is_capped(session: Session, work: Assignment) -> None:
    tell(session, work, TimerKind.START, 0)
    assert entered(session, work, 7_200, 7_200_000).active_ms == UNSEEN_SECONDS * 1000
    tell(session, work, TimerKind.HEARTBEAT, 9_000, 1_700_000)
    assert entered(session, work, 9_015, 1_715_000).active_ms == 1_715_000


def test_the_first_question_of_a_program_counts_from_when_it_was_read(
    sessions: Sessions, session: Session, work: Assignment
) -> None:
    session.commit()
    late = LateWrites(sessions)
    for at in (0, 40):
        late.add("served", LateWrite(first_serving(work.id, after(at))))
        assert late.flush()
    assert session.query(TimerEvent).count() == 1, "only the first time counts"
    assert entered(session, work, 50, 86_400_000).active_ms == 50_000 + START_SLACK_MS


def test_the_wall_time_of_the_first_answer_runs_from_the_first_start(
    session: Session, work: Assignment
) -> None:
    tell(session, work, TimerKind.START, 0)
    tell(session, work, TimerKind.LEAVE, 30, ms=30_000)
    tell(session, work, TimerKind.START, 100)  # a day after the assignment was made
    assert entered(session, work, 120, 50_000) == Spent(active_ms=50_000, wall_ms=120_000)
    assert entered(session, work, 150, 20_000) == Spent(active_ms=20_000, wall_ms=30_000)


def test_pauses_are_counted(session: Session, work: Assignment) -> None:
    for kind in (TimerKind.START, TimerKind.PAUSE, TimerKind.RESUME, TimerKind.AUTO_PAUSE):
        tell(session, work, kind, 1, 500)
    assert count_pauses(session, work.id) == 2


def test_nobody_reports_for_another(session: Session, work: Assignment) -> None:
    stranger = make_user(session)
    with pytest.raises(NotFound):
        record_event(
            session,
            assignment_id=work.id,
            user_id=stranger.id,
            report=TimerReport(TimerKind.START),
            at=now(),
        )
    assert session.query(TimerEvent).count() == 0
