"""`topkapi rank toprank-study`: the three comparisons, on small folds."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import Command
from topkapi.analysis.data import RankingData, write_letor
from topkapi.analysis.metrics import usual_gains


def graded(seed: int, first: int) -> RankingData:
    rng = np.random.default_rng(seed)
    features = rng.random((120, 3))
    clean = features[:, 0] + 0.5 * features[:, 1] + 0.1 * rng.normal(size=120)
    labels = np.digitize(clean, [0.8, 1.2]).astype(float)
    names = tuple(str(first + query) for query in range(10))
    return RankingData(features, labels, np.arange(0, 121, 12), names)


def write_fold(folder: Path) -> str:
    (folder / "data/Fold1").mkdir(parents=True)
    for index, part in enumerate(("train", "vali", "test")):
        write_letor(graded(index, 100 * index), folder / f"data/Fold1/{part}.txt")
    return str(folder / "data")


def test_models_are_compared_under_learned_gains(topkapi: Command, tmp_path: Path) -> None:
    data, gains = write_fold(tmp_path), tmp_path / "gains.json"
    usual_gains(3, 10, linear=True).save(gains)
    found = []
    for more in ((), ("--gains", str(gains))):
        arguments = ["rank", "compare", data, "--models", "regression", "--truth", "graded"]
        tables = topkapi.told(*arguments, "--out", str(tmp_path / "out"), *more)["tables"]
        found.append(dict(zip(tables[0]["columns"], tables[0]["rows"]["Regression"], strict=True)))
    assert found[0]["N@10"] != found[1]["N@10"]
    assert found[0]["MAP"] == found[1]["MAP"]


@pytest.mark.thorough
def test_the_three_comparisons_have_a_row_for_every_model(topkapi: Command, tmp_path: Path) -> None:
    arguments = ["rank", "toprank-study", write_fold(tmp_path), "--out", str(tmp_path / "out")]
    tables = topkapi.told(*arguments)["tables"]
    rows = [list(table["rows"]) for table in tables]
    assert rows == [
        ["TopMargin", "TopSlack"],
        ["TopSlack", "TopRank"],
        ["TopRank", "Regression", "RankSVM", "ListNet", "Top-10 ListMLE"],
    ]
    assert tables[0]["columns"] == ["P@1", "P@3", "P@10", "N@1", "N@3", "N@10"]
    assert tables[0]["rows"]["TopSlack"] == tables[1]["rows"]["TopSlack"]
    assert all(
        0 < value <= 1 for table in tables for row in table["rows"].values() for value in row
    )
    stored = (tmp_path / "out/toprank-data.jsonl").read_text().splitlines()
    losses = {
        (row["model"], row["family"]): row["settings"].get("loss")
        for row in map(json.loads, stored)
    }
    assert losses["top-slack", "precision"] == "precision"
    assert losses["toprank", "ndcg"] == "ndcg"
    assert losses["ranksvm", "ndcg"] is None
