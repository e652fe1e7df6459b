"""Self-consistency of an assessor: repeated pairs, and bias to one side."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement.judgments import Judgments
from topkapi.analysis.lazy import stats
from topkapi.analysis.typing import IntArray

EXACT_UP_TO = 10  # queries: 2^10 flips are enumerated, more are drawn


@dataclass(frozen=True, slots=True)
class Repeated:
    """Repeated pairs of an assessor: one row each, compared with the first answer.

    Attributes
    ----------
    assessor, query, position
        Where the repeat was answered, (r,).
    counts
        Tables (r, 3, 3) with a single 1: row of the first answer, column of the later one.
    """

    assessor: IntArray
    query: IntArray
    position: IntArray
    counts: IntArray


def repeated(judgments: Judgments) -> Repeated:
    """Find answers to a pair that the same assessor had answered before.

    Sides are matched.

    Parameters
    ----------
    judgments
        Raw answers.

    Examples
    --------
    >>> ends = {"left": [1, 2], "right": [2, 1], "answer": [1, 1]}
    >>> twice = Judgments.of(assessor=[0, 0], query=[0, 0], **ends)
    >>> repeated(twice).counts.tolist()
    [[[0, 0, 1], [0, 0, 0], [0, 0, 0]]]
    """
    asked = judgments.oriented()
    order = np.lexsort((asked.position, asked.right, asked.left, asked.query, asked.assessor))
    rows = asked.take(order)
    keys = np.stack([rows.assessor, rows.query, rows.left, rows.right])
    again = np.zeros(len(rows), dtype=bool)
    again[1:] = (keys[:, 1:] == keys[:, :-1]).all(axis=0)
    starts = np.maximum.accumulate(np.where(again, 0, np.arange(len(rows))))
    before, after = 1 - rows.answer[starts[again]], 1 - rows.answer[again]
    counts = np.zeros((before.size, 3, 3), dtype=np.int64)
    counts[np.arange(before.size), before, after] = 1
    return Repeated(rows.assessor[again], rows.query[again], rows.position[again], counts)


@dataclass(frozen=True, slots=True)
class LeftBias:
    """Preference for the left page; NaN without any answer that is not a tie.

    Attributes
    ----------
    left, total
        Answers for the left page, and all answers but ties.
    share
        Share of the left page.
    p
        Two-sided binomial test.
    p_queries
        Test that flips the sides of whole queries.
    """

    left: int
    total: int
    share: float
    p: float
    p_queries: float


def left_bias(judgments: Judgments, *, draws: int = 9999, seed: int = 0) -> LeftBias:
    """Test whether the side decides.

    Checks and repeats count too.

    Parameters
    ----------
    judgments
        Raw answers.
    draws
        Number of random flips.
    seed
        Seed of the flips.

    Examples
    --------
    >>> ends = {"left": [1] * 6, "right": [2] * 6, "answer": [1] * 6}
    >>> six = Judgments.of(assessor=[0] * 6, query=[0] * 6, **ends)
    >>> left_bias(six).p
    0.03125
    """
    decided = judgments.take(judgments.answer != 0)
    left, total = int((decided.answer > 0).sum()), len(decided)
    if not total:
        return LeftBias(0, 0, np.nan, np.nan, np.nan)
    p = float(stats.binomtest(left, total).pvalue)
    return LeftBias(left, total, left / total, p, _flipped(decided, draws, seed))


def _flipped(decided: Judgments, draws: int, seed: int) -> float:
    """Return the share of flips of whole queries, all or random ones, that are as one-sided.

    NaN with fewer than two queries.
    """
    _, query = np.unique(decided.query, return_inverse=True)
    excess = np.bincount(query, weights=decided.answer)
    if excess.size < 2:
        return np.nan
    exact = excess.size <= EXACT_UP_TO
    if exact:
        heads = (np.arange(2**excess.size)[:, None] >> np.arange(excess.size)) & 1
    else:
        heads = np.random.default_rng(seed).integers(0, 2, (draws, excess.size), dtype=np.int8)
    flipped = np.abs(2 * (heads.astype(float) @ excess) - excess.sum())
    extreme = int((flipped >= abs(excess.sum()) - 1e-9).sum())
    return extreme / heads.shape[0] if exact else (extreme + 1) / (draws + 1)
