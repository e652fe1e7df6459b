"""What machines judged leaves and enters a study: calls, qrels and umbrela's lines."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update

from tests.cases import each_case
from tests.chat_endpoint import ChatEndpoint, serving_chat
from tests.commands import Command
from tests.factories import make_user
from tests.ranked import make_ranked_study
from tests.services.test_machines import result_of, run
from topkapi.analysis.data.exports import Label, read_calls, read_qrels, read_umbrela
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services.accounts.users import create_user
from topkapi.app.services.fence.limits import MAX_LINE
from topkapi.app.services.machines.assessors import machine_named
from topkapi.app.services.machines.importing import ImportedGrades, import_grades, read_grades
from topkapi.app.services.results.exports import ExportOptions, StudySource, open_export
from topkapi.app.services.results.systems.runs import MOST_LINES

SLUG = "exchanged"


def exported(sessions: Sessions, folder: Path, name: str, assessor: str | None) -> Path:
    with sessions.read() as session:
        options = ExportOptions(assessor=assessor)
        path = folder / name
        path.write_bytes(b"".join(open_export(session, SLUG, name, options).chunks))
    return path


def imported(sessions: Sessions, name: str, labels: list[Label]) -> ImportedGrades:
    return import_grades(sessions, SLUG, name, labels)


def grades_in(path: Path) -> list[Label]:
    return list(read_grades(path.name, path.read_bytes()))


@pytest.mark.thorough
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


@pytest.mark.usefixtures("folder_of_commands")
def test_grades_of_a_machine_leave_and_enter_as_qrels_and_umbrela_lines(
    sessions: Sessions, tmp_path: Path, topkapi: Command
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
    assert grades_in(qrels) == read_qrels(qrels) == labels
    assert grades_in(umbrela) == read_umbrela(umbrela) == labels
    told = topkapi("machine", "import", SLUG, "other", str(umbrela))
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
    with sessions.write.begin() as session:
        session.execute(update(Study).values(archived_at=now()))
    with pytest.raises(Conflict, match="is archived; unarchive it"):
        imported(sessions, "other", [Label("q0", "q0-d1", 1)])


@each_case(
    "line", ["{", '{"query": "tea", "judgment": 2}', "q1 0 d1", "q1 0 d1 x", "q1 0 d1 \u0664"]
)
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(Invalid, match=r"^sent\.gz, line 1"):
        list(read_grades("sent.gz", gzip.compress(f"{line}\n".encode())))


def test_a_byte_that_is_not_utf_8_is_named_by_its_line() -> None:
    with pytest.raises(Invalid, match=r"^sent, line 2: not UTF-8"):
        list(read_grades("sent", b"\xef\xbb\xbfq1 0 d1 1\n\xff 0 d 1\n"))


def test_files_of_more_lines_than_a_run_may_have_are_refused_before_they_are_read() -> None:
    lines = b"\n" * (MOST_LINES + 1)
    with pytest.raises(Invalid, match=f"more than {MOST_LINES:,} lines"):
        next(read_grades("sent", lines))
    with pytest.raises(Invalid, match="line 1: more than"):
        next(read_grades("sent", b"{" + b" " * MAX_LINE))


@pytest.mark.both
def test_what_is_not_of_the_study_is_dropped_outside_the_transaction(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_ranked_study(session, slug=SLUG, queries=1, documents=4)

    def labels() -> Iterator[Label]:
        for number in range(3):
            with sessions.late.begin() as session:  # fails if something holds a write lock
                make_user(session, email=f"p{number}@lab.example")
            yield Label("q0", f"q0-d{number}", 1)
            yield Label(f"unknown-{number}", "d", 1)

    assert import_grades(sessions, SLUG, "gpt", labels()) == ImportedGrades("gpt", 1, 3, 3)


def test_every_name_of_a_machine_has_its_own_account(sessions: Sessions) -> None:
    long = "m" * 60
    names = ("gpt-4.1", "gpt-4-1", "a/b", "a_b", "a b", "GPT-4.1", f"{long}-1", f"{long}-2", "模型")
    with sessions.write.begin() as session:
        make_ranked_study(session, slug=SLUG, queries=1, documents=4)
        before = make_user(session, email="gpt-4-1@machine.invalid", name="gpt-4.1")
        before.machine = True
        person = make_user(session, email="a_b@machine.invalid", name="a_b")
    for name in names:
        assert imported(sessions, name, [Label("q0", "q0-d0", 1)]).machine == name
    with sessions.write.begin() as session:
        found = {name: machine_named(session, f" {name} ") for name in names}
        assert len({user.id for user in found.values()}) == len(names)
        assert found["gpt-4.1"].id == before.id, "as it was named by an earlier version"
        assert person.id not in {user.id for user in found.values()}
        assert all(user.machine for user in found.values())


def test_people_have_no_address_of_a_machine(sessions: Sessions) -> None:
    with sessions.write.begin() as session, pytest.raises(Invalid, match=r"machine\.invalid"):
        create_user(session, email="Ada@Machine.invalid", name="Ada", role=Role.ASSESSOR)
