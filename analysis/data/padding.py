"""Queries of like size side by side in rectangular arrays, so that one NumPy call serves many."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

ROWS = 2**15
"""Rows of a span, more only if a single query has more."""


def row_spans(n_rows: int) -> Iterator[slice]:
    """Yield spans of rows that together are all rows.

    >>> list(row_spans(ROWS + 1))
    [slice(0, 32768, None), slice(32768, 32769, None)]
    """
    for start in range(0, n_rows, ROWS):
        yield slice(start, min(start + ROWS, n_rows))


def query_spans(offsets: IntArray) -> Iterator[slice]:
    """Yield spans of queries that have at most ``ROWS`` rows together, or are a single query.

    >>> list(query_spans(np.array([0, 20_000, 30_000, 40_000])))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    first, n_queries = 0, offsets.size - 1
    while first < n_queries:
        last = int(np.searchsorted(offsets, offsets[first] + ROWS, side="right")) - 1
        last = max(last, first + 1)
        yield slice(first, last)
        first = last


def doubles(features: FloatArray, rows: slice | IntArray) -> FloatArray:
    """Return some rows in double precision; rows that are all of an array are not copied."""
    return np.asarray(features[rows], dtype=np.float64)


def scores_of(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Compute ``features @ weights`` (n_rows,) without converting all features at once."""
    scores = np.empty(features.shape[0])
    for rows in row_spans(features.shape[0]):
        scores[rows] = doubles(features, rows) @ weights
    return scores


def slope_of(features: FloatArray, pull: FloatArray) -> FloatArray:
    """Compute ``features.T @ pull`` (n_features,) without converting all features at once."""
    slope: FloatArray = np.zeros(features.shape[1])
    for rows in row_spans(features.shape[0]):
        slope += doubles(features, rows).T @ pull[rows]
    return slope


@dataclass(frozen=True)
class PaddedQueries:
    """Some queries padded to one width.

    ``queries`` (b,) are their numbers, ``rows`` (b, width) the rows of their documents and
    ``filled`` (b, width) marks the positions that hold a document; an empty one repeats row 0.
    """

    queries: IntArray
    rows: IntArray
    filled: BoolArray


def blocks(offsets: IntArray, *, cells: int = 4_000_000, power: int = 1) -> Iterator[PaddedQueries]:
    """Split queries into blocks whose padding is under a third of the block.

    A block has at most ``cells`` positions, counted as b * width ** power: power 2 is for callers
    that make a matrix of each query.

    >>> [(block.queries.tolist(), block.rows.shape) for block in blocks(np.array([0, 9, 10, 20]))]
    [([1], (1, 1)), ([0, 2], (2, 10))]
    """
    sizes = np.diff(offsets)
    order = np.argsort(sizes, kind="stable")
    start = 0
    while start < order.size:
        stop = _end_of_block(sizes[order], start, cells, power)
        yield _block(np.sort(order[start:stop]), offsets, sizes)
        start = stop


def _end_of_block(ascending: IntArray, start: int, cells: int, power: int) -> int:
    widest = max(int(ascending[start] * 1.5), 4)
    stop = int(np.searchsorted(ascending, widest, side="right"))
    width = max(int(ascending[stop - 1]), 1)
    most: int = cells // width**power
    return max(start + 1, min(stop, start + most))


def _block(queries: IntArray, offsets: IntArray, sizes: IntArray) -> PaddedQueries:
    width = int(sizes[queries].max(initial=0))
    positions = np.arange(width)
    filled = positions < sizes[queries][:, None]
    rows = np.where(filled, offsets[queries][:, None] + positions, 0)
    return PaddedQueries(queries, rows, filled)
