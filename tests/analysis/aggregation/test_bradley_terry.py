"""Bradley-Terry worths against an independent optimiser, and against held-out votes."""

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from topkapi.analysis.aggregation import (
    KEMENY,
    PairCounts,
    bradley_terry,
    bradley_terry_consensus,
    pair_counts,
    worth_intervals,
)
from topkapi.analysis.agreement import Judgments, Scores, from_judgments, pair_tables
from topkapi.analysis.report.study import StudyData, ToolData
from topkapi.analysis.report.subjects.consensus import consensus
from topkapi.analysis.typing import FloatArray

DATA = Path(__file__).parents[4] / "shared" / "data"


def random_counts(seed: int, *, ties: bool, n: int = 7, p: int = 15) -> PairCounts:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, p)
    second = (first + rng.integers(1, n, p)) % n
    better, tied, worse = rng.integers(0, 4, (3, p)).astype(float)
    return PairCounts(first, second, better, tied * ties, worse)


def reference(counts: PairCounts, n: int, ridge: float) -> FloatArray:
    """Minimise the same loss, vote by vote, by BFGS."""

    def loss(point: FloatArray) -> float:
        total = ridge / 2 * float(point @ point)
        for i, j, better, tied, worse in zip(*counts, strict=True):
            one, other = np.exp(point[i]), np.exp(point[j])
            tie = np.exp(point[n]) * np.sqrt(one * other) if point.size > n else 0.0
            whole = one + other + tie
            total -= better * np.log(one / whole) + worse * np.log(other / whole)
            total -= tied * np.log(tie / whole) if tied else 0.0
        return total

    start = np.zeros(n + bool(counts.tied.any()))
    found = optimize.minimize(loss, start, method="BFGS", jac="3-point", options={"gtol": 1e-9})
    solution: FloatArray = found.x
    return solution


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_worths_equal_a_reference_fit(seed: int, ties: bool) -> None:
    counts = random_counts(seed, ties=ties)
    found = bradley_terry(counts, 7)
    wanted = reference(counts, 7, 0.3)
    assert found.worth == pytest.approx(wanted[:7], abs=1e-6)
    if ties:
        assert found.log_tie == pytest.approx(wanted[7], abs=1e-6)
    else:
        assert found.log_tie == -np.inf


def test_who_wins_everything_stays_finite_and_who_has_no_votes_is_in_the_middle() -> None:
    one = np.array([0, 0, 1])
    votes = PairCounts(one, np.array([1, 2, 2]), np.full(3, 1e4), np.zeros(3), np.zeros(3))
    worth = bradley_terry(votes, 4).worth
    assert np.isfinite(worth).all()
    assert worth[0] > worth[1] > worth[2]
    assert worth[3] == 0


def test_documents_outside_a_list_are_no_data_not_a_tie() -> None:
    lists = Scores(0, np.array([0]), np.array([[2.0, 1, 0, 0, 0]]))
    ids = (tuple("abcde"),)
    study = StudyData("s", ("x",), ("q",), ids, (ToolData("pairs", "Pairs", (lists,)),), 2)
    votes = study.preferences(study.tools[0])
    (found,) = consensus(study, study.tools[0], votes, pair_tables(votes), "bradley-terry")
    assert found.method == "bradley-terry"
    assert found.order.tolist() == [0, 1, 2, 3, 4]
    assert found.top(5).tolist() == [0, 1]


def test_answers_are_the_data_where_they_exist_and_bad_pages_stay_outside() -> None:
    """Document 2 won its answers before it was called bad, so it is in nobody's list."""
    lists = Scores(0, np.array([0, 1]), np.array([[2.0, 1, 0], [2, 1, 0]]))
    asked = Judgments.of(
        assessor=[0, 0, 1, 1], query=[0] * 4, left=[2, 1, 2, 1], right=[0, 0, 0, 0], answer=[1] * 4
    )
    tool = ToolData("pairs", "Pairs", (lists,), asked)
    study = StudyData("s", ("x", "y"), ("q",), (("a", "b", "c"),), (tool,), 2)
    votes = study.preferences(tool)
    (found,) = consensus(study, tool, votes, pair_tables(votes))
    assert found.method == "bradley-terry"
    assert found.top(2).tolist() == [1, 0]
    (other,) = consensus(study, tool, votes, pair_tables(votes), KEMENY)
    assert (other.method, other.top(2).tolist()) == ("supervised-kemeny", [0, 1])


def test_intervals_resample_assessors() -> None:
    rng = np.random.default_rng(0)
    left, right = np.triu_indices(4, k=1)
    people = 8
    answer = np.where(rng.random((people, left.size)) < 0.8, 1, -1)
    asked = Judgments.of(
        assessor=np.repeat(np.arange(people), left.size),
        query=np.zeros(people * left.size),
        left=np.tile(left, people),
        right=np.tile(right, people),
        answer=answer.ravel(),
    )
    block = from_judgments(asked, people, 1).blocks[0]
    low, high = worth_intervals(block, 4, draws=60)
    assert (low < high).all()
    assert bradley_terry_consensus(block, 4).order.tolist() == [0, 1, 2, 3]
    few = from_judgments(asked.take(asked.assessor < 2), people, 1).blocks[0]
    assert np.isnan(worth_intervals(few, 4)[0]).all()


def test_a_majority_on_two_neighbours_outweighs_their_worths() -> None:
    """Document 1 beat 2 three times and 0 lost to it, but 0 beat 1 when they were compared."""
    asked = Judgments.of(
        assessor=[0, 0, 0, 1, 2],
        query=[0] * 5,
        left=[0, 0, 1, 1, 1],
        right=[1, 2, 2, 2, 2],
        answer=[1, -1, 1, 1, 1],
    )
    block = from_judgments(asked, 3, 1).blocks[0]
    worth = bradley_terry(pair_counts(block), 3).worth
    assert worth[1] > worth[0] > worth[2]
    assert bradley_terry_consensus(block, 3).order.tolist() == [0, 1, 2]
