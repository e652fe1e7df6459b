"""Random draws keyed by query and row, the same in every fold."""

from dataclasses import replace
from zlib import crc32

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.typing import IntArray

_SHUFFLE = 0x5F3759DF  # apart from the draws that order equal labels by the same seed


def keyed_draws(data: RankingData, seed: int) -> IntArray:
    """Draw a keyed hash of query id and row, the same in every fold.

    The hash is the finaliser of SplitMix64 over the three numbers.
    """
    names = np.array([crc32(name.encode()) for name in data.query_ids], dtype=np.uint64)
    position = np.arange(data.n_rows) - np.repeat(data.offsets[:-1], data.sizes)
    key = _mix(np.array([seed % 2**64], dtype=np.uint64))
    return _mix(_mix(key ^ np.repeat(names, data.sizes)) ^ position.astype(np.uint64))


def shuffled(data: RankingData, seed: int = 0) -> RankingData:
    """Shuffle the documents of every query by ``seed``.

    Equal scores keep row order, and files may have their best documents first: in a shuffled file a
    model that cannot separate documents gains nothing from that.

    >>> data = RankingData(np.ones((4, 1)), np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 4]))
    >>> sorted(shuffled(data).labels.tolist())
    [0.0, 1.0, 2.0, 3.0]
    """
    rows = np.lexsort((keyed_draws(data, seed ^ _SHUFFLE), data.queries))
    documents = tuple(data.document_ids[row] for row in rows) if data.document_ids else ()
    return replace(
        data, features=data.features[rows], labels=data.labels[rows], document_ids=documents
    )


def _mix(values: IntArray) -> IntArray:
    with np.errstate(over="ignore"):
        mixed = values + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))
