"""Large features some rows at a time, in double precision.

Features of large files are kept in single precision. Converting or scaling all of them at once
takes memory several times that of the file; these helpers convert a span of rows at a time. Data
of up to ``ROWS`` rows are one span.
"""

from collections.abc import Iterator

import numpy as np

from topkapi.analysis.typing import FloatArray, IntArray

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
