"""`topkapi dcg`: learn, coherence, simulate."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import Command
from topkapi.analysis.dcglearn import load_gains
from topkapi.analysis.dcglearn.replication.simulated import random_pairs, true_gains


@pytest.fixture
def dcg(topkapi: Command) -> Command:
    return topkapi.of("dcg")


def write_lists(path: Path, n: int = 80) -> None:
    pool = random_pairs(n, true_gains(1).table, np.random.default_rng(1))
    rows = [
        {
            "query": f"q{number}",
            "left": pool.left[number].tolist(),
            "right": pool.right[number].tolist(),
            "answer": "left" if pool.signs[number] > 0 else "right_much",
        }
        for number in range(n)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.thorough
def test_learn_writes_gains_and_says_how_good_they_are(dcg: Command, tmp_path: Path) -> None:
    write_lists(tmp_path / "lists.jsonl")
    arguments = ("learn", str(tmp_path / "lists.jsonl"), "--bootstrap", "10")
    output = dcg.done(*arguments, "--out", str(tmp_path / "learned.json"))
    for word in ("80 preferences", "learned", "exponential", "linear", "chance", "learned.json"):
        assert word in output
    gains = load_gains(tmp_path / "learned.json")
    assert gains.gains.size == 5
    assert gains.discounts.size == 10
    told = dcg.told(*arguments, "--penalty", "weights", "--c", "1")
    assert told["settings"]["penalty"] == "weights"


def test_learn_joins_scores_cut_into_grades(dcg: Command, tmp_path: Path) -> None:
    lists, scores = tmp_path / "lists.jsonl", tmp_path / "scores.tsv"
    names = [f"d{number}" for number in range(6)]
    scores.write_text(
        "".join(f"q{q}\t{name}\t{15 * d}.5\n" for q in range(12) for d, name in enumerate(names))
    )
    rng = np.random.default_rng(0)
    with lists.open("w") as stream:
        for query in range(12):
            two = [list(map(str, rng.permutation(names))) for _ in range(2)]
            better = "left" if two[0][0] > two[1][0] else "right"
            row = {"query": f"q{query}", "left": two[0], "right": two[1], "answer": better}
            stream.write(json.dumps(row) + "\n")
    common = ("learn", str(lists), "--grades", str(scores), "--k", "3", "--bootstrap", "0")
    assert len(dcg.told(*common, "--cuts", "20,50", "--c", "1")["gains"]) == 3
    assert len(dcg.told(*common, "--levels", "2", "--c", "1")["gains"]) == 2
    for wrong, word in (
        ((), "whole grade"),
        (("--cuts", "a"), "not a comma-separated list of numbers"),
        (("--cuts", "1", "--levels", "2"), "either"),
    ):
        assert word in dcg.refused(*common, *wrong)
    assert "--grades" in dcg.refused("learn", str(lists), "--levels", "2")


def test_coherence_compares_any_two_settings(dcg: Command, tmp_path: Path) -> None:
    assert dcg.told("coherence", "--pairs", "20000")["agree"] == pytest.approx(0.90, abs=0.01)
    true_gains(1).save(tmp_path / "gains.json")
    picture = tmp_path / "figure.svg"
    output = dcg.done(
        *("coherence", "--first", "linear", "--second", str(tmp_path / "gains.json")),
        *("--pairs", "2000", "--out", str(picture)),
    )
    assert "100.0%" in output
    assert picture.read_text().startswith("<?xml")
    assert "cubic" in dcg.refused("coherence", "--first", "cubic")
    assert "--grades" in dcg.refused("coherence", "--grades", "1,x")


def test_simulate_draws_the_figures_asked_for(dcg: Command, tmp_path: Path) -> None:
    (figure,) = dcg.told("simulate", "--figure", "2", "--runs", "1", "--out", str(tmp_path / "out"))
    assert figure["figure"] == "2"
    assert figure["lines"]["DCGLearn"][-1] > 0.96
    assert (tmp_path / "out/figure-2.csv").read_text().startswith("training pairs,DCGLearn,Other")
    assert (tmp_path / "out/figure-2.png").stat().st_size > 1000
    assert "--data" in dcg.refused("simulate", "--figure", "11")


def test_simulate_ranks_the_documents_of_a_letor_file(dcg: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(0, 3)} qid:{q} 1:0.5\n" for q in range(1, 9) for _ in range(15)]
    (tmp_path / "tiny.letor").write_text("".join(lines))
    output = dcg.done(
        "simulate", "--data", str(tmp_path / "tiny.letor"), "--figure", "13", "--runs", "1"
    )
    assert "Figure 12-13" in output


def test_learned_gains_score_a_run(topkapi: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 0\nq 0 b 2\nq 0 c 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 3 x\nq Q0 b 2 2 x\nq Q0 c 3 1 x\n")
    gains = tmp_path / "gains.json"
    gains.write_text('{"gains": [1, 2, 5], "discounts": [1, 0.25]}')
    common = ("rank", "score", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"))
    learned = (*common, "--measures", "ndcg@2", "--gains", str(gains))
    for more, expected in (((), 1 / 4.25), (("--discounts-only",), 0.75 / 3.25)):
        measured = topkapi.told(*learned, *more)["measures"]
        assert measured["ndcg@2"] == pytest.approx(expected)
    for wrong, word in (
        (("--measures", "ndcg@3", "--gains", str(gains)), "beyond"),
        (("--measures", "map", "--gains", str(gains)), "none of which"),
        (("--measures", "ndcg@2", "--discounts-only"), "--gains"),
    ):
        assert word in topkapi.refused(*common, *wrong)
