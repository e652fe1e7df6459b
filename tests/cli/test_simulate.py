"""`topkapi simulate`: budgets, error models, the frontier and its files, errors."""

import csv
from itertools import product
from pathlib import Path

import pytest

from tests.commands import Command
from topkapi.app.domain.pairs.sorters.registry import SORTERS

SMALL = ("--n", "8", "--k", "3", "--runs", "6", "--processes", "1")


def in_full(arguments: tuple[str, ...]) -> list[str]:
    """Return a small simulation; its command is `sessions` where options follow at once."""
    named = () if arguments[0].startswith("-") else arguments[:2]
    return ["simulate", *(named or ("sessions",)), *SMALL, *arguments[len(named) :]]


def simulated(topkapi: Command, *arguments: str) -> dict[str, float]:
    found: dict[str, float] = topkapi.told(*in_full(arguments))
    return found


def refused(topkapi: Command, *arguments: str) -> str:
    code, out, err = topkapi(*in_full(arguments))
    assert code != 0
    assert out == ""
    return err


@pytest.mark.thorough
def test_robust_asks_its_budget_and_says_what_it_expects(topkapi: Command) -> None:
    found = simulated(topkapi, "--sorter", "robust", "--budget", "9", "--error", "0.1")
    assert found["judgments_mean"] == found["judgments_max"] == found["bound"] == 9
    assert 0 < found["expected_quality_mean"] <= 1
    assert 0 < found["error_rate_mean"] < 0.5
    assert 0 < found["kappa_ndcg_mean"] <= 1


def test_robust_ends_early_at_a_quality(topkapi: Command) -> None:
    arguments = ("--sorter", "robust", "--budget", "60", "--stop-at", "0.8")
    found = simulated(topkapi, *arguments)
    assert found["judgments_mean"] < 40
    assert found["expected_quality_mean"] >= 0.8


@pytest.mark.thorough
def test_the_frontier_is_drawn_and_tabled(topkapi: Command, tmp_path: Path) -> None:
    path = str(tmp_path / "front.png")
    drawn = topkapi.done("simulate", "frontier", path, *SMALL, "--error", "0,0.2")
    assert "front.svg" in drawn
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
        (("frontier", "/nowhere/at/all/x"), "does not exist"),
        (("--error", "0.6", "--error-model", "bt"), "below 0.5"),
        (("--sorter", "robust", "--stop-at", "1.5"), "stop_at is 1.5"),
        (("--sorter", "quick"), "'quick' is not one of"),
        (("frontier", "x", "--n", "1"), "two documents"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_line(
    topkapi: Command, arguments: tuple[str, ...], message: str
) -> None:
    error = refused(topkapi, *arguments)
    assert message in error
    assert error.count("\n") == 1


def write_votes(path: Path, assessors: str = "xyz", queries: str = "q") -> str:
    """Write round robins of six documents in which x errs about neighbours; return its path."""
    rows = ["query\ta\tb\tpreference\tassessor"]
    for query, who in product(queries, assessors):
        for one in range(6):
            for other in range(one):
                erring = who == "x" and one - other == 1
                rows.append(f"{query}\td{one}\td{other}\t{'b' if erring else 'a'}\t{who}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_real_votes_answer_and_the_others_are_the_truth(topkapi: Command, tmp_path: Path) -> None:
    votes = write_votes(tmp_path / "pairs.tsv")
    base = ("simulate", "votes", votes, "--k", "3", "--runs", "9", "--processes", "1")
    found = topkapi.told(*base, "--one-assessor", "--sorter", "insertion")
    assert found["error_model"] == "votes"
    assert found["filled_share"] == 0
    assert 0.5 < found["kappa_ndcg_mean"] < 1
    drawn = topkapi.told(*base, "--n", "4", "--sorter", "robust", "--budget", "5")
    assert drawn["judgments_max"] == 5
    assert 0 <= drawn["filled_share"] < 0.5
    assert drawn["expected_quality_mean"] == drawn["stated_kappa_ndcg_mean"]
    assert 0 < drawn["stated_overlap_mean"] <= 1


def test_people_vote_as_in_a_study_and_after_queries_of_theirs(
    topkapi: Command, tmp_path: Path
) -> None:
    votes = write_votes(tmp_path / "pairs.tsv", queries="pqr")
    base = ("votes", votes, "--sorter", "robust", "--budget", "20", "--runs", "3")
    found = simulated(topkapi, *base)
    assert found["judgments_max"] == 15, "no pair twice"
    after = simulated(topkapi, *base, "--queries", "2")
    assert after["queries"] == 2
    assert after["error_rate_mean"] < found["error_rate_mean"], "people are sure"


def test_votes_that_cannot_be_replayed_are_refused(topkapi: Command, tmp_path: Path) -> None:
    alone = write_votes(tmp_path / "alone.tsv", "x")
    assert "only one assessor" in refused(topkapi, "votes", alone, "--one-assessor")
    assert "Missing argument 'file'" in refused(topkapi, "votes", "--one-assessor")
    (tmp_path / "none.tsv").write_text("query\ta\tb\tpreference\tassessor\n")
    assert "none.tsv has no votes" in refused(topkapi, "votes", str(tmp_path / "none.tsv"))
    missing = str(tmp_path / "missing.tsv")
    assert "cannot be read" in refused(topkapi, "votes", missing)


@pytest.mark.parametrize("model", ["even", "normal", "mixed"])
def test_every_error_model_is_simulated(topkapi: Command, model: str) -> None:
    arguments = ("--sorter", "heap", "--runs", "300", "--error", "0.1", "--error-model", model)
    found = simulated(topkapi, *arguments)
    assert 0.5 < found["kappa_ndcg_mean"] < 1
    assert 0.5 < found["overlap_mean"] <= 1


@pytest.mark.thorough
def test_a_team_of_people_a_ranker_and_finished_queries_are_simulated(topkapi: Command) -> None:
    base = ("--sorter", "robust", "--error", "0.1", "--budget", "24")
    alone = simulated(topkapi, *base)
    assert simulated(topkapi, *base, "--team", "1", "--random-people", "0") == alone
    people = ("--n", "20", "--budget", "60", "--team", "3", "--random-people")
    team, honest = (simulated(topkapi, *base, *people, each) for each in "10")
    assert (team["team"], team["at_random"], team["judgments_max"]) == (3, 1, 60)
    assert team["error_rate_mean"] > honest["error_rate_mean"] + 0.05
    ranked = simulated(topkapi, *base, "--prior", "0.95", "--runs", "12", "--budget", "5")
    plain = simulated(topkapi, *base, "--runs", "12", "--budget", "5")
    assert ranked["kappa_ndcg_mean"] > plain["kappa_ndcg_mean"] + 0.1
    study = simulated(topkapi, *base, "--queries", "3", "--runs", "4", "--error", "0.3")
    assert study["queries"] == 3
    assert 0 < study["stated_kappa_ndcg_mean"] <= 1
    assert 0 <= study["kappa_ndcg_se"] < 1


def test_a_table_of_votes_shows_standard_errors_and_the_ceiling(
    topkapi: Command, tmp_path: Path
) -> None:
    votes = write_votes(tmp_path / "pairs.tsv", "vwxyz")
    base = ("simulate", "votes", votes, "--k", "3", "--runs", "5", "--processes", "1")
    both = topkapi.done(*base, "--sorter", "robust,insertion", "--budget", "9", "--team", "2")
    head, *rows = both.splitlines()
    assert head.split()[6:] == [
        *("kappa-NDCG", "±", "stated", "own", "ceiling"),
        *("overlap", "±", "stated", "own", "ceiling"),
    ]
    robust, insertion = (row.split() for row in rows)
    assert robust[10] == insertion[9], "the same votes have the same ceiling"
    found = topkapi.told(*base, "--one-assessor", "--sorter", "insertion")
    assert found["ceiling_kappa_ndcg_mean"] >= found["kappa_ndcg_mean"] - 1e-9
    assert found["ceiling_overlap_mean"] == 1.0, "who errs about neighbours finds the members"
    assert found["own_overlap_mean"] == 1.0, "a sorter that asks everything finds their members"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--team", "2", "--random-people", "3"), "3 of a team of 2 are too many"),
        (("votes", "VOTES", "--team", "3"), "no one is left for the truth"),
        (("votes", "VOTES", "--prior", "0.5"), "No such option: --prior"),
        (("votes", "VOTES", "--queries", "1"), "votes on 1 query"),
        (("votes", "VOTES", "--one-assessor", "--team", "2"), "cannot be combined with --team"),
    ],
)
def test_teams_that_cannot_be_simulated_are_refused(
    topkapi: Command, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    votes = write_votes(tmp_path / "pairs.tsv")
    given = [votes if each == "VOTES" else each for each in arguments]
    error = refused(topkapi, *given)
    assert message in " ".join(error.split())
