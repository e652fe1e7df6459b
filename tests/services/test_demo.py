from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.factories import authenticator_on, make_study, make_user
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, TimerEvent, User
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.errors import Conflict, Forbidden
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import QuestionKind
from topkapi.app.installation.demo_accounts import DEMO_PASSWORD
from topkapi.app.services.accounts.sign_in import Visitor
from topkapi.app.services.demo import Demo, is_empty, load_demo, sign_ins

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.thorough
def test_the_demo_is_loaded_once_the_same_every_time_and_only_for_this_machine(
    sessions: Sessions,
) -> None:
    with sessions.write() as session:
        assert is_empty(session)
        demo = load_demo(session, at=AT)
        assert not is_empty(session)
        _has_people_at_every_stage(session, demo)
        _shows_every_kind_of_answer(session)
        _several_queries_are_shared_under_each_tool(session)
        with pytest.raises(Conflict, match="already loaded"):
            load_demo(session, at=AT)
        _comes_out_the_same_again(session)
        found = sign_ins(session)
        session.commit()
    _works_on_this_machine_only(sessions, found[0].email)


@pytest.mark.thorough
def test_the_demo_is_the_same_where_there_are_accounts_and_studies(sessions: Sessions) -> None:
    with sessions.write() as session:
        make_user(session, role=Role.ADMIN)
        make_study(session, queries=3)
        demo = load_demo(session, at=AT)
    tutorial = (Path(__file__).parents[2] / "docs/tutorial.md").read_text()
    counts = f"{demo.assignments} assignments, {demo.finished} finished, {demo.judgments} judgments"
    assert f"{demo.slug}: {counts}" in tutorial


def _has_people_at_every_stage(session: Session, demo: Demo) -> None:
    roles = [one.role for one in demo.sign_ins]
    assert (roles.count(Role.ADMIN), roles.count(Role.RESEARCHER), roles.count(Role.ASSESSOR)) == (
        1,
        1,
        5,
    )
    states = {}
    for user in session.scalars(select(User).where(User.role == Role.ASSESSOR)):
        mine = session.scalars(select(Assignment).where(Assignment.user_id == user.id)).all()
        done = sum(row.finished_at is not None for row in mine)
        begun = sum(row.finished_at is None and row.answered > 0 for row in mine)
        waiting = sum(row.answered == 0 for row in mine)
        states[user.name] = (done == len(mine), begun > 0, waiting > 0)
        assert {row.tool for row in mine} == set(Tool)
        assert {row.round for row in mine} == {0, 1}
    assert sorted(states.values()) == [
        (False, False, True),
        (False, True, True),
        (True, False, False),
        (True, False, False),
        (True, False, False),
    ]


def _shows_every_kind_of_answer(session: Session) -> None:
    rows = session.scalars(select(JudgmentRow)).all()
    answers = {row.answer for row in rows}
    assert {"left", "right", "tie", "bad", "perfect"} <= answers
    assert {"left_much", "same", "right_much"} <= answers
    assert any("_bad" in str(answer) for answer in answers)
    assert any("_unjudgeable" in str(answer) for answer in answers)
    assert {row.entry for row in rows} >= {EntryKind.ANSWER, EntryKind.UNDO}
    assert {row.question_kind for row in rows} >= {QuestionKind.SORT, QuestionKind.CHECK}
    assert any(row.note for row in rows)
    assert all(row.created_at < AT for row in rows)
    assert len({row.created_at.date() for row in rows}) >= 3
    times = sorted(row.active_ms for row in rows if row.entry is EntryKind.ANSWER)
    assert 5_000 < times[len(times) // 2] < 40_000
    assert session.scalar(select(func.count()).select_from(TimerEvent)) > 20  # type: ignore[operator]


def _several_queries_are_shared_under_each_tool(session: Session) -> None:
    for tool in (Tool.PAIRS, Tool.GRADES):
        statement = (
            select(Assignment.query_id)
            .where(Assignment.tool == tool, Assignment.finished_at.is_not(None))
            .group_by(Assignment.query_id)
            .having(func.count() >= 2)
        )
        assert len(session.scalars(statement).all()) >= 3, "intervals need several queries"


def _comes_out_the_same_again(session: Session) -> None:
    answers = session.scalars(select(JudgmentRow.answer).order_by(JudgmentRow.id)).all()
    session.rollback()
    load_demo(session, at=AT)
    again = session.scalars(select(JudgmentRow.answer).order_by(JudgmentRow.id)).all()
    assert len(again) > 250
    if session.get_bind().dialect.name == "sqlite":  # sequences of PostgreSQL do not go back
        assert answers == again


def _works_on_this_machine_only(sessions: Sessions, email: str) -> None:
    here = Visitor("127.0.0.1", on_loopback=True)
    away = Visitor("203.0.113.9", on_loopback=False)
    with authenticator_on(sessions) as door:
        assert door.sign_in(email, DEMO_PASSWORD, here).role is Role.ADMIN
        with pytest.raises(Forbidden, match="demo"):
            door.sign_in(email, DEMO_PASSWORD, away)
