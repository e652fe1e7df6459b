"""Leaderboard of systems from preferences between their lists, and agreement of the assessors."""

from dataclasses import dataclass, field

import numpy as np

from topkapi.analysis.aggregation.bradley_terry import PairCounts, bradley_terry
from topkapi.analysis.agreement import (
    Judgments,
    Resamples,
    from_judgments,
    pair_tables,
    rating_sums,
    resamples,
)
from topkapi.analysis.lazy import csgraph, sparse, stats
from topkapi.analysis.machines import LengthBoard
from topkapi.analysis.report.figures import (
    OPTIONAL,
    OVERALL,
    WITHOUT_TIES,
    Figure,
    figure,
    measured,
    why_none,
)
from topkapi.analysis.report.subjects.agreement import ALPHA
from topkapi.analysis.resampling import IN_TAIL, LEAST_RESAMPLED
from topkapi.analysis.significance import holm
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

DRAWS = 400
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class LeaderRow:
    """A system on the leaderboard.

    ``rank`` is 1 plus the number of systems that are better beyond chance; ``alike`` are the
    systems from which it does not differ beyond chance.
    """

    rank: int
    system: str
    worth: Figure
    wins: int
    losses: int
    same: int
    alike: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListAgreement:
    """Agreement of assessors on which of two lists is better, on pairs that two or more judged."""

    votes: int
    assessors: int
    overall: Figure
    without_ties: Figure
    krippendorff_alpha: Figure


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Systems by Bradley-Terry worth, best first, and how far assessors agree.

    ``at_equal_lengths`` has the strengths with the effect of the lists' lengths taken out; None
    where the lengths are not known.
    """

    comparisons: int
    queries: int
    assessors: int
    rows: tuple[LeaderRow, ...]
    agreement: ListAgreement
    at_equal_lengths: LengthBoard | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, eq=False)
class Ballots:
    """Answers about two systems, (n,) each: who, on which query, left, right, and the answer.

    ``answers`` are 1 if the left list is better, 0 for a tie, -1 if the right list is better.
    """

    systems: tuple[str, ...]
    assessors: IntArray
    queries: IntArray
    left: IntArray
    right: IntArray
    answers: IntArray


def leaderboard(ballots: Ballots, *, draws: int = DRAWS) -> Leaderboard:
    """Rank systems by Bradley-Terry worths with ties, and tell which differ beyond chance.

    Worths have intervals (95 %) over resampled queries. Two systems differ if Student's t of the
    difference of their worths, with its error from the resamples, is significant at .05 after
    Holm's correction for the number of pairs. No p is below 2 / 2^n, the least that a test over n
    queries can have. Systems that no chain of comparisons connects do not differ.

    Parameters
    ----------
    ballots
        Answers, at least one.
    draws
        Number of resamples.

    Examples
    --------
    >>> n, zero = np.arange(12), np.zeros(12, dtype=np.int64)
    >>> found = leaderboard(Ballots(("a", "b"), zero, n, zero, zero + 1, zero + 1), draws=50)
    >>> [(row.rank, row.system, row.alike) for row in found.rows]
    [(1, 'a', ()), (2, 'b', ())]
    """
    query = np.unique(ballots.queries, return_inverse=True)[1]
    n_queries, size = int(query.max()) + 1, len(ballots.systems)
    first, second, counts = _by_query(ballots, query, n_queries)
    drawn = resamples(np.ones(n_queries), draws=draws)
    worth = _worths(first, second, counts.sum(axis=0), size)
    weighted = np.tensordot(drawn.weights, counts, axes=1)
    fits = np.stack([_worths(first, second, each, size) for each in weighted])
    better = _better(worth, fits, _connected(first, second, size), drawn)
    return Leaderboard(
        comparisons=int(ballots.answers.size),
        queries=n_queries,
        assessors=int(np.unique(ballots.assessors).size),
        rows=_rows(ballots, worth, fits, better, drawn),
        agreement=_agreement(ballots, query, n_queries),
    )


def queries_needed(systems: int) -> int:
    """Return the fewest queries on which two of so many systems can differ beyond chance.

    On n queries no p-value is below that of n equal signs, 2^(1 - n), and Holm's rule multiplies
    the least one by the number of pairs.

    Examples
    --------
    >>> [queries_needed(systems) for systems in (2, 4, 10)]
    [6, 8, 11]
    """
    pairs = systems * (systems - 1) // 2
    return max(LEAST_RESAMPLED, 2 + int(np.log2(max(pairs, 1) / LEVEL)))


def _by_query(
    ballots: Ballots, query: IntArray, n_queries: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the compared pairs of systems (p,), and their votes (n_queries, 3, p)."""
    size = len(ballots.systems)
    low, high = np.minimum(ballots.left, ballots.right), np.maximum(ballots.left, ballots.right)
    keys, pair = np.unique(low * size + high, return_inverse=True)
    sign = np.where(ballots.left < ballots.right, 1, -1) * np.sign(ballots.answers)
    counts = np.zeros((n_queries, 3, keys.size))
    np.add.at(counts, (query, 1 - sign, pair), 1)
    return keys // size, keys % size, counts


def _worths(first: IntArray, second: IntArray, votes: FloatArray, size: int) -> FloatArray:
    return bradley_terry(PairCounts(first, second, *votes), size).worth


def _connected(first: IntArray, second: IntArray, size: int) -> BoolArray:
    """Return whether a chain of comparisons connects two systems, (size, size)."""
    edges = sparse.coo_array((np.ones(first.size), (first, second)), shape=(size, size))
    part = csgraph.connected_components(edges, directed=False)[1]
    together: BoolArray = part[:, None] == part[None]
    return together


def _better(
    worth: FloatArray, fits: FloatArray, connected: BoolArray, drawn: Resamples
) -> BoolArray:
    """Return whether the system of the row is better than that of the column beyond chance."""
    size = worth.size
    better = np.zeros((size, size), dtype=bool)
    one, two = np.triu_indices(size, k=1)
    if drawn.n_used < LEAST_RESAMPLED:
        return better
    gap = worth[one] - worth[two]
    error = (fits[:, one] - fits[:, two]).std(axis=0, ddof=1)
    ratio = np.abs(gap) / np.maximum(error, 1e-9)
    chance = 2 * stats.t.sf(ratio, drawn.freedom)
    chance = np.where(np.abs(gap) < 1e-9, 1.0, np.maximum(chance, 2.0 ** (1 - drawn.n_used)))
    chance = np.where(connected[one, two], chance, 1.0)
    differs = np.array(holm(chance.tolist())) < LEVEL
    better[one, two] = differs & (gap > 0)
    better[two, one] = differs & (gap < 0)
    return better


def _rows(
    ballots: Ballots, worth: FloatArray, fits: FloatArray, better: BoolArray, drawn: Resamples
) -> tuple[LeaderRow, ...]:
    low, high = drawn.ends(fits)
    order = sorted(range(worth.size), key=lambda i: (-worth[i], ballots.systems[i]))
    return tuple(
        LeaderRow(
            1 + int(better[:, i].sum()),
            ballots.systems[i],
            figure(worth[i], ends=(low[i], high[i]), no_interval=why_none(drawn)),
            *won_lost_tied(ballots.left, ballots.right, ballots.answers, i),
            tuple(
                ballots.systems[j] for j in order if j != i and not (better[i, j] or better[j, i])
            ),
        )
        for i in order
    )


def won_lost_tied(
    left: IntArray, right: IntArray, answers: IntArray, system: int
) -> tuple[int, int, int]:
    """Return how often a system won, lost and tied."""
    mine = (left == system) | (right == system)
    signs = (np.where(left == system, 1, -1) * np.sign(answers))[mine]
    won, lost, same = (int((signs == sign).sum()) for sign in (1, -1, 0))
    return won, lost, same


def _agreement(ballots: Ballots, query: IntArray, n_queries: int) -> ListAgreement:
    """Return the agreement of all assessors; the first of several answers to a pair counts."""
    people, who = np.unique(ballots.assessors, return_inverse=True)
    asked = Judgments.of(
        assessor=who,
        query=query,
        left=ballots.left,
        right=ballots.right,
        answer=np.sign(ballots.answers),
    )
    votes = from_judgments(asked, people.size, n_queries)
    tables = pair_tables(votes)
    sums = tables.by_query().reshape(-1, 9).astype(float)
    drawn = resamples(sums.sum(axis=1), in_tail=IN_TAIL)
    return ListAgreement(
        votes=int(sums.sum()),
        assessors=int(np.unique([tables.first, tables.second]).size),
        overall=measured(OVERALL, sums, drawn),
        without_ties=measured(WITHOUT_TIES, sums, drawn),
        krippendorff_alpha=measured(ALPHA, rating_sums(votes).values, drawn),
    )
