"""`topkapi simulate`: budgets, error models, the frontier and its files, errors."""

import csv
import json
from pathlib import Path

import pytest

from topkapi.app.cli import main
from topkapi.app.domain.pairs.sorters.registry import SORTERS

SMALL = ("--n", "8", "--k", "3", "--runs", "6", "--processes", "1")


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, float]:
    with pytest.raises(SystemExit) as end:
        main(("simulate", *SMALL, "--json", *arguments))
    assert end.value.code == 0
    found: dict[str, float] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(("simulate", *SMALL, *arguments))
    assert end.value.code != 0
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.thorough
def test_robust_asks_its_budget_and_says_what_it_expects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = simulated(capsys, "--sorter", "robust", "--budget", "9", "--error", "0.1")
    assert found["judgments_mean"] == found["judgments_max"] == found["bound"] == 9
    assert 0 < found["expected_quality_mean"] <= 1
    assert 0 < found["error_rate_mean"] < 0.5
    assert 0 < found["kappa_ndcg_mean"] <= 1


def test_robust_ends_early_at_a_quality(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--sorter", "robust", "--budget", "60", "--stop-at", "0.8")
    found = simulated(capsys, *arguments)
    assert found["judgments_mean"] < 40
    assert found["expected_quality_mean"] >= 0.8


@pytest.mark.thorough
def test_the_frontier_is_drawn_and_tabled(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as end:
        main(("simulate", "frontier", str(tmp_path / "front.png"), *SMALL, "--error", "0,0.2"))
    assert end.value.code == 0
    assert "front.svg" in capsys.readouterr().out
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "front.svg").read_text()
    with (tmp_path / "front.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert set(SORTERS) <= {row["sorter"] for row in rows}
    assert {row["error"] for row in rows} == {"0.0", "0.2"}
    for name in ("robust", "robust, goal members"):
        curve = [row for row in rows if row["sorter"] == name and row["error"] == "0.0"]
        questions = [float(row["questions"]) for row in curve]
        assert len(questions) >= 4
        assert questions == sorted(questions)
    members, order = (
        [row["overlap"] for row in rows if row["sorter"] == name]
        for name in ("robust, goal members", "robust")
    )
    assert members != order, "each curve follows its own goal"
    heap = next(row for row in rows if row["sorter"] == "heap" and row["error"] == "0.0")
    assert float(heap["kappa_ndcg"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--frontier", "/nowhere/at/all/x"), "does not exist"),
        (("--error", "0.6", "--error-model", "bt"), "below 0.5"),
        (("--sorter", "robust", "--stop-at", "1.5"), "stop_at is 1.5"),
        (("--sorter", "quick"), "'quick' is not one of"),
        (("--n", "1", "--frontier", "x"), "two documents"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    error = refused(capsys, *arguments)
    assert message in error
    assert error.count("\n") == 1


def write_votes(path: Path, assessors: str = "xyz") -> str:
    """Write a round robin of six documents in which x errs about neighbours; return its path."""
    rows = ["query\ta\tb\tpreference\tassessor"]
    for who in assessors:
        for one in range(6):
            for other in range(one):
                erring = who == "x" and one - other == 1
                rows.append(f"q\td{one}\td{other}\t{'b' if erring else 'a'}\t{who}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_real_votes_answer_and_the_others_are_the_truth(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    votes = write_votes(tmp_path / "pairs.tsv")
    base = ("simulate", "votes", votes, "--k", "3", "--runs", "9", "--processes", "1", "--json")
    with pytest.raises(SystemExit):
        main((*base, "--one-assessor", "--sorter", "insertion"))
    found = json.loads(capsys.readouterr().out)
    assert found["error_model"] == "votes"
    assert found["filled_share"] == 0
    assert 0.5 < found["kappa_ndcg_mean"] < 1
    with pytest.raises(SystemExit):
        main((*base, "--n", "4", "--sorter", "robust", "--budget", "5"))
    drawn = json.loads(capsys.readouterr().out)
    assert drawn["judgments_max"] == 5
    assert 0 <= drawn["filled_share"] < 0.5
    assert drawn["expected_quality_mean"] == drawn["stated_kappa_ndcg_mean"]
    assert 0 < drawn["stated_overlap_mean"] <= 1


def test_votes_that_cannot_be_replayed_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    alone = write_votes(tmp_path / "alone.tsv", "x")
    assert "only one assessor" in refused(capsys, "--votes", alone, "--one-assessor")
    assert "Missing argument 'file'" in refused(capsys, "--one-assessor")
    missing = str(tmp_path / "missing.tsv")
    assert "cannot be read" in refused(capsys, "--votes", missing)


@pytest.mark.parametrize("model", ["even", "normal", "mixed"])
def test_every_error_model_is_simulated(capsys: pytest.CaptureFixture[str], model: str) -> None:
    arguments = ("--sorter", "heap", "--runs", "300", "--error", "0.1", "--error-model", model)
    found = simulated(capsys, *arguments)
    assert 0.5 < found["kappa_ndcg_mean"] < 1
    assert 0.5 < found["overlap_mean"] <= 1


@pytest.mark.thorough
def test_a_team_of_people_a_ranker_and_finished_queries_are_simulated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    base = ("--sorter", "robust", "--error", "0.1", "--budget", "24")
    alone = simulated(capsys, *base)
    assert simulated(capsys, *base, "--team", "1", "--random-people", "0") == alone
    team = simulated(capsys, *base, "--team", "3", "--random-people", "1")
    assert (team["team"], team["at_random"], team["judgments_max"]) == (3, 1, 24)
    assert team["error_rate_mean"] > alone["error_rate_mean"] + 0.05
    ranked = simulated(capsys, *base, "--prior", "0.95", "--runs", "12", "--budget", "5")
    plain = simulated(capsys, *base, "--runs", "12", "--budget", "5")
    assert ranked["kappa_ndcg_mean"] > plain["kappa_ndcg_mean"] + 0.1
    study = simulated(capsys, *base, "--queries", "3", "--runs", "4", "--error", "0.3")
    assert study["queries"] == 3
    assert 0 < study["stated_kappa_ndcg_mean"] <= 1
    assert 0 <= study["kappa_ndcg_se"] < 1


def test_a_table_of_votes_shows_standard_errors_and_the_ceiling(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    votes = write_votes(tmp_path / "pairs.tsv", "vwxyz")
    base = ("simulate", "--k", "3", "--runs", "5", "--processes", "1", "--votes", votes)
    with pytest.raises(SystemExit):
        main((*base, "--sorter", "robust,insertion", "--budget", "9", "--team", "2"))
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[6:] == [
        *("kappa-NDCG", "±", "stated", "own", "ceiling"),
        *("overlap", "±", "stated", "own", "ceiling"),
    ]
    robust, insertion = (row.split() for row in rows)
    assert robust[10] == insertion[9], "the same votes have the same ceiling"
    with pytest.raises(SystemExit):
        main((*base, "--one-assessor", "--sorter", "insertion", "--json"))
    found = json.loads(capsys.readouterr().out)
    assert found["ceiling_kappa_ndcg_mean"] >= found["kappa_ndcg_mean"] - 1e-9
    assert found["ceiling_overlap_mean"] == 1.0, "who errs about neighbours finds the members"
    assert found["own_overlap_mean"] == 1.0, "a sorter that asks everything finds their members"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--team", "2", "--random-people", "3"), "3 of a team of 2 are too many"),
        (("--votes", "VOTES", "--team", "3"), "no one is left for the truth"),
        (("--votes", "VOTES", "--prior", "0.5"), "No such option: --prior"),
        (("--votes", "VOTES", "--one-assessor", "--team", "2"), "cannot be combined with --team"),
    ],
)
def test_teams_that_cannot_be_simulated_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    votes = write_votes(tmp_path / "pairs.tsv")
    given = [votes if each == "VOTES" else each for each in arguments]
    error = refused(capsys, *given)
    assert message in " ".join(error.split())


def test_options_name_the_command_as_they_did(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    votes = write_votes(tmp_path / "pairs.tsv")
    few = ("--k", "3", "--runs", "3", "--processes", "1", "--json")
    outputs = []
    for words in (("votes", votes, *few), (*few, "--votes", votes), (f"--votes={votes}", *few)):
        with pytest.raises(SystemExit) as end:
            main(("simulate", *words))
        assert end.value.code == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] == outputs[2]
    with pytest.raises(SystemExit) as end:
        main(("simulate", "--help"))
    assert "frontier" in capsys.readouterr().out
