from datetime import timedelta

from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.base import now
from topkapi.app.domain.enums import Tool
from topkapi.app.services.judging.queue import WorkState, queue_of_user


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
