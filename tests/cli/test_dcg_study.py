"""`topkapi dcg learn --study`: gains and discounts from a study's own lists and grades."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.commands import Command
from tests.databases import transaction_on
from tests.factories import queries_of
from tests.ranked import Judge, give_lists, grade_pages, make_ranked_study
from topkapi.app.db.models import Candidate
from topkapi.app.domain.lists.session import AskingLists


def fill(url: str) -> None:
    """Create three studies: judged and graded, judged without grades, not judged."""
    with transaction_on(url) as session:
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
            Judge(session, give_lists(session, study, query)).to_the_end(by_worth)
        bare = make_ranked_study(session, slug="bare")
        Judge(session, give_lists(session, bare)).to_the_end()
        make_ranked_study(session, slug="new")


@pytest.fixture
def folder(database_url: str, folder_of_commands: Path) -> Path:
    fill(database_url)
    return folder_of_commands


@pytest.mark.thorough
def test_a_study_and_its_exports_teach_the_same(folder: Path, topkapi: Command) -> None:
    options = ("--bootstrap", "0", "--k", "5")
    of_study = topkapi.told("dcg", "learn", "--study", "tulips", *options)
    assert sum(of_study["counts"].values()) == 80
    assert of_study["ungraded"] == 0
    assert of_study["validation"]["learned"]["all"] > 0.8
    assert topkapi("export", "tulips", "lists.jsonl", "--out", "lists.jsonl")[0] == 0
    lines = Path("lists.jsonl").read_text().splitlines()
    few = [line for line in lines if json.loads(line)["query"] in ("q0", "q1", "q2")]
    (folder / "few.jsonl").write_text("\n".join(few))
    pages = [(query, index) for query in range(8) for index in range(8)]
    qrels = (f"q{query} 0 q{query}-d{index} {index % 5}\n" for query, index in pages)
    (folder / "grades.qrels").write_text("".join(qrels))
    files = ("--grades", "grades.qrels", *options)
    of_files = topkapi.told("dcg", "learn", "lists.jsonl", *files)
    small = ("dcg", "learn", "few.jsonl", *files)
    assert topkapi(*small)[0] == 0
    assert "take fewer folds" in topkapi(*small, "--folds", "5")[2]
    assert of_files["counts"] == of_study["counts"]
    assert of_files["gains"] == pytest.approx(of_study["gains"], abs=1e-6)
    assert of_files["discounts"] == pytest.approx(of_study["discounts"], abs=1e-6)


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_only_positions_that_were_shown_count(topkapi: Command) -> None:
    learned = topkapi.told("dcg", "learn", "--study", "tulips", "--bootstrap", "0")
    assert len(learned["discounts"]) == 5


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_refusals_say_what_is_missing(topkapi: Command) -> None:
    for arguments, reason in (
        (("--study", "new"), "no lists have been compared yet"),
        (("--study", "bare"), "no page of its lists has a grade"),
        (("--study", "gone"), "There is no study 'gone'"),
        ((), "give either a file of preferences or a study"),
        (("lists.jsonl", "--study", "new"), "give either a file of preferences or a study"),
        (("--study", "tulips", "--levels", "3"), "a study has its own grades"),
        (("--study", "tulips", "--k", "6"), "shown to position 5"),
    ):
        assert reason in topkapi.refused("dcg", "learn", *arguments)
