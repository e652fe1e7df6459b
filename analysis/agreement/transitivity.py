"""Transitivity: triples of documents whose three answers contradict each other."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from topkapi.analysis.agreement.judgments import Judgments
from topkapi.analysis.lazy import sparse
from topkapi.analysis.typing import IntArray

Matrix: TypeAlias = Any  # a NumPy array or a SciPy sparse one: the operators used are the same
DENSE_UP_TO = 1000  # documents of a session; above, its table of pairs is kept sparse


@dataclass(frozen=True, slots=True)
class TriadCounts:
    """Triples of documents that a session answered in full, one row per assessor and query.

    Attributes
    ----------
    assessor, query
        Indices of the session, (s,).
    cycles
        Triples A>B>C>A.
    broken
        Triples that no order with ties explains, cycles included.
    triples
        All triples answered in full.
    """

    assessor: IntArray
    query: IntArray
    cycles: IntArray
    broken: IntArray
    triples: IntArray


def count_triads(judgments: Judgments) -> TriadCounts:
    """Count transitivity violations of every session.

    The first answer to a pair counts.

    Parameters
    ----------
    judgments
        Raw answers.

    Examples
    --------
    >>> ends = {"left": [1, 2, 3], "right": [2, 3, 1], "answer": [1] * 3}
    >>> ring = Judgments.of(assessor=[0] * 3, query=[0] * 3, **ends)
    >>> int(count_triads(ring).cycles[0]), int(count_triads(ring).triples[0])
    (1, 1)
    """
    asked = judgments.oriented()
    order = np.lexsort((asked.position, asked.query, asked.assessor))
    rows = asked.take(order)
    keys = np.stack([rows.assessor, rows.query])
    starts = np.flatnonzero(np.append(True, (np.diff(keys) != 0).any(axis=0))[: len(rows)])
    ends = np.append(starts, len(rows))[1:]
    sessions = (rows.take(np.arange(a, b)) for a, b in zip(starts, ends, strict=True))
    counts = [_session_triads(session) for session in sessions]
    table = np.array(counts, dtype=np.int64).reshape(-1, 3)
    return TriadCounts(rows.assessor[starts], rows.query[starts], *table.T)


def _session_triads(asked: Judgments) -> tuple[int, int, int]:
    """Count strict cycles, intransitive triples and all triples of one session."""
    documents, ends = np.unique(np.concatenate([asked.left, asked.right]), return_inverse=True)
    n = documents.size
    keys, first = np.unique(ends[: len(asked)] * n + ends[len(asked) :], return_index=True)
    a, b, answer = keys // n, keys % n, asked.answer[first]
    winner, loser = np.where(answer > 0, a, b), np.where(answer > 0, b, a)
    tied = answer == 0
    ties = _table(a[tied], b[tied], n)
    return _from_traces(_table(winner[~tied], loser[~tied], n), ties + ties.T)


def _table(rows: IntArray, columns: IntArray, n: int) -> Matrix:
    if n > DENSE_UP_TO:
        return sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(n, n))
    table = np.zeros((n, n), dtype=np.float32)  # counts stay far below 2^24, so they are exact
    table[rows, columns] = 1
    return table


def _from_traces(over: Matrix, tie: Matrix) -> tuple[int, int, int]:
    """Count triples by traces of matrix products.

    A triple is intransitive if it is a cycle, a chain whose ends tie, or two ties and a preference.

    Each kind is the trace of a product of three tables, so no triple is enumerated.
    """
    chains, ties = over @ over, tie @ tie
    cycles = _trace(chains, over) / 3
    broken = cycles + _trace(chains, tie) + _trace(ties, over)
    judged = over + over.T + tie
    return round(cycles), round(broken), round(_trace(judged @ judged, judged) / 6)


def _trace(product: Matrix, last: Matrix) -> float:
    """Compute the trace of ``product @ last`` without forming it."""
    if isinstance(product, np.ndarray):
        return float(np.sum(product * last.T, dtype=np.float64))
    return float(product.multiply(last.T).sum())
