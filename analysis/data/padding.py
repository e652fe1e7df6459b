"""Queries of like size side by side in rectangular arrays, so that one NumPy call serves many."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.typing import BoolArray, IntArray


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
