"""Side and length effects: shares, power within 100 answers, false alarms, equal lengths."""

import numpy as np
import pytest

from topkapi.analysis.agreement import Judgments
from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import length_board, length_effects, side_effects
from topkapi.analysis.typing import FloatArray


def test_ties_and_equal_lengths_do_not_count() -> None:
    asked = Judgments.of(
        assessor=[4] * 8 + [7] * 4,
        query=[0, 1, 2, 3, 4, 5, 5, 5, 0, 1, 2, 3],
        left=[0] * 12,
        right=[1] * 12,
        answer=[1, 1, 1, -1, 0, 1, -1, 0, 1, 1, 0, 1],
    )
    side, few = side_effects(asked)
    assert (side.assessor, side.answers, side.queries) == (4, 6, 5)
    assert side.share == pytest.approx(4 / 6)
    assert side.clustered
    assert side.low is not None
    assert side.high is not None
    assert side.low < 0.5 < side.high
    assert (few.assessor, few.answers, few.clustered, few.biased) == (7, 3, False, False)
    length = length_effects(asked, [5] * 6 + [9] * 6, [9] * 5 + [5] * 7)
    assert [(each.assessor, each.answers, each.share) for each in length] == [
        (4, 5, pytest.approx(0.2)),  # one pair has equal lengths
        (7, 3, 1.0),
    ]
    assert (length[1].low, length[1].high, length[1].biased) == (None, None, False)
    assert side_effects(asked.take(asked.answer == 0)) == ()


def test_lengths_must_fit_the_answers() -> None:
    asked = Judgments.of(assessor=[0], query=[0], left=[0], right=[1], answer=[1])
    with pytest.raises(BadData, match="needs two lengths"):
        length_effects(asked, [1, 2], [1])
    with pytest.raises(BadData, match="needs two lengths"):
        length_effects(asked, [-1], [1])


def test_few_queries_do_not_hide_the_side() -> None:
    asked = Judgments.of(
        assessor=[0] * 100,
        query=np.arange(100) % 2,
        left=[0] * 100,
        right=[1] * 100,
        answer=[1] * 70 + [-1] * 30,
    )
    found = side_effects(asked)[0]
    assert (found.clustered, found.biased) == (False, True)


def simulated(
    rng: np.random.Generator, doubling: float
) -> tuple[Judgments, FloatArray, FloatArray]:
    """Answer 1,500 comparisons of systems of strength 1, 0 and 0; the third writes long lists."""
    n, strength = 1500, np.array([1.0, 0.0, 0.0])
    pairs = np.array([(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)])[rng.integers(0, 6, n)]
    lengths = np.rint(2.0 ** (rng.normal(8, 1, (n, 2)) + 2 * (pairs == 2)))
    gain = strength[pairs[:, 0]] - strength[pairs[:, 1]]
    gain = gain + doubling * (np.log2(1 + lengths[:, 0]) - np.log2(1 + lengths[:, 1]))
    won = np.where(rng.random(n) < 1 / (1 + np.exp(-gain)), 1, -1)
    asked = Judgments.of(
        assessor=np.zeros(n),
        query=rng.integers(0, 60, n),
        left=pairs[:, 0],
        right=pairs[:, 1],
        answer=np.where(rng.random(n) < 0.1, 0, won),
    )
    return asked, lengths[:, 0], lengths[:, 1]


def test_the_adjusted_leaderboard_takes_length_out() -> None:
    asked, left, right = simulated(np.random.default_rng(0), 0.7)
    board = length_board(("good", "short", "long"), asked, left, right, draws=60)
    assert board.systems[0].system == "good"
    by_name = {row.system: row for row in board.systems}
    assert by_name["long"].plain > by_name["good"].plain
    gap = by_name["long"].adjusted - by_name["short"].adjusted
    assert abs(gap) < 0.4
    assert board.doubling_ends is not None
    assert board.doubling_ends[0] < 0.63 < board.doubling_ends[1]  # ties are half: a tenth less
    assert (board.answers, board.queries) == (1500, 60)


def test_without_an_effect_of_length_both_leaderboards_agree() -> None:
    asked, left, right = simulated(np.random.default_rng(1), 0.0)
    board = length_board(("good", "short", "long"), asked, left, right, draws=60)
    assert board.doubling_ends is not None
    assert board.doubling_ends[0] < 0 < board.doubling_ends[1]
    for row in board.systems:
        assert row.plain == pytest.approx(row.adjusted, abs=0.25)
        assert row.adjusted_ends is not None
        assert row.adjusted_ends[0] < row.adjusted < row.adjusted_ends[1]
    with pytest.raises(BadData, match="no answer"):
        length_board(("a", "b"), asked.take(np.zeros(1500, bool)), left, right)
