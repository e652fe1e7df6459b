import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_study, queries_of
from topkapi.app.db.models import (
    Assignment,
    AuditEvent,
    Content,
    Document,
    Job,
    JudgmentRow,
    Query,
    Study,
    SystemRun,
)
from topkapi.app.db.queries.studies import study_tables
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services.jobs.store import queue_job
from topkapi.app.services.judging.queue import queue_of_user
from topkapi.app.services.results.systems.runs import add_runs, read_runs
from topkapi.app.services.studies import full_copy, lifecycle

pytestmark = pytest.mark.both


def judged(session: Session, slug: str = "tulips") -> Study:
    study = make_study(session, slug=slug, queries=2, documents=3)
    row = make_assignment(session, query=queries_of(session, study)[0])
    left, right = row.plan["order"][:2]
    session.add(
        JudgmentRow(
            assignment_id=row.id, position=0, entry="answer", question_kind="sort",
            left_id=left, right_id=right, answer="left",
        )
    )  # fmt: skip
    session.flush()
    return study


def note(session: Session, study: Study, path: Path) -> full_copy.Copy:
    copy = full_copy.write_copy(session, study, path)
    full_copy.note_copy(session, study, copy)
    return copy


def test_an_archived_study_leaves_the_queues_and_comes_back(session: Session) -> None:
    study = judged(session)
    user_id = session.scalars(select(Assignment.user_id)).one()
    lifecycle.archive(session, study)
    assert queue_of_user(session, user_id).works == ()
    lifecycle.unarchive(session, study)
    assert len(queue_of_user(session, user_id).works) == 1
    acts = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert acts == ["study.archive", "study.unarchive"]


def test_every_table_with_rows_of_a_study_is_known() -> None:
    names = {table.name for table in study_tables.tables_of_study()}
    assert names >= {
        "studies", "queries", "documents", "study_files", "candidates", "rankings", "assignments",
        "judgments", "timer_events", "highlights",
    }  # fmt: skip
    assert not names & {"users", "contents", "audit_events", "api_tokens", "invitations"}


def test_a_study_at_work_is_not_deleted(session: Session) -> None:
    study = make_study(session, slug="tulips")
    with pytest.raises(Conflict, match="Archive the study first"):
        lifecycle.delete_study(session, study, confirm="tulips")


def test_the_slug_has_to_be_typed(session: Session) -> None:
    study = make_study(session, slug="tulips")
    lifecycle.archive(session, study)
    with pytest.raises(Invalid, match="Type tulips"):
        lifecycle.delete_study(session, study, confirm="tulip")


@pytest.mark.thorough
def test_judged_work_is_deleted_only_when_a_copy_holds_all_of_it(
    session: Session, tmp_path: Path
) -> None:
    study = judged(session)
    lifecycle.archive(session, study)
    with pytest.raises(Conflict, match="no copy holds them"):
        lifecycle.delete_study(session, study, confirm="tulips")
    note(session, study, tmp_path / "copy.zip")
    row = session.scalars(select(Assignment)).one()
    session.add(JudgmentRow(assignment_id=row.id, position=1, entry="undo"))
    session.flush()
    with pytest.raises(Conflict, match="the latest copy lacks some"):
        lifecycle.delete_study(session, study, confirm="tulips")
    copy = note(session, study, tmp_path / "later.zip")
    rows = lifecycle.delete_study(session, study, confirm=" tulips ")
    assert rows["judgments"] == 2
    event = session.scalars(select(AuditEvent).where(AuditEvent.action == "study.delete")).one()
    assert event.detail["copy"] == copy.name


def test_no_rule_reads_the_audit_log(session: Session, tmp_path: Path) -> None:
    study = judged(session)
    lifecycle.archive(session, study)
    note(session, study, tmp_path / "copy.zip")
    session.execute(delete(AuditEvent))
    assert lifecycle.look_at_deletion(session, study).missing is None


def test_a_copy_of_an_older_study_of_the_same_name_does_not_count(
    session: Session, tmp_path: Path
) -> None:
    old = judged(session)
    lifecycle.archive(session, old)
    note(session, old, tmp_path / "copy.zip")
    lifecycle.delete_study(session, old, confirm="tulips")
    new = judged(session)
    lifecycle.archive(session, new)
    assert "no copy holds them" in str(lifecycle.look_at_deletion(session, new).missing)


def test_deletion_removes_everything_of_the_study_and_nothing_else(
    session: Session, tmp_path: Path
) -> None:
    kept = judged(session, "kept")
    gone = judged(session, "gone")
    for study in (kept, gone):
        add_runs(session, study, read_runs([("run", b"q0 Q0 q0-d0 1 1 bm25")]))
        queue_job(session, study, "confidence", {})
    shared = session.scalars(select(Document).where(Document.study_id == kept.id)).first()
    assert shared is not None
    twin = Document(study_id=gone.id, external_id="twin", content_hash=shared.content_hash)
    session.add(twin)
    session.flush()
    before = study_tables.count_rows(session, kept.id)
    contents = session.scalar(select(func.count(Content.hash))) or 0
    lifecycle.archive(session, gone)
    note(session, gone, tmp_path / "copy.zip")
    rows = lifecycle.delete_study(session, gone, confirm="gone")
    assert (rows["contents"], rows["runs"], rows["jobs"]) == (6, 1, 1)
    assert session.scalar(select(func.count(Content.hash))) == contents - 6
    assert session.get(Content, shared.content_hash) is not None
    assert study_tables.count_rows(session, kept.id) == before
    assert session.scalars(select(Study.slug)).all() == ["kept"]
    assert session.scalar(select(func.count(Query.id))) == 2
    assert session.scalars(select(SystemRun.study_id)).all() == [kept.id]
    assert session.scalars(select(Job.study_id)).all() == [kept.id]
    with pytest.raises(NotFound, match="'gone'"):
        required_study(session, "gone")


def test_a_copy_holds_every_row_and_every_page(session: Session, tmp_path: Path) -> None:
    study = judged(session)
    judged(session, "another")
    path = tmp_path / "copy.zip"
    copy = full_copy.write_copy(session, study, path)
    assert copy.size == path.stat().st_size
    with ZipFile(path) as archive:
        head = json.loads(archive.read("copy.json"))
        lines = {
            name: [json.loads(line) for line in archive.read(f"{name}.jsonl").splitlines()]
            for name in head["rows"]
        }
    assert head["rows"] == {name: len(found) for name, found in lines.items()}
    assert head["study"] == "tulips"
    assert [row["external_id"] for row in lines["queries"]] == ["q0", "q1"]
    assert [row["answer"] for row in lines["judgments"]] == ["left"]
    assert len(lines["contents"]) == 6
    assert set(lines["people"][0]) == {"id", "email", "name", "role", "machine"}
    assert copy.rows["judgments"] == 1
