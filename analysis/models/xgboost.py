"""XGBoost's rank:ndcg behind the same contract; needs the optional extra ``xgboost``."""

from types import ModuleType
from typing import Any, Self

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.models.boosted_trees import LibraryTrees, best_length
from topkapi.analysis.typing import FloatArray
from topkapi.extras import optional_module

MOST_LABEL = 31  # of XGBoost's exponential gains; above, gains are linear


def _package() -> ModuleType:
    return optional_module("xgboost", "xgboost", "XGBoost")


class XGBoost(LibraryTrees):
    """Gradient boosted trees with LambdaMART ([CG16]_), one thread, deterministic.

    Labels are rounded to whole numbers, and gains are 2^label - 1, or the label where one is over
    31.

    Parameters
    ----------
    trees
        Number of trees; with validation data, the largest number.
    depth
        Depth of each tree.
    learning_rate
        Shrinkage of each tree.
    measure
        Measure that chooses the number of trees on validation data.
    seed
        Seed of XGBoost.
    """

    name = "xgboost"

    def __init__(
        self,
        *,
        trees: int = 300,
        depth: int = 6,
        learning_rate: float = 0.05,
        measure: str = "ndcg@10",
        seed: int = 0,
    ) -> None:
        self.trees, self.depth, self.learning_rate = trees, depth, learning_rate
        self.measure, self.seed = measure, seed
        self._booster: Any = None

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Fit the trees."""
        xgboost = _package()
        labels = np.rint(data.labels)
        settings = {
            "objective": "rank:ndcg",
            "max_depth": self.depth,
            "eta": self.learning_rate,
            "ndcg_exp_gain": bool(labels.max(initial=0) <= MOST_LABEL),
            "seed": self.seed,
            "nthread": 1,
            "verbosity": 0,
        }
        train = xgboost.DMatrix(data.features, labels, nthread=1)
        train.set_group(data.sizes)
        booster = xgboost.train(settings, train, num_boost_round=self.trees)
        if validation is not None:
            booster = booster[: self._best_length(booster, validation)]
        self.n_features_ = data.n_features
        self.trees_ = bytes(booster.save_raw("json")).decode()
        self._booster = None
        return self

    def _best_length(self, booster: Any, validation: RankingData) -> int:
        rows = _package().DMatrix(validation.features, nthread=1)

        def scores_of(tree: int) -> FloatArray:
            scores: FloatArray = booster.predict(
                rows, output_margin=True, iteration_range=(tree, tree + 1)
            )
            return scores

        return best_length(self.trees, scores_of, validation, self.measure)

    def predict(self, data: RankingData) -> FloatArray:
        """Score every document, (n_rows,)."""
        self.require_fitted(data)
        xgboost = _package()
        if self._booster is None:
            self._booster = xgboost.Booster({"nthread": 1})
            self._booster.load_model(bytearray(self.trees_.encode()))
        rows = xgboost.DMatrix(data.features, nthread=1)
        scores: FloatArray = self._booster.predict(rows, output_margin=True).astype(float)
        return scores
