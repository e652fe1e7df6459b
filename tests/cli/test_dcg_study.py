"""`topkapi dcg learn --study`: gains and discounts from a study's own lists and grades."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.commands import run_command
from tests.factories import queries_of
from tests.ranked import Judge, give_lists, grade_pages, make_ranked_study
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Candidate
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.services.judging.live_sessions import LiveSessions


def fill(url: str) -> None:
    """Create three studies: judged and graded, judged without grades, not judged."""
    engine = make_engine(url)
    with make_sessions(engine).write.begin() as session:
        study = make_ranked_study(session, slug="tulips", systems=5, queries=8)
        grade_pages(session, study)
        grades = {row.document_id: row.grade or 0 for row in session.scalars(select(Candidate))}

        def by_worth(state: AskingLists) -> str:
            left, right = (
                sum(grades.get(page, 0) / (index + 1) for index, page in enumerate(each.documents))
                for each in (state.left, state.right)
            )
            if abs(left - right) < 0.3:
                return "same"
            much = "_much" if abs(left - right) > 3 else ""
            return f"left{much}" if left > right else f"right{much}"

        for query in queries_of(session, study):
            Judge(session, give_lists(session, study, query), LiveSessions()).to_the_end(by_worth)
        bare = make_ranked_study(session, slug="bare")
        Judge(session, give_lists(session, bare), LiveSessions()).to_the_end()
        make_ranked_study(session, slug="new")
    engine.dispose()


@pytest.fixture
def folder(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    fill(database_url)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return run_command(capsys, [*arguments])


@pytest.mark.thorough
def test_a_study_and_its_exports_teach_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--bootstrap", "0", "--k", "5", "--json")
    code, output, _ = run(capsys, "dcg", "learn", "--study", "tulips", *options)
    assert code == 0
    of_study = json.loads(output)
    assert sum(of_study["counts"].values()) == 80
    assert of_study["ungraded"] == 0
    assert of_study["validation"]["learned"]["all"] > 0.8
    assert run(capsys, "export", "tulips", "lists.jsonl", "--out", "lists.jsonl")[0] == 0
    lines = Path("lists.jsonl").read_text().splitlines()
    few = [line for line in lines if json.loads(line)["query"] in ("q0", "q1", "q2")]
    (folder / "few.jsonl").write_text("\n".join(few))
    pages = [(query, index) for query in range(8) for index in range(8)]
    qrels = (f"q{query} 0 q{query}-d{index} {index % 5}\n" for query, index in pages)
    (folder / "grades.qrels").write_text("".join(qrels))
    code, output, _ = run(
        capsys, "dcg", "learn", "lists.jsonl", "--grades", "grades.qrels", *options
    )
    assert code == 0
    of_files = json.loads(output)
    small = ("dcg", "learn", "few.jsonl", "--grades", "grades.qrels", *options)
    assert run(capsys, *small)[0] == 0
    assert "take fewer folds" in run(capsys, *small, "--folds", "5")[2]
    assert of_files["counts"] == of_study["counts"]
    assert of_files["gains"] == pytest.approx(of_study["gains"], abs=1e-6)
    assert of_files["discounts"] == pytest.approx(of_study["discounts"], abs=1e-6)


@pytest.mark.thorough
def test_only_positions_that_were_shown_count(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert folder.exists()
    code, output, _ = run(capsys, "dcg", "learn", "--study", "tulips", "--bootstrap", "0", "--json")
    assert code == 0
    assert len(json.loads(output)["discounts"]) == 5


@pytest.mark.thorough
def test_refusals_say_what_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert folder.exists()
    for arguments, reason in (
        (("--study", "new"), "nobody has compared two lists yet"),
        (("--study", "bare"), "no page of its lists has a grade"),
        (("--study", "gone"), "There is no study 'gone'"),
        ((), "give either a file of preferences or a study"),
        (("lists.jsonl", "--study", "new"), "give either a file of preferences or a study"),
        (("--study", "tulips", "--levels", "3"), "a study has its own grades"),
        (("--study", "tulips", "--k", "6"), "shown to position 5"),
    ):
        code, _, error = run(capsys, "dcg", "learn", *arguments)
        assert code != 0
        assert reason in error
        assert error.count("\n") == 1
