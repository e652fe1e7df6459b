"""What machines judged leaves and enters a study: calls, qrels and umbrela's lines."""

import gzip
import json
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.cases import each_case
from tests.chat_endpoint import ChatEndpoint, serving_chat
from tests.commands import run_command
from tests.ranked import make_ranked_study
from tests.services.test_machines import result_of, run
from topkapi.analysis.data.exports import Label, read_calls, read_qrels, read_umbrela
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study, User
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services.machines.importing import (
    ImportedGrades,
    import_grades,
    read_grades,
    read_sent,
)
from topkapi.app.services.results.exports import ExportOptions, StudySource, open_export

SLUG = "exchanged"


def exported(sessions: Sessions, folder: Path, name: str, assessor: str | None) -> Path:
    with sessions.read() as session:
        options = ExportOptions(assessor=assessor)
        path = folder / name
        path.write_bytes(b"".join(open_export(session, SLUG, name, options).chunks))
    return path


def imported(sessions: Sessions, name: str, labels: list[Label]) -> ImportedGrades:
    with sessions.write.begin() as session:
        study = session.scalars(select(Study).where(Study.slug == SLUG)).one()
        return import_grades(session, study, name, labels)


def test_calls_are_exported_with_reply_tokens_time_and_version_and_without_the_key(
    sessions: Sessions, tmp_path: Path
) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug=SLUG, queries=1, documents=4, k=2)
    with serving_chat(ChatEndpoint()) as endpoint:
        result_of(run(sessions, SLUG, endpoint, tools=["grades"]))
        result_of(run(sessions, SLUG, endpoint, tools=["pairs", "lists"], name="other"))
    path = exported(sessions, tmp_path, "calls.jsonl", None)
    calls = [each for each in read_calls(path) if each.tool == "grades"]
    assert len(calls) == 4
    for call in calls:
        assert (call.assessor, call.tool, call.model) == ("fake@machine.invalid", "grades", "fake")
        assert call.version == "fake-2026-11-01"
        assert json.loads(call.reply)["answer"] == call.answer
        assert (call.tokens_in, call.tokens_out, call.confidence) == (100, 5, 0.8)
        assert call.finished_at is not None
    assert endpoint.key not in path.read_text()
    for name in ("topk.jsonl", "consensus.jsonl", "qrels", "confidence.jsonl", "lists.jsonl"):
        assert exported(sessions, tmp_path, name, "other@machine.invalid").read_bytes(), name


def test_grades_of_a_machine_leave_and_enter_as_qrels_and_umbrela_lines(
    sessions: Sessions,
    tmp_path: Path,
    database_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug=SLUG, queries=2, documents=4)
    labels = [Label("q0", "q0-d0", 0), Label("q0", "q0-d2", 4), Label("q1", "q1-d1", 3)]
    elsewhere = [Label("q0", "q9-d9", 1), Label("q7", "q0-d0", 1)]
    found = imported(sessions, "gpt", [*labels, *elsewhere])
    assert found == ImportedGrades("gpt", queries=2, judgments=3, left_out=2)
    machine = "gpt@machine.invalid"
    qrels = exported(sessions, tmp_path, "grades.qrels", machine)
    umbrela = exported(sessions, tmp_path, "umbrela.jsonl", machine)
    assert read_grades(qrels) == read_qrels(qrels) == labels
    assert read_grades(umbrela) == read_umbrela(umbrela) == labels
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    told = run_command(capsys, ["machine", "import", SLUG, "other", str(umbrela)])
    assert told[:2] == (0, "other: 3 grades of 2 queries imported\n")
    again = exported(sessions, tmp_path, "grades.qrels", "other@machine.invalid")
    assert read_qrels(again) == labels
    with sessions.read() as session:
        assert list(StudySource(session, SLUG).all_works()) == [], "no person judged"
        assert all(session.scalars(select(User.machine)))


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([Label("q0", "q0-d0", 5)], "the grade 5 is not one of 0 to 4"),
        ([Label("q0", "q0-d0", -1)], "the grade -1 is not one of 0 to 4"),
        ([Label("q0", "q0-d0", 1), Label("q0", "q0-d0", 2)], "two different grades"),
        ([Label("q7", "q0-d0", 1)], "No judgment is about a query"),
        ([], "No judgment is about a query"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(
    sessions: Sessions, labels: list[Label], why: str
) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug=SLUG, queries=1, documents=4)
    with pytest.raises(Invalid, match=why):
        imported(sessions, "gpt", labels)
    with sessions.read() as session:
        assert session.scalars(select(User)).all() == []


def test_a_machine_s_work_is_imported_once(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug=SLUG, queries=1, documents=4)
    imported(sessions, "gpt", [Label("q0", "q0-d0", 1)])
    with pytest.raises(Conflict, match="has work on q0 already"):
        imported(sessions, "gpt", [Label("q0", "q0-d1", 1)])


@each_case("line", ["{", '{"query": "tea", "judgment": 2}', "q1 0 d1", "q1 0 d1 x"])
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "file"
    path.write_text(f"{line}\n")
    with pytest.raises(Invalid, match="line 1"):
        read_grades(path)
    with pytest.raises(Invalid, match=r"^sent\.gz, line 1"):
        read_sent("sent.gz", gzip.compress(path.read_bytes()))
