"""Query-level normalisation of features, as LETOR's QueryLevelNorm files have it."""

import numpy as np

from topkapi.analysis.data.ranking import RankingData


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
    low = np.minimum.reduceat(data.features, data.offsets[:-1], axis=0)
    span = np.maximum.reduceat(data.features, data.offsets[:-1], axis=0) - low
    scale = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
    owner = data.queries
    return data.with_features((data.features - low[owner]) * scale[owner])
