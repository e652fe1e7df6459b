"""Training in the database: import, tries, grants, and that practice answers are not counted."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from tests.exporting import writable_exports
from tests.factories import make_assignment, make_study, make_user, queries_of
from tests.services.test_backups import everything, other  # noqa: F401 (a fixture)
from tests.services.test_studies import judged
from tests.studies import append, load, small_study, write_jsonl
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_sessions
from topkapi.app.db.models import (
    Assignment,
    AuditEvent,
    PracticeAnswer,
    PracticeItem,
    Study,
    Training,
    User,
)
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.errors import (
    AnswerNotAllowed,
    Conflict,
    Invalid,
    NotFound,
    TrainingRequired,
)
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.domain.training.rules import Step
from topkapi.app.services.assignments.manual_assignment import withdraw_many
from topkapi.app.services.backups import read_backup, write_backup
from topkapi.app.services.importing import StudyRefused, Unchanged
from topkapi.app.services.judging.labeling import assignment_state
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.results.exports import StudySource, open_export
from topkapi.app.services.results.reports.forms import as_json
from topkapi.app.services.results.reports.service import make_report
from topkapi.app.services.state.study import study_state
from topkapi.app.services.studies import full_copy, lifecycle
from topkapi.app.services.training import practice, trainings

TEXTS = {"query": "how to keep tulips upright", "explanation": "Most chose left: it says how."}
RECORDS: list[dict[str, Any]] = [
    {"id": "p1", **TEXTS, "left": "d0", "right": "d1", "answer": "left"},
    {"id": "p2", **TEXTS, "document": "d2", "answer": ["good", "excellent"]},
    {"id": "p3", **TEXTS, "left": ["d0", "d1"], "right": ["d1", "d0"], "answer": "left_much"},
]


def trained_study(
    session: Session, *, questions: int = 2, needed: int | None = None, tries: int = 2
) -> tuple[Study, User]:
    """Create a study with training, practice questions for T1, and an assessor with work."""
    rules: dict[str, Any] = {"training": True, "training_needed": needed, "training_tries": tries}
    study = make_study(session, queries=2, k=3, **rules)
    user = make_user(session)
    make_assignment(session, user=user, query=queries_of(session, study)[0])
    for number in range(questions):
        practice.add_question(session, study, pair(number))
    return study, user


def pair(number: int = 0, left: str = "") -> PracticeQuestion:
    return PracticeQuestion(
        tool=Tool.PAIRS,
        query=f"tulips {number}",
        description="",
        left=(left or f"q0-d{number}",),
        right=(f"q0-d{number + 1}",),
        answers=("left",),
        explanation="It says how.",
    )


def answer_all(session: Session, study: Study, user: User, *answers: str) -> Step:
    items = session.scalars(select(PracticeItem).where(PracticeItem.study_id == study.id)).all()
    for item, answer in zip(items, answers, strict=True):
        trainings.answer_question(session, study, user.id, item_id=item.id, answer=answer)
    return trainings.training_state(session, study, user.id).step


def test_practice_is_imported_for_each_tool_and_extended(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    append(folder / "study.toml", 'tools = ["pairs", "grades", "lists"]\ntraining = true\n')
    (folder / "rankings.jsonl").write_text('{"query": "q0", "system": "a", "documents": ["d0"]}\n')
    write_jsonl(folder / "practice.jsonl", RECORDS[:2])
    report = load(session, folder)
    assert (report.practice, report.read_from["practice"]) == (2, "practice.jsonl")
    assert any("2 practice questions" in line for line in report.lines())
    write_jsonl(folder / "practice.jsonl", RECORDS)
    load(session, folder)
    study = session.scalars(select(Study)).one()
    found = practice.questions_of(session, study)
    assert [each.name for each in found] == ["p1", "p2", "p3"]
    assert [each.question.tool for each in found] == [Tool.PAIRS, Tool.GRADES, Tool.LISTS]
    assert found[1].question.answers == ("good", "excellent")
    assert found[2].question.right == ("d1", "d0")
    with pytest.raises(Unchanged):
        load(session, folder)
    write_jsonl(folder / "practice.jsonl", [{**RECORDS[0], "answer": "right"}, *RECORDS[1:]])
    with pytest.raises(StudyRefused, match="practice question 'p1'"):
        load(session, folder)


def test_work_opens_when_guidelines_and_practice_are_done(session: Session) -> None:
    study, user = trained_study(session)
    live = LiveSessions()
    query = queries_of(session, study)[1]
    number = make_assignment(session, user=user, query=query).id
    with pytest.raises(TrainingRequired) as refusal:
        assignment_state(session, live, assignment_id=number, user_id=user.id)
    assert refusal.value.slug == study.slug
    assert trainings.training_state(session, study, user.id).step is Step.GUIDELINES
    trainings.confirm_guidelines(session, study, user.id)
    assert answer_all(session, study, user, "left", "right") is Step.PASSED
    assert assignment_state(session, live, assignment_id=number, user_id=user.id).position == 0
    row = session.scalars(select(Training)).one()
    assert (row.agreed, row.asked, row.failed) == (1, 2, 0)


def test_only_the_tools_of_ones_own_work_are_practised(session: Session) -> None:
    study, user = trained_study(session, questions=1)
    study.settings = replace(study.settings, tools=tuple(Tool))
    lists = PracticeQuestion(
        Tool.LISTS, "tulips", "", ("q0-d0",), ("q0-d1",), ("left",), "It says how."
    )
    practice.add_question(session, study, lists)
    trainings.confirm_guidelines(session, study, user.id)
    assert trainings.training_state(session, study, user.id).of == 1
    item = practice.questions_of(session, study)[0]
    trainings.answer_question(session, study, user.id, item_id=item.id, answer="left")
    assert trainings.training_state(session, study, user.id).step is Step.PASSED
    comparing = make_user(session)
    query = queries_of(session, study)[1]
    make_assignment(session, user=comparing, query=query).tool = Tool.LISTS
    session.flush()
    item_id = trainings.training_state(session, study, comparing.id).item_id
    assert session.get_one(PracticeItem, item_id).tool is Tool.LISTS


def test_open_trainings_are_those_before_the_first_work(session: Session) -> None:
    study, user = trained_study(session)
    untrained = make_assignment(session, user=user)  # in a study without training
    assert untrained.query_id != study.id
    training = trainings.OpenTraining(tries_left=None, questions=2)
    assert trainings.open_trainings(session, user.id) == {study.slug: training}
    trainings.confirm_guidelines(session, study, user.id)
    assert trainings.open_trainings(session, user.id) == {study.slug: training}
    answer_all(session, study, user, "left", "left")
    assert trainings.open_trainings(session, user.id) == {}


def test_the_missed_questions_are_those_of_the_last_try(session: Session) -> None:
    study, user = trained_study(session, needed=2, tries=3)
    trainings.confirm_guidelines(session, study, user.id)
    assert trainings.missed_in_last_try(session, study) == {}
    answer_all(session, study, user, "right", "right")
    assert trainings.missed_in_last_try(session, study) == {user.id: ["practice-1", "practice-2"]}
    answer_all(session, study, user, "left", "right")
    assert trainings.missed_in_last_try(session, study) == {user.id: ["practice-2"]}
    answer_all(session, study, user, "left", "left")
    assert trainings.missed_in_last_try(session, study) == {user.id: []}


def test_without_questions_confirming_opens_the_work(session: Session) -> None:
    study, user = trained_study(session, questions=0)
    trainings.confirm_guidelines(session, study, user.id)
    assert trainings.training_state(session, study, user.id).step is Step.PASSED


def test_tries_end_and_a_granted_one_is_audited(session: Session) -> None:
    study, user = trained_study(session, needed=2, tries=2)
    admin = make_user(session, role=Role.ADMIN, name="Maren Oduya", email="maren@example.org")
    trainings.confirm_guidelines(session, study, user.id)
    assert answer_all(session, study, user, "left", "tie") is Step.PRACTICE
    with pytest.raises(Conflict):
        trainings.grant_try(session, study, user.id, actor_id=admin.id)
    assert answer_all(session, study, user, "left", "tie") is Step.FAILED
    contact = trainings.contact_of(session, trainings.training_state(session, study, user.id))
    assert "Maren Oduya (maren@example.org)" in contact
    trainings.grant_try(session, study, user.id, actor_id=admin.id)
    event = session.scalars(select(AuditEvent).where(AuditEvent.action == "training.grant")).one()
    assert (event.subject, event.detail) == (study.slug, {"person": user.email})
    assert answer_all(session, study, user, "left", "left") is Step.PASSED


def test_an_answer_sent_twice_counts_once(session: Session) -> None:
    study, user = trained_study(session, needed=2, tries=1)
    trainings.confirm_guidelines(session, study, user.id)
    first, second = session.scalars(select(PracticeItem.id)).all()
    for answer in ("right", "left"):  # the second one is a retry, or another tab
        stored = trainings.answer_question(session, study, user.id, item_id=first, answer=answer)
        assert (stored.answer, stored.agrees) == ("right", False)
    trainings.answer_question(session, study, user.id, item_id=second, answer="left")
    assert trainings.training_state(session, study, user.id).step is Step.FAILED
    assert "training failed" in [each.sign for each in study_state(session, study).needs]
    stored = trainings.answer_question(session, study, user.id, item_id=second, answer="tie")
    assert stored.answer == "left"
    assert len(session.scalars(select(PracticeAnswer)).all()) == 2
    withdraw_many(session, study, session.scalars(select(Assignment.id)).all())
    left = study_state(session, study)
    assert [each.sign for each in left.needs] == ["missing work"], "who has no work needs no try"


def test_wrong_answers_and_questions_of_others_are_refused(session: Session) -> None:
    study, user = trained_study(session)
    trainings.confirm_guidelines(session, study, user.id)
    item = session.scalars(select(PracticeItem.id)).first()
    assert item is not None
    with pytest.raises(AnswerNotAllowed):
        trainings.answer_question(session, study, user.id, item_id=item, answer="better")
    with pytest.raises(NotFound):
        trainings.answer_question(session, study, user.id, item_id=item + 99, answer="left")
    with pytest.raises(NotFound):
        trainings.study_in_training(session, study.slug, make_user(session).id)
    with pytest.raises(Invalid, match="no document 'q9-d9'"):
        practice.add_question(session, study, pair(left="q9-d9"))


def test_removing_the_last_open_question_ends_the_try(session: Session) -> None:
    study, user = trained_study(session)
    trainings.confirm_guidelines(session, study, user.id)
    first, second = session.scalars(select(PracticeItem.id)).all()
    trainings.answer_question(session, study, user.id, item_id=first, answer="left")
    practice.remove_question(session, study, second)
    assert trainings.training_state(session, study, user.id).step is Step.PASSED
    acts = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert acts == ["practice.add", "practice.add", "practice.remove"]


def test_people_who_have_begun_and_studies_without_training_are_unaffected(
    session: Session,
) -> None:
    study, user = trained_study(session, needed=2)
    begun = make_assignment(session, user=user, query=queries_of(session, study)[0], round=1)
    begun.last_entry_at = begun.created_at
    waiting = make_assignment(session, user=user, query=queries_of(session, study)[1])
    other_work = make_assignment(session, user=user)
    session.flush()
    for assignment in (begun, waiting, other_work):
        state = assignment_state(
            session, LiveSessions(), assignment_id=assignment.id, user_id=user.id
        )
        assert not state.finished


def results_of(session: Session, slug: str) -> dict[str, bytes]:
    """Return every export and the report; this study has no features for letor."""
    found = {
        name: b"".join(open_export(session, slug, name).chunks)
        for name in writable_exports()
        if name != "letor"
    }
    return {**found, "report": as_json(make_report(StudySource(session, slug))).encode()}


def test_practice_is_in_no_export_and_no_report(session: Session) -> None:
    study = judged(session)
    user = make_user(session)
    make_assignment(session, user=user, query=queries_of(session, study)[1])
    before = results_of(session, study.slug)
    practice.add_question(session, study, pair())
    trainings.confirm_guidelines(session, study, user.id)
    answer_all(session, study, user, "left")
    assert results_of(session, study.slug) == before


def test_copies_and_deletion_include_the_training(session: Session, tmp_path: Path) -> None:
    study, user = trained_study(session)
    trainings.confirm_guidelines(session, study, user.id)
    answer_all(session, study, user, "left", "left")
    copy = full_copy.write_copy(session, study, tmp_path / "copy.zip")
    rows = {name: copy.rows[name] for name in ("practice_items", "trainings", "practice_answers")}
    assert rows == {"practice_items": 2, "trainings": 1, "practice_answers": 2}
    with ZipFile(tmp_path / "copy.zip") as archive:
        assert b'"answers": ["left"]' in archive.read("practice_items.jsonl")
    lifecycle.archive(session, study)
    lifecycle.delete_study(session, study, confirm=study.slug)
    assert session.scalars(select(Training)).all() == []


def test_a_backup_restores_the_training(engine: Engine, other: Engine, tmp_path: Path) -> None:  # noqa: F811
    with make_sessions(engine).write.begin() as session:
        study, user = trained_study(session)
        trainings.confirm_guidelines(session, study, user.id)
        answer_all(session, study, user, "left", "right")
    head = migrations.head_revision()
    write_backup(engine, head, tmp_path / "backup.zip")
    read_backup(other, head, tmp_path / "backup.zip")
    assert everything(other) == everything(engine)
