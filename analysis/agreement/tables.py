"""Agreement counts: a 3 x 3 table of votes per query and pair of assessors.

Each unordered document pair is counted once per pair of assessors, oriented by the fixed document
order; the first assessor (the lower index) is the row, the second the column. Codes in both are
A>B, A~B, A<B. Reports count both orders (``in_both_orders``), because both are arbitrary.
Everything else in this package that compares assessors is a sum over these tables.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.agreement.preferences import MISSING, Preferences, QueryVotes
from topkapi.analysis.lazy import sparse
from topkapi.analysis.resampling import same_assessors
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

DENSE_UP_TO = 60  # assessors of a query; above, few share a pair and tables are counted sparsely


def ratio(part: ArrayLike, whole: ArrayLike, *, least: float = 0.0) -> FloatArray:
    """Divide ``part`` by ``whole`` elementwise, with broadcasting.

    NaN where ``whole`` is not above ``least``.

    >>> ratio([1, 2], [4, 0]).tolist()
    [0.25, nan]
    """
    above, below = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    result: FloatArray = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=below > least)
    return result


def mean_of(sums: FloatArray) -> FloatArray:
    """Divide sums (..., 2) of values by their counts."""
    return ratio(sums[..., 0], sums[..., 1])


@dataclass(frozen=True, slots=True)
class PairTables:
    """Tables of votes, one row per query and pair of assessors who share judged pairs of it.

    Attributes
    ----------
    n_assessors, n_queries
        Sizes of the study.
    query, first, second
        Indices (r,), first < second.
    counts
        Tables (r, 3, 3).
    """

    n_assessors: int
    n_queries: int
    query: IntArray
    first: IntArray
    second: IntArray
    counts: IntArray

    def take(self, rows: IntArray | BoolArray) -> Self:
        """Return the rows that an index or a mask selects."""
        names = ("query", "first", "second", "counts")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def pooled(self, *, symmetric: bool = False) -> IntArray:
        """Return the (3, 3) sum over all queries and pairs of assessors.

        ``symmetric`` counts both orders of every pair of assessors: the table plus its transpose.
        """
        table: IntArray = self.counts.sum(axis=0)
        return table + table.T if symmetric else table

    def by_query(self) -> IntArray:
        """Return (n_queries, 3, 3) sums over the pairs of assessors."""
        sums = np.zeros((self.n_queries, 3, 3), dtype=np.int64)
        np.add.at(sums, self.query, self.counts)
        return sums

    def in_both_orders(self) -> IntArray:
        """Return (n_queries, 3, 3) sums that count every vote with either document as A.

        Where there are several pairs of assessors, who of two is the first is as arbitrary, and
        both orders of them count too.
        """
        sums = self.by_query()
        sums = sums + sums[:, ::-1, ::-1]
        return sums if self.pairs()[0].size < 2 else sums + sums.transpose(0, 2, 1)

    def strata(self) -> IntArray:
        """Assign one number to all queries that the same assessors compared: (n_queries,)."""
        who = np.concatenate([self.first, self.second])
        return same_assessors(np.tile(self.query, 2), who, self.n_queries)

    def pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the pairs of assessors who share queries, and the pair of each row.

        The arrays are first (s,), second (s,) and pair (r,).
        """
        keys, row = np.unique(self.first * self.n_assessors + self.second, return_inverse=True)
        return keys // self.n_assessors, keys % self.n_assessors, row

    def by_pair(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the pairs of assessors and their (s, 3, 3) sums over queries."""
        first, second, row = self.pairs()
        sums = np.zeros((first.size, 3, 3), dtype=np.int64)
        np.add.at(sums, row, self.counts)
        return first, second, sums


def pair_tables(preferences: Preferences) -> PairTables:
    """Count the votes of every two assessors on every query, by matrix products.

    Parameters
    ----------
    preferences
        Votes of a study under one tool.

    Examples
    --------
    >>> from topkapi.analysis.agreement.preferences import Scores, from_scores
    >>> both = Scores(0, np.array([0, 1]), np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> pair_tables(from_scores([both], 2, 1)).pooled().tolist()
    [[0, 1, 2], [0, 0, 0], [0, 0, 0]]
    """
    none = np.zeros(0, dtype=np.int64)
    parts: list[tuple[IntArray, IntArray, IntArray, IntArray]]
    parts = [(none, none, none, np.zeros((0, 3, 3), dtype=np.int64))]
    parts += [_crossed(block) for block in preferences.blocks if block.assessors.size > 1]
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return PairTables(preferences.n_assessors, preferences.n_queries, *columns)


def _crossed(block: QueryVotes) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Count the tables of one query for all pairs of its assessors that share a judged pair."""
    first, second, counts = _dense(block) if block.assessors.size <= DENSE_UP_TO else _sparse(block)
    query = np.full(first.size, block.query, dtype=np.int64)
    return query, block.assessors[first], block.assessors[second], counts


def _dense(block: QueryVotes) -> tuple[IntArray, IntArray, IntArray]:
    m = block.assessors.size
    voted = (block.votes[:, None, :] == np.arange(3, dtype=np.int8)[:, None]).astype(np.float32)
    flat = voted.reshape(3 * m, -1)
    crossed = (flat @ flat.T).reshape(m, 3, m, 3).transpose(0, 2, 1, 3)
    first, second = np.triu_indices(m, k=1)
    counts = np.rint(crossed[first, second]).astype(np.int64)
    shared = counts.any(axis=(1, 2))
    return first[shared], second[shared], counts[shared]


def _sparse(block: QueryVotes) -> tuple[IntArray, IntArray, IntArray]:
    """Return the same where few pairs are shared; memory grows with the shared votes."""
    row, column = np.nonzero(block.votes != MISSING)
    index = 3 * row + block.votes[row, column]
    shape = (3 * block.assessors.size, block.first.size)
    votes = sparse.csr_array((np.ones(row.size, dtype=np.int32), (index, column)), shape=shape)
    crossed = sparse.triu(votes @ votes.T, k=1, format="coo")
    one, other = crossed.row // 3, crossed.col // 3
    apart = one < other
    cell = (3 * (crossed.row % 3) + crossed.col % 3)[apart]
    keys = one[apart].astype(np.int64) * block.assessors.size + other[apart]
    pairs, position = np.unique(keys, return_inverse=True)
    counts = np.zeros((pairs.size, 9), dtype=np.int64)
    counts[position, cell] = crossed.data[apart]
    size = block.assessors.size
    return pairs // size, pairs % size, counts.reshape(-1, 3, 3)


def agreement_matrix(counts: IntArray | FloatArray) -> FloatArray:
    """Divide rows by their sums, as Tables 2 and 3 of [NGLC12]_.

    The cell (X1, X2) is the share of column X2 given row X1. An empty row is NaN.

    Parameters
    ----------
    counts
        Tables (..., 3, 3).

    Examples
    --------
    >>> agreement_matrix(np.array([[3, 1, 0], [0, 2, 0], [0, 0, 0]])).round(2).tolist()
    [[0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [nan, nan, nan]]
    """
    return ratio(counts, np.sum(counts, axis=-1, keepdims=True))


def agreed(counts: IntArray | FloatArray, *, ties: bool = True) -> tuple[FloatArray, FloatArray]:
    """Count the votes that agree and all votes: (...,) each, from tables (..., 3, 3).

    Parameters
    ----------
    counts
        Tables (..., 3, 3).
    ties
        Whether pairs count on which an assessor tied.

    Examples
    --------
    >>> table = np.array([[737, 302, 53], [355, 2557, 207], [72, 260, 356]])
    >>> [int(x) for x in (*agreed(table), *agreed(table, ties=False))]
    [3650, 4899, 1093, 1218]
    """
    table: FloatArray = np.asarray(counts, dtype=float)
    same = table[..., 0, 0] + table[..., 2, 2]
    if ties:
        return same + table[..., 1, 1], table.sum(axis=(-2, -1))
    return same, same + table[..., 0, 2] + table[..., 2, 0]


def agreement(counts: IntArray | FloatArray, *, ties: bool = True) -> FloatArray:
    """Return the share of votes that agree (...,).

    NaN where nothing is shared.

    Parameters
    ----------
    counts
        Tables (..., 3, 3).
    ties
        Whether pairs count on which an assessor tied.
    """
    return ratio(*agreed(counts, ties=ties))


def rest_counts(tables: PairTables) -> tuple[IntArray, IntArray, IntArray]:
    """Return each row of ``tables`` once per assessor: query, assessor, counts (2r, 9).

    The assessor is always the row of the table, so the second one's tables are transposed.

    Parameters
    ----------
    tables
        Votes of every two assessors.
    """
    query = np.concatenate([tables.query, tables.query])
    assessor = np.concatenate([tables.first, tables.second])
    mirrored = tables.counts.transpose(0, 2, 1)
    return query, assessor, np.concatenate([tables.counts, mirrored]).reshape(-1, 9)
