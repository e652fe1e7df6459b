"""Single features as weak rankers."""

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.typing import FloatArray


def feature_quality(data: RankingData, measure: str) -> FloatArray:
    """Evaluate every feature used as a score, then every negated one, (2 n_features, n_queries).

    Tied documents count with the mean over their orders: many features are 0 for a whole query.
    """
    columns = [
        evaluate(data, sign * data.features[:, feature], [measure], per_query=True, ties="expected")
        for sign in (1.0, -1.0)
        for feature in range(data.n_features)
    ]
    return np.stack([column[measure] for column in columns])
