"""A full copy of a study can be imported again: every row, every page, every open question."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.databases import PostgresqlTemplate, transaction_on
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db import migrations
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import (
    Assignment,
    AuditEvent,
    Document,
    Highlight,
    Job,
    JudgmentRow,
    PracticeAnswer,
    PracticeItem,
    Query,
    Ranking,
    Study,
    SystemRun,
    TimerEvent,
    Training,
    User,
)
from topkapi.app.db.queries.studies import study_tables
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.services.importing import StudyRefused
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.studies import full_copy, lifecycle
from topkapi.app.services.studies.copy_import import is_copy, read_copy

pytestmark = pytest.mark.both


def judged(session: Session) -> Study:
    """Create a study with pairs, lists, a log, a clock, highlights and edited guidelines."""
    study = make_study(
        session, slug="tulips", queries=2, documents=4, k=3, tools=(Tool.PAIRS, Tool.LISTS)
    )
    query = queries_of(session, study)[0]
    row = make_assignment(session, query=query, user=make_user(session, email="ansa@lehto.example"))
    left, right = row.plan["order"][:2]
    rankings = [
        Ranking(query_id=query.id, system=name, documents=row.plan["order"][start : start + 3])
        for name, start in (("a", 0), ("b", 1))
    ]
    session.add_all(rankings)
    session.flush()
    one, two = (each.id for each in rankings)
    shown = [
        {"id": each.id, "system": each.system, "documents": each.documents} for each in rankings
    ]
    lists = Assignment(
        user_id=row.user_id, query_id=query.id, tool=Tool.LISTS, round=0,
        plan={"lists": shown, "pairs": [[one, two]], "size": 1, "choice": "all", "repeats": False,
              "seed": "s", "order": row.plan["order"]},
        pending_question={"after": 0, "pair": [one, two]},
    )  # fmt: skip
    row.pending_question = {"after": 1, "pair": [left, right], "quality": 0.5}
    session.add_all([
        lists,
        JudgmentRow(assignment_id=row.id, position=0, entry="answer", question_kind="sort",
                    left_id=left, right_id=right, answer="left", note="n"),
        TimerEvent(assignment_id=row.id, kind="start"),
        Highlight(user_id=row.user_id, query_id=query.id, terms=["tulip"]),
        Training(user_id=row.user_id, study_id=study.id),
        Job(study_id=study.id, kind="models", parameters={"models": ["ranksvm"]}, result="{}",
            created_by=row.user_id),
        SystemRun(study_id=study.id, system="bm25", filename="run", queries=1, lines=1, data=b"x"),
    ])  # fmt: skip
    item = PracticeItem(
        study_id=study.id, external_id="p1", position=0, tool=Tool.PAIRS, query="tulips",
        left=[left], right=[right], answers=["left"], explanation="It says more.",
    )  # fmt: skip
    session.add(item)
    session.flush()
    session.add(
        PracticeAnswer(user_id=row.user_id, item_id=item.id, attempt=1, answer="left", agrees=True)
    )
    session.add(
        JudgmentRow(assignment_id=lists.id, position=0, entry="answer", question_kind="sort",
                    left_ranking_id=one, right_ranking_id=two, answer="same")
    )  # fmt: skip
    session.flush()
    return study


def copied(session: Session, path: Path) -> Path:
    full_copy.write_copy(session, judged(session), path)
    return path


def names(session: Session, study: Study) -> dict[int, str]:
    statement = select(Document.id, Document.external_id).where(Document.study_id == study.id)
    return {row[0]: row[1] for row in session.execute(statement)}


def facts(session: Session, study: Study) -> dict[str, Any]:
    """Return what must be equal in original and copy, without ids."""
    pages = names(session, study)
    queries = select(Query.id).where(Query.study_id == study.id)
    work = session.scalars(
        select(Assignment).where(Assignment.query_id.in_(queries)).order_by(Assignment.id)
    ).all()
    entries = select(JudgmentRow).where(JudgmentRow.assignment_id.in_([row.id for row in work]))
    systems = {
        row.id: row.system
        for row in session.scalars(select(Ranking).where(Ranking.query_id.in_(queries)))
    }
    lists = next(row for row in work if row.tool is Tool.LISTS)
    pairs = next(row for row in work if row.tool is Tool.PAIRS)
    assert pairs.pending_question is not None
    assert lists.pending_question is not None
    return {
        "rows": study_tables.count_rows(session, study.id),
        "order": [pages[number] for number in pairs.plan["order"]],
        "offered": [pages[number] for number in pairs.pending_question["pair"]],
        "shown": [
            (each["system"], systems[each["id"]], [pages[number] for number in each["documents"]])
            for each in lists.plan["lists"]
        ],
        "list_pairs": [[systems[one] for one in pair] for pair in lists.plan["pairs"]],
        "list_offered": [systems[number] for number in lists.pending_question["pair"]],
        "log": [
            (
                row.position,
                pages.get(row.left_id or 0),
                systems.get(row.left_ranking_id or 0),
                row.answer,
            )
            for row in session.scalars(entries.order_by(JudgmentRow.id))
        ],
        "practice": [
            (pages[item.left[0]], pages[item.right[0]])
            for item in session.scalars(
                select(PracticeItem).where(PracticeItem.study_id == study.id)
            )
        ],
        "digests": [plan_digest(row.plan) == row.plan_digest for row in work],
        "topk": StudySource(session, study.slug).study.settings,
    }


def test_a_copy_comes_back_after_the_study_was_deleted(session: Session, tmp_path: Path) -> None:
    study = judged(session)
    before = facts(session, study)
    copy = full_copy.write_copy(session, study, tmp_path / "copy.zip")
    lifecycle.archive(session, study)
    full_copy.note_copy(session, study, copy)
    lifecycle.delete_study(session, study, confirm="tulips")
    assert is_copy(copy.path)
    report = read_copy(session, copy.path)
    again = required_study(session, "tulips")
    assert facts(session, again) == before
    assert (report.slug, report.action, report.queries) == ("tulips", "restore", 2)
    assert report.notes == ("2 assignments with 2 log entries restored",)
    event = session.scalars(select(AuditEvent).where(AuditEvent.action == "study.restore")).one()
    assert event.subject == "tulips"


def test_a_copy_is_read_beside_the_original_under_another_slug(
    session: Session, tmp_path: Path
) -> None:
    path = copied(session, tmp_path / "copy.zip")
    with pytest.raises(Conflict, match="--slug"):
        read_copy(session, path)
    read_copy(session, path, slug="tulips-2")
    first, second = (required_study(session, slug) for slug in ("tulips", "tulips-2"))
    one, two = facts(session, first), facts(session, second)
    assert one == two
    assert second.full_copy is None


def test_a_copy_is_read_on_the_other_database(
    session: Session, tmp_path: Path, postgresql_template: PostgresqlTemplate
) -> None:
    path = copied(session, tmp_path / "copy.zip")
    before = facts(session, required_study(session, "tulips"))

    def check(url: str) -> None:
        with transaction_on(url) as other:
            make_study(other, slug="another", queries=3, documents=5)  # ids differ
            report = read_copy(other, path)
            assert facts(other, required_study(other, "tulips")) == before
            person = other.scalars(select(User).where(User.email == "ansa@lehto.example")).one()
            assert person.password_hash is None
            assert "1 account created without a password" in report.notes[1]

    if session.get_bind().dialect.name == "sqlite":
        with postgresql_template.copy() as url:
            check(url)
    else:
        url = f"sqlite:///{tmp_path / 'other.db'}"
        migrations.upgrade(url)
        check(url)


def test_a_machine_is_still_one_in_a_copy(session: Session, tmp_path: Path) -> None:
    study = judged(session)
    machine = session.scalars(select(User)).one()
    machine.email, machine.machine = "gpt@machine.invalid", True
    session.flush()
    copy = full_copy.write_copy(session, study, tmp_path / "copy.zip")
    machine.email = "another@machine.invalid"
    session.flush()
    read_copy(session, copy.path, slug="again")
    assert session.scalars(select(User).where(User.email == "gpt@machine.invalid")).one().machine


def spoilt(path: Path, member: str, change: Any) -> Path:
    """Return a copy of the zip in which one member was changed."""
    target = path.with_name("spoilt.zip")
    with ZipFile(path) as old, ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name == member else data)
    return target


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("member", "change", "says"),
    [
        ("copy.json", lambda data: data.replace(b'"format": 1', b'"format": 9'), "format 9"),
        ("copy.json", lambda _: b"{", "damaged"),
        ("contents.jsonl", lambda data: data.replace(b'"size": ', b'"size": 1'), "contents.jsonl"),
        ("queries.jsonl", lambda data: data.split(b"\n")[0] + b"\n", "queries.jsonl"),
        ("assignments.jsonl", lambda data: data.replace(b'"k": 3', b'"k": 2'), "line 1"),
        ("judgments.jsonl", lambda data: data.replace(b'"left_id": ', b'"left_id": 9'), "line 1"),
        ("studies.jsonl", lambda _: b"not json\n", "studies.jsonl, line 1"),
    ],
)
def test_a_damaged_copy_is_refused_and_nothing_is_written(
    sessions: Sessions, tmp_path: Path, member: str, change: Any, says: str
) -> None:
    with sessions.write() as session:
        path = copied(session, tmp_path / "copy.zip")
        session.rollback()
    with pytest.raises(StudyRefused, match=says), sessions.write.begin() as session:
        read_copy(session, spoilt(path, member, change))
    with sessions.read() as session:
        assert session.scalars(select(Study)).all() == []
        assert session.scalars(select(User)).all() == []


def test_a_copy_is_private_and_an_erased_person_stays_erased(
    session: Session, tmp_path: Path
) -> None:
    study = judged(session)
    erased = session.scalars(select(User).where(User.email == "ansa@lehto.example")).one()
    erase_user(session, erased)
    session.flush()
    path = tmp_path / "copy.zip"
    path.touch(mode=0o644)
    full_copy.write_copy(session, study, path)
    assert path.stat().st_mode & 0o777 == 0o600
    read_copy(session, path, slug="again")
    again = session.scalars(select(Study).where(Study.slug == "again")).one()
    ids = session.scalars(
        select(Assignment.user_id).join(Query).where(Query.study_id == again.id).distinct()
    ).all()
    (twin,) = (session.get_one(User, number) for number in ids)
    assert twin.id != erased.id, "the pseudonym of another database may be another person"
    assert twin.disabled_at is not None
    assert (twin.email, twin.name) == (f"person-{twin.id}@erased.invalid", f"Person {twin.id}")
