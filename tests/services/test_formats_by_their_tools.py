"""Each export is read by the tool it is for, which finds what our own reader finds.

The tools are imported by the tests that use them: together they take longer than everything else
that every worker imports to collect the tests.
"""

import json
import sys
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml

from tests.exporting import NOTE, make_judged_study
from tests.services.test_exports import Files
from tests.trec_eval import trec_eval
from topkapi.analysis.data.exports import (
    read_consensus,
    read_judgments,
    read_pairs,
    read_pref,
    read_preferences,
    read_prefs,
    read_qrels,
    read_qrels_prefs,
    read_topk,
)
from topkapi.analysis.data.runs import read_run
from topkapi.analysis.metrics import PREFS_MEASURES, evaluate_prefs
from topkapi.analysis.report.sources import read_preferences as read_report_source
from topkapi.app.cli import main
from topkapi.app.db.engine import Sessions
from topkapi.app.services.results.exports import export_session, open_export
from topkapi.extras import MissingPackage


@pytest.fixture
def files(sessions: Sessions, tmp_path: Path) -> Files:
    with sessions.write.begin() as session:
        make_judged_study(session)
    return Files(sessions, tmp_path)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("topk.parquet", read_topk),
        ("judgments.parquet", read_judgments),
        ("pairs.parquet", read_pairs),
    ],
)
def test_parquet_tables_hold_the_records(files: Files, name: str, read: Any) -> None:
    text = "pairs.tsv" if name.startswith("pairs") else name.replace("parquet", "jsonl")
    records = [_numbered(asdict(each)) for each in files(read, text)]
    rows = pyarrow.parquet.read_table(files.path(name)).to_pylist()
    for row, record in zip(rows, records, strict=True):
        if "options" in row:
            row["options"] = json.loads(row["options"])
        assert row == {key: _as_list(value) for key, value in record.items()}
    import pandas

    table = pandas.read_parquet(files.path(name))
    assert list(table.columns) == list(records[0])
    assert table["query"].tolist() == [record["query"] for record in records]
    if "at" in records[0]:
        assert table["at"].dt.tz is not None


def _numbered(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record with the round counted from 1 behind the one counted from 0."""
    numbered: dict[str, Any] = {}
    for key, value in record.items():
        numbered[key] = value
        if key == "round":
            numbered["round_number"] = value + 1
    return numbered


def _as_list(value: Any) -> Any:
    return [_as_list(each) for each in value] if isinstance(value, tuple) else value


@pytest.mark.usefixtures("files")
def test_without_pyarrow_the_export_names_the_extra(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        export_session(sessions) as session,
        pytest.raises(MissingPackage, match=r"pip install .pyarrow"),
    ):
        open_export(session, "tulips", "pairs.parquet")


@pytest.mark.parametrize("format", ["prefs", "qrels_prefs"])
def test_trec_eval_scores_runs_on_the_lists(files: Files, tmp_path: Path, format: str) -> None:
    (consensus, *_) = files(read_consensus, "consensus.jsonl")
    lines = [
        f"{consensus.query} Q0 {name} 0 {-rank} agreed\n"
        for rank, name in enumerate(consensus.documents)
    ]
    run = tmp_path / "agreed.run"
    run.write_text("".join(lines))
    theirs = trec_eval(format, files.path(format), run, PREFS_MEASURES)
    levels = files(read_prefs if format == "prefs" else read_qrels_prefs, format)
    ours = evaluate_prefs(levels, read_run(run), PREFS_MEASURES)
    for name, values in theirs.items():
        assert values == {consensus.query: pytest.approx(ours[name][consensus.query])}, name
    assert theirs["prefs_avgjg"][consensus.query] > 0.5


def test_winners_go_out_and_come_in_as_clarkes_tools_have_them(files: Files) -> None:
    path = files.path("pref")
    answers = files(read_pref, "pref")
    rows = [line.split() for line in path.read_text().splitlines()]
    assert [(query, a, b) for query, a, b, _ in rows] == [(x.query, x.a, x.b) for x in answers]
    assert all(better in (a, b) for _, a, b, better in rows)
    (tool,) = read_report_source([path]).tools
    assert tool.judgments is not None
    assert len(tool.judgments.query) == len(answers)


def test_crowd_kit_ranks_the_pages(files: Files) -> None:
    import pandas
    from crowdkit.aggregation import BradleyTerry

    answers = pandas.read_csv(files.path("crowdkit.csv"))
    pairs = [each for each in files(read_pairs, "pairs.tsv") if each.preference != "tie"]
    assert len(answers) == len(pairs)
    for query, rows in answers.groupby("query"):
        scores = BradleyTerry(n_iter=200).fit_predict(rows)
        assert set(scores.index) == set(rows["left"]) | set(rows["right"])
        won = set(rows["label"])
        lost = {
            name for row in rows.itertuples() for name in (row.left, row.right) if name != row.label
        }
        unbeaten = won - lost
        assert not unbeaten or scores.idxmax() in unbeaten, query


def test_training_libraries_load_the_preferences(files: Files, tmp_path: Path) -> None:
    from datasets import load_dataset

    def load(name: str) -> Any:
        options: dict[str, Any] = {"split": "train", "cache_dir": str(tmp_path / "cache")}
        return load_dataset("json", data_files=str(files.path(name)), **options)

    records = files(read_preferences, "preferences.jsonl")
    plain, triplets, talks = map(
        load, ("preferences.jsonl", "triplets.jsonl", "conversations.jsonl")
    )
    labels = load_dataset(  # as BEIR: with a header, between tabs
        "csv",
        data_files=str(files.path("beir.tsv")),
        delimiter="\t",
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert [tuple(row.values()) for row in labels] == files(read_qrels, "qrels")
    assert plain["chosen"][:] == triplets["positive"][:] == [each.chosen for each in records]
    assert list(triplets.column_names) == ["anchor", "positive", "negative"]
    for talk, record in zip(talks, records, strict=True):
        assert talk["prompt"] == [{"role": "user", "content": record.prompt}]
        assert talk["chosen"] == [{"role": "assistant", "content": record.chosen}]
        assert talk["rejected"] == [{"role": "assistant", "content": record.rejected}]


def described(folder: Path) -> None:
    """Check that croissant.json describes every file, and every field as it is written."""
    found = json.loads((folder / "croissant.json").read_text("utf-8"))
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    terms = set(found["@context"])
    shown = {each["@id"]: each for each in found["distribution"]}
    assert set(shown) == {path.name for path in folder.iterdir()} - {"croissant.json"}
    for name, each in shown.items():
        content = (folder / name).read_bytes()
        assert each["sha256"] == sha256(content).hexdigest()
        assert each["contentSize"] == f"{len(content)} B"
    sets = {each["name"]: each["field"] for each in found["recordSet"]}
    assert set(sets) == {Path(name).stem for name in shown if name.endswith(".jsonl")}
    kinds = {"Text": str, "Integer": int, "Float": float, "Boolean": bool, "Date": str}
    left_out = {"groups", "options"}
    for name, fields in sets.items():
        for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            assert {field["name"] for field in fields} == set(record) - left_out
            for field in fields:
                assert set(field) <= {"@type", "@id", "name"} | terms
                assert field["source"]["fileObject"]["@id"] in shown
                value = record[field["source"]["extract"]["column"]]
                kind = kinds[field["dataType"].removeprefix("sc:")]
                values = value if field.get("repeated") else [value]
                assert all(each is None or type(each) is kind for each in values), field


def test_the_dataset_is_a_folder_that_the_hub_library_loads(
    files: Files, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datasets import load_dataset

    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    folder = tmp_path / "tulips"
    about = ["--license", "cc-by-4.0", "--creator", "Lehto Lab", "--creator", "Bao Trinh"]
    about += ["--citation", "Lehto 2026"]
    for code in (0, 1):  # it is not overwritten
        with pytest.raises(SystemExit) as end:
            main(["export", "tulips", "dataset", "--out", str(folder), *about])
        assert end.value.code == code
    assert (folder / "guidelines.md").read_text("utf-8")
    assert json.loads((folder / "settings.json").read_text("utf-8"))["k"] == 10
    told = json.loads((folder / "croissant.json").read_text("utf-8"))
    assert (told["license"], told["citeAs"]) == ("cc-by-4.0", "Lehto 2026")
    assert [each["name"] for each in told["creator"]] == ["Lehto Lab", "Bao Trinh"]
    options: dict[str, Any] = {"split": "train", "cache_dir": str(tmp_path / "cache")}
    lists = load_dataset(str(folder), **options)
    assert lists["ranking"][:] == [
        list(each.ranking) for each in files(read_topk, "topk.jsonl", pseudonyms=True)
    ]
    pairs = load_dataset(str(folder), "pairs", **options)
    assert pairs["preference"][:] == [
        each.preference for each in files(read_pairs, "pairs.tsv", pseudonyms=True)
    ]
    entries = load_dataset(str(folder), "judgments", **options)
    logged = files(read_judgments, "judgments.jsonl")
    assert len(entries) == len(logged)
    card = (folder / "README.md").read_text("utf-8")
    assert yaml.safe_load(card.split("---")[1])["license"] == "cc-by-4.0"
    assert "Please cite: Lehto 2026" in card
    assert "choose a license" not in card
    working = {each.assessor for each in logged if not each.withdrawn}
    documents = (folder / "documents.jsonl").read_text("utf-8").splitlines()
    assert f"Topkapi: {len(working)} assessors, 3 queries,\n{len(documents)} documents" in card
    finished = sum(each.complete for each in files(read_topk, "topk.jsonl"))
    assert f"pairs: {finished} of 5 assignments finished" in card
    grades = (folder / "grades.qrels").read_text("utf-8").splitlines()
    assert len(grades) == len({(each.query, each.document) for each in logged if each.document})
    assert set(entries["note"][:]) == {None}
    assert NOTE in {each.note for each in logged}
    described(folder)
    assert not any(b"@tulips.example" in path.read_bytes() for path in folder.iterdir())
