from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, JudgmentRow
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind
from topkapi.app.services.judging.queue import WorkState, done_today, queue_of_user

pytestmark = pytest.mark.both


def test_begun_work_comes_first_then_waiting_then_finished(session: Session) -> None:
    user = make_user(session)
    queries = queries_of(session, make_study(session, queries=5))
    works = [make_assignment(session, user=user, query=query) for query in queries]
    works[0].finished_at = works[0].last_entry_at = now()
    works[1].last_entry_at = now() - timedelta(hours=2)
    works[3].last_entry_at = now() - timedelta(hours=1)
    session.flush()
    queue = queue_of_user(session, user.id)
    order = [work.assignment_id for work in queue.works]
    assert order == [works[index].id for index in (3, 1, 2, 4, 0)]
    assert queue.now is not None
    assert queue.now.assignment_id == works[3].id
    assert queue.finished == 1


def test_a_queue_holds_only_ones_own_open_work(session: Session) -> None:
    user = make_user(session)
    make_assignment(session)
    make_assignment(session, user=user).withdrawn_at = now()
    archived = make_study(session)
    archived.archived_at = now()
    make_assignment(session, user=user, query=queries_of(session, archived)[0])
    session.flush()
    queue = queue_of_user(session, user.id)
    assert queue.works == ()
    assert queue.now is None


def test_progress_and_pace_come_from_the_sums(session: Session) -> None:
    user = make_user(session)
    row = make_assignment(session, user=user, tool=Tool.PAIRS)
    row.answered, row.expected_left, row.active_ms = 60, 40, 600_000
    row.last_entry_at = now()
    session.flush()
    work = queue_of_user(session, user.id).works[0]
    assert work.state is WorkState.BEGUN
    assert work.share == 0.6
    assert work.ms_left == 400_000


def test_what_nobody_can_know_is_not_shown(session: Session) -> None:
    user = make_user(session)
    row = make_assignment(session, user=user)
    session.flush()
    waiting = queue_of_user(session, user.id).works[0]
    assert (waiting.share, waiting.ms_left) == (0.0, None)
    row.answered, row.last_entry_at = 3, now()
    session.flush()
    begun = queue_of_user(session, user.id).works[0]
    assert (begun.share, begun.ms_left) == (None, None)


def log(session: Session, row: Assignment, *entries: tuple[str, datetime, int]) -> None:
    for position, (kind, at, active_ms) in enumerate(entries):
        session.add(
            JudgmentRow(
                assignment_id=row.id,
                position=position,
                entry=EntryKind(kind),
                active_ms=active_ms,
                created_at=at,
            )
        )
        row.last_entry_at = at
    session.flush()


def test_today_begins_at_midnight_where_the_person_is(session: Session) -> None:
    user = make_user(session)
    queries = queries_of(session, make_study(session, queries=2))
    first, second = (make_assignment(session, user=user, query=query) for query in queries)
    noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    early = noon.replace(hour=1)
    log(session, first, ("answer", noon - timedelta(days=1), 9000), ("answer", early, 1000))
    log(session, second, ("answer", noon, 2000), ("answer", noon, 3000), ("undo", noon, 500))
    second.finished_at = noon
    log(session, make_assignment(session), ("answer", noon, 9000))  # somebody else's
    today = done_today(session, user.id, zone_minutes=0, at=noon)
    assert (today.answers, today.active_ms, today.finished) == (2, 6500, 1)
    west = done_today(session, user.id, zone_minutes=-120, at=noon)  # 1:00 UTC is yesterday
    assert (west.answers, west.active_ms) == (1, 5500)
    nobody = done_today(session, make_user(session).id, zone_minutes=0, at=noon)
    assert (nobody.answers, nobody.active_ms, nobody.finished) == (0, 0, 0)


def test_the_time_for_the_whole_queue_includes_work_that_waits(session: Session) -> None:
    user = make_user(session)
    queries = queries_of(session, make_study(session, queries=3))
    begun, done, _ = (make_assignment(session, user=user, query=query) for query in queries)
    begun.answered, begun.expected_left, begun.active_ms = 10, 20, 100_000
    done.answered, done.expected_left, done.active_ms = 40, 0, 400_000
    begun.last_entry_at = done.last_entry_at = done.finished_at = now()
    session.flush()
    left = queue_of_user(session, user.id).time_left
    assert (left.ms, left.is_whole) == (10_000 * (20 + 35), True)
