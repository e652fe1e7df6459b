"""What the optional libraries of boosted trees share: their import, and the choice of trees."""

from collections.abc import Callable

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.models.base import Ranker
from topkapi.analysis.typing import FloatArray


class LibraryTrees(Ranker):
    """Boosted trees of an optional library; ``trees_`` is its own text of the model."""

    learned = ("n_features_", "trees_")
    n_features_: int
    trees_: str


def best_length(
    trees: int, scores_of: Callable[[int], FloatArray], validation: RankingData, measure: str
) -> int:
    """Return the number of trees with the best ``measure``; ``scores_of`` gives those of one."""
    scores = np.zeros(validation.n_rows)
    values = []
    for tree in range(trees):
        scores += scores_of(tree)
        values.append(evaluate(validation, scores, [measure])[measure])
    return int(np.argmax(values)) + 1
