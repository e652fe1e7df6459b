"""Query-level normalisation of features, as LETOR's QueryLevelNorm files have it."""

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.spans import query_spans
from topkapi.analysis.typing import FloatArray, IntArray


def normalise_by_query(data: RankingData) -> RankingData:
    """Scale each feature of each query to [0, 1].

    A feature that is constant within a query becomes 0.

    Parameters
    ----------
    data
        Documents of many queries.

    Examples
    --------
    >>> raw = RankingData(np.array([[2.0, 5.0], [6.0, 5.0]]), np.zeros(2), np.array([0, 2]))
    >>> normalise_by_query(raw).features
    array([[0., 0.],
           [1., 0.]])
    """
    scaled = np.empty_like(data.features)
    for queries in query_spans(data.offsets):
        borders = data.offsets[queries.start : queries.stop + 1]
        rows = slice(int(borders[0]), int(borders[-1]))
        _scale(data.features[rows], borders - borders[0], scaled[rows])
    return data.with_features(scaled)


def _scale(features: FloatArray, offsets: IntArray, out: FloatArray) -> None:
    low = np.minimum.reduceat(features, offsets[:-1], axis=0)
    span = np.maximum.reduceat(features, offsets[:-1], axis=0) - low
    scale = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
    owner = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    np.subtract(features, low[owner], out=out)
    out *= scale[owner]
