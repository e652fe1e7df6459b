"""LightGBM's lambdarank behind the same contract; needs the optional extra ``lightgbm``."""

from types import ModuleType
from typing import Any, Self

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.boosted_trees import LibraryTrees, best_length
from topkapi.analysis.typing import FloatArray
from topkapi.extras import optional_module


def _package() -> ModuleType:
    return optional_module("lightgbm", "lightgbm", "LightGBM")


class LightGBM(LibraryTrees):
    """Gradient boosted trees with lambdarank ([KMF17]_), one thread, deterministic.

    Labels are rounded to whole numbers, and gains are 2^label - 1.

    Parameters
    ----------
    trees
        Number of trees; with validation data, the largest number.
    leaves
        Leaves per tree.
    learning_rate
        Shrinkage of each tree.
    measure
        Measure that chooses the number of trees on validation data.
    seed
        Seed of LightGBM.
    """

    name = "lightgbm"

    def __init__(
        self,
        *,
        trees: int = 300,
        leaves: int = 31,
        learning_rate: float = 0.05,
        measure: str = "ndcg@10",
        seed: int = 0,
    ) -> None:
        self.trees, self.leaves, self.learning_rate = trees, leaves, learning_rate
        self.measure, self.seed = measure, seed
        self._booster: Any = None

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Fit the trees."""
        lightgbm = _package()
        labels = np.rint(data.labels).astype(np.int64)
        if labels.max(initial=0) > 1000:
            raise BadData("LightGBM's gains overflow for labels over 1000: use a smaller k")
        settings = {
            "objective": "lambdarank",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "label_gain": [float(2**grade - 1) for grade in range(int(labels.max(initial=0)) + 1)],
            "seed": self.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }
        train = lightgbm.Dataset(data.features, labels, group=data.sizes)
        booster = lightgbm.train(settings, train, num_boost_round=self.trees)
        kept = self.trees if validation is None else self._best_length(booster, validation)
        self.n_features_ = data.n_features
        self.trees_ = booster.model_to_string(num_iteration=kept)
        self._booster = None
        return self

    def _best_length(self, booster: Any, validation: RankingData) -> int:
        def scores_of(tree: int) -> FloatArray:
            scores: FloatArray = booster.predict(
                validation.features, start_iteration=tree, num_iteration=1, num_threads=1
            )
            return scores

        return best_length(self.trees, scores_of, validation, self.measure)

    def predict(self, data: RankingData) -> FloatArray:
        """Score every document, (n_rows,)."""
        self.require_fitted(data)
        if self._booster is None:
            self._booster = _package().Booster(model_str=self.trees_)
        return np.asarray(self._booster.predict(data.features, num_threads=1))
