"""Early stopping of boosting by a measure on validation data."""

from collections.abc import Callable

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.metrics import LOSSES, evaluate
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


class StagedScores:
    """Track the validation score of a growing sum of weak rankers.

    Without validation data every round is kept. The first of equally good rounds wins.
    """

    def __init__(self, validation: RankingData | None, measure: str) -> None:
        self.validation, self.measure = validation, measure
        self.sign = -1.0 if measure.split("@")[0] in LOSSES else 1.0
        self.scores = np.zeros(0 if validation is None else validation.n_rows)
        self.values: list[float] = []

    def add(self, weak: Callable[[FloatArray], FloatArray]) -> None:
        """Add a weak ranker, given as a function from features (n, d) to scores (n,)."""
        if self.validation is None:
            return
        self.scores = self.scores + weak(self.validation.features)
        found = evaluate(self.validation, self.scores, [self.measure])[self.measure]
        self.values.append(self.sign * found)

    def best(self, rounds: int) -> int:
        """Return the number of rounds to keep out of ``rounds``."""
        return rounds if not self.values else int(np.argmax(self.values)) + 1
