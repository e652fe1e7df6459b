"""Each export is read by the tool it is for, which finds what our own reader finds."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas
import pyarrow.parquet
import pytest
from crowdkit.aggregation import BradleyTerry
from datasets import load_dataset

from tests.exporting import NOTE, make_judged_study
from tests.services.test_exports import Files
from topkapi.analysis.data.exports import (
    read_judgments,
    read_pairs,
    read_preferences,
    read_topk,
)
from topkapi.app.cli import main
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.results.exports import export_session, open_export


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
    records = [asdict(each) for each in files(read, text)]
    rows = pyarrow.parquet.read_table(files.path(name)).to_pylist()
    for row, record in zip(rows, records, strict=True):
        if "options" in row:
            row["options"] = json.loads(row["options"])
        assert row == {key: _as_list(value) for key, value in record.items()}
    table = pandas.read_parquet(files.path(name))
    assert list(table.columns) == list(records[0])
    assert table["query"].tolist() == [record["query"] for record in records]
    if "at" in records[0]:
        assert table["at"].dt.tz is not None


def _as_list(value: Any) -> Any:
    return [_as_list(each) for each in value] if isinstance(value, tuple) else value


@pytest.mark.usefixtures("files")
def test_without_pyarrow_the_export_names_the_extra(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        export_session(sessions) as session,
        pytest.raises(Invalid, match=r"pip install topkapi\[parquet\]"),
    ):
        open_export(session, "tulips", "pairs.parquet")


def test_crowd_kit_ranks_the_pages(files: Files) -> None:
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
    def load(name: str) -> Any:
        options: dict[str, Any] = {"split": "train", "cache_dir": str(tmp_path / "cache")}
        return load_dataset("json", data_files=str(files.path(name)), **options)

    records = files(read_preferences, "preferences.jsonl")
    plain, triplets, talks = map(
        load, ("preferences.jsonl", "triplets.jsonl", "conversations.jsonl")
    )
    assert plain["chosen"][:] == triplets["positive"][:] == [each.chosen for each in records]
    assert list(triplets.column_names) == ["anchor", "positive", "negative"]
    for talk, record in zip(talks, records, strict=True):
        assert talk["prompt"] == [{"role": "user", "content": record.prompt}]
        assert talk["chosen"] == [{"role": "assistant", "content": record.chosen}]
        assert talk["rejected"] == [{"role": "assistant", "content": record.rejected}]


def test_the_dataset_is_a_folder_that_the_hub_library_loads(
    files: Files, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    folder = tmp_path / "tulips"
    for code in (0, 1):  # it is not overwritten
        with pytest.raises(SystemExit) as end:
            main(["export", "tulips", "dataset", "--out", str(folder)])
        assert end.value.code == code
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
    assert set(entries["note"][:]) == {None}
    assert NOTE in {each.note for each in logged}
    assert not any(b"@tulips.example" in path.read_bytes() for path in folder.iterdir())
