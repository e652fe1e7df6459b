"""AdaRank: boosting of single features against a measure of whole lists."""

from typing import Literal, Self

import numpy as np

from topkapi.analysis.data.padding import scores_of
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics import LOSSES, evaluate
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.boosting.staging import StagedScores, feature_quality
from topkapi.analysis.models.boosting.stumps import Stump
from topkapi.analysis.models.listnet import with_preferences
from topkapi.analysis.models.rankboost import vote
from topkapi.analysis.typing import FloatArray

Update = Literal["multiplicative", "original"]


def choose(edges: FloatArray, last: int | None) -> int:
    """Choose the best weak ranker; the one chosen last round is skipped once."""
    if last is not None and edges.size > 1:
        edges = edges.copy()
        edges[last] = -np.inf
    return int(np.argmax(edges))


class AdaRank(LinearRanker):
    r"""AdaRank ([XL07]_) with features as weak rankers.

    Each round takes the feature, or negated feature, with the largest r = sum P_i E_i and adds it
    with weight 1/2 ln((1+r)/(1-r)); as printed, features that fall with relevance are of no use.
    The original update P_i ~ exp(-E_i(all so far)) locks on one feature, so the default multiplies
    P_i by exp(-alpha E_i(feature)), as boosting does elsewhere, and skips the feature of the round
    before. Queries without preferences are left out.

    Parameters
    ----------
    rounds
        Number of rounds; with validation data, the largest number.
    measure
        Measure that is maximised, and that chooses the number of rounds on validation data.
    update
        ``multiplicative``, or ``original`` as printed.
    """

    name = "adarank"

    def __init__(
        self, *, rounds: int = 100, measure: str = "ndcg@10", update: Update = "multiplicative"
    ) -> None:
        if measure.split("@")[0] in LOSSES:
            raise BadData(f"AdaRank maximises its measure; {measure} is a loss")
        self.rounds, self.measure, self.update = rounds, measure, update

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Fit by boosting for the given number of rounds."""
        data = with_preferences(data)
        quality = feature_quality(data, self.measure)
        chances = np.full(data.n_queries, 1.0 / data.n_queries)
        staging, last = StagedScores(validation, self.measure), None
        weights = np.zeros((self.rounds + 1, data.n_features))
        for turn in range(self.rounds):
            edges = quality @ chances
            last = choose(edges, last if self.update == "multiplicative" else None)
            alpha = vote(float(edges[last]))
            weights[turn + 1] = weights[turn]
            feature, signed = last % data.n_features, alpha if last < data.n_features else -alpha
            weights[turn + 1, feature] += signed
            staging.add(Stump(feature, None, signed).score)
            chances = self._update(chances, data, weights[turn + 1], alpha * quality[last])
        self.coef_ = weights[staging.best(self.rounds)]
        return self

    def _update(
        self, chances: FloatArray, data: RankingData, weights: FloatArray, gained: FloatArray
    ) -> FloatArray:
        if self.update == "multiplicative":
            fresh = chances * np.exp(-gained)
        else:
            scores = scores_of(data.features, weights)
            whole = evaluate(data, scores, [self.measure], per_query=True, ties="expected")
            fresh = np.exp(-whole[self.measure])
        result: FloatArray = fresh / fresh.sum()
        return result
