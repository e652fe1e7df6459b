"""The commands and programs of tutorials and guides run, and print what the pages show."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.chat_endpoint import ChatEndpoint, serving_chat, values_of
from tests.databases import transaction_on
from tests.documentation import DOCS, FENCE, Reader
from tests.exporting import judge
from topkapi.analysis.data import read_topk
from topkapi.analysis.data.text_features import NAMES
from topkapi.app.db.models import Assignment, JudgmentRow
from topkapi.app.domain.enums import Tool
from topkapi.app.services.results.exports import EXPORTS


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_NEW_PASSWORD", "tulips-and-tiles-too")
    monkeypatch.setenv("MPLBACKEND", "agg")
    reader = Reader(capsys, monkeypatch)
    yield reader
    if reader.missing:
        pytest.skip(f"followed but for what needs {', '.join(sorted(reader.missing))}")


def judge_everything() -> None:
    """Judge all pages in the database of the current folder that nobody has begun to judge."""
    with transaction_on("sqlite:///topkapi.db") as session:
        begun = select(JudgmentRow.assignment_id)
        pages = Assignment.id.not_in(begun), Assignment.tool != Tool.LISTS
        for assignment in session.scalars(select(Assignment).where(*pages)):
            judge(session, assignment)


def test_from_labels_to_models(reader: Reader, tmp_path: Path) -> None:
    assert reader.follow("tutorial.md") >= 8
    for name in ("qrels.txt", "consensus.jsonl", "run.txt", "model.json", "report/report.html"):
        assert (tmp_path / name).stat().st_size > 0
    for ending in ("txt", "csv", "md", "tex", "html", "jsonl"):
        assert (tmp_path / "results" / f"compare-everyday-questions.{ending}").exists()
    guides_follow(reader, tmp_path)


def guides_follow(reader: Reader, folder: Path) -> None:
    """Follow the guides that go on with the demo, and read every export as their page shows."""
    blocks = {
        page: FENCE.findall((DOCS / page).read_text()) for page in ("exports.md", "crowds.md")
    }
    (letor,) = [block for _, block in blocks["exports.md"] if block.startswith("# feature")]
    (people,) = [block for kind, block in blocks["crowds.md"] if kind == "text"]
    (folder / "people.csv").write_text(people)
    for name in sorted(EXPORTS.keys() - {"letor"}):
        reader.run(f"topkapi export everyday-questions {name} --out {name}")
    (folder / "letor").write_text(letor)
    for page in ("exports.md", "systems.md", "crowds.md", "studies.md"):
        reader.follow(page)


def test_the_features_from_words_are_named() -> None:
    lines = (DOCS / "tutorial.md").read_text(encoding="utf-8").splitlines()
    assert [line[2:] for line in lines if line.startswith("- ")] == list(NAMES)


def test_a_pilot_with_two_colleagues(reader: Reader, tmp_path: Path) -> None:
    reader.served = judge_everything
    assert reader.follow("pilot.md") >= 10
    lists = read_topk(tmp_path / "topk.jsonl")
    assert len(lists) == 4
    assert all(each.complete and len(each.ranking) == 3 for each in lists)
    assert (tmp_path / "report/report.html").exists()


def test_answers_of_language_models(reader: Reader, tmp_path: Path) -> None:
    page = (DOCS / "answers.md").read_text(encoding="utf-8")
    (answers,) = [block for kind, block in FENCE.findall(page) if kind == "json"]
    (tmp_path / "answers.jsonl").write_text(answers)
    reader.follow("pilot.md")
    reader.served = judge_everything
    assert reader.follow("answers.md") >= 6
    assert (tmp_path / "pairs.tsv").read_text().count("\n") > 4


def test_a_machine_is_tested(
    reader: Reader, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.served = judge_everything
    with serving_chat(ChatEndpoint(key="", model=grade)) as endpoint:
        reader.instead = {"http://localhost:11434/v1": endpoint.address}
        assert reader.follow("machine-tutorial.md") >= 12
    (tool,) = reader.names["machines"]["tools"]
    assert [row["kind"] for row in tool["agreement"]] == ["people", "people and machines"]
    assert "not shown\n- It holds for this model" in capsys.readouterr().out
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 6 * 16


def grade(prompt: str) -> str:
    """Grade a page by its length, or give the first of the probed letters."""
    values = values_of(prompt)
    return "A" if "alphabet" in prompt else values[len(prompt) % len(values)]


def test_the_library_in_a_notebook(
    reader: Reader, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    assert reader.follow("notebook.md") >= 8
    assert "'p@1': 1.0" in capsys.readouterr().out
    assert (tmp_path / "agreement.png").stat().st_size > 1000


@pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)
def test_a_server_is_operated(
    reader: Reader, empty_database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reader.follow("pilot.md")
    reader.monkeypatch.delenv("TOPKAPI_NEW_PASSWORD")
    page = (DOCS / "operate.md").read_text(encoding="utf-8")
    (address,) = re.findall(r"TOPKAPI_DATABASE_URL=postgresql:\S+", page)
    reader.instead = {address: f"TOPKAPI_DATABASE_URL={empty_database_url}"}
    assert reader.follow("operate.md") >= 8
    reader.instead = {}
    reader.run("topkapi study list")
    capsys.readouterr()
