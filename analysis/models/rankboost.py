"""RankBoost over all thresholds of all features."""

from typing import Self

import numpy as np

from topkapi.analysis.data.padding import scores_of
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk, truth_order
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.base import Ranker
from topkapi.analysis.models.boosting.pair_weights import FactoredPairs
from topkapi.analysis.models.boosting.staging import StagedScores
from topkapi.analysis.models.boosting.stumps import Stump, StumpSearch, sum_of_stumps
from topkapi.analysis.models.listnet import with_preferences
from topkapi.analysis.typing import FloatArray, IntArray

SURE = 1.0 - 1e-9  # a weak ranker that is never wrong would get an infinite weight


def vote(r: float) -> float:
    """Compute the weight 1/2 ln((1 + r) / (1 - r)) of a weak ranker with edge r.

    [FISS03]_, section 3.2.
    """
    r = min(max(r, -SURE), SURE)
    return 0.5 * float(np.log((1.0 + r) / (1.0 - r)))


class StumpRanker(Ranker):
    """A ranker that scores by a weighted sum of stumps [x_f > threshold].

    ``features_``, ``thresholds_`` and ``alphas_`` have one entry per round; without thresholds the
    weak rankers are the features themselves.
    """

    learned = ("n_features_", "features_", "thresholds_", "alphas_")
    n_features_: int
    features_: IntArray
    thresholds_: FloatArray
    alphas_: FloatArray

    def predict(self, data: RankingData) -> FloatArray:
        """Score every document by its weighted sum of weak rankers, (n_rows,)."""
        self.require_fitted(data)
        chosen = self.features_.astype(np.int64)
        if self.thresholds_.size == 0:
            weights: FloatArray = np.zeros(self.n_features_)
            np.add.at(weights, chosen, self.alphas_)
            return scores_of(data.features, weights)
        return sum_of_stumps(data.features, chosen, self.thresholds_, self.alphas_)

    def keep(self, stumps: list[Stump], n_features: int) -> Self:
        """Store what was learned."""
        self.n_features_ = n_features
        self.features_ = np.array([stump.feature for stump in stumps], dtype=np.int64)
        cuts = [stump.threshold for stump in stumps if stump.threshold is not None]
        self.thresholds_ = np.array(cuts, dtype=np.float64)
        self.alphas_ = np.array([stump.alpha for stump in stumps], dtype=np.float64)
        return self


class RankBoost(StumpRanker):
    r"""RankBoost ([FISS03]_; [LGNC13]_, Algorithm 1) with stumps as weak rankers.

    Each round takes the stump with the largest |r|, r = sum D_ij (h_i - h_j), with the weight 1/2
    ln((1+r)/(1-r)). The printed update of [LGNC13]_ strengthens pairs that are right; D_ij is
    multiplied by exp(-alpha (h_i - h_j)) instead.

    Parameters
    ----------
    rounds
        Number of rounds; with validation data, the largest number.
    k
        Length of the top-k ground truth to learn from; None for the labels of the data.
    measure
        Measure that chooses the number of rounds on validation data.
    seed
        Seed of the order of equal grades.
    """

    name = "rankboost"

    def __init__(
        self, *, rounds: int = 300, k: int | None = None, measure: str = "ndcg@10", seed: int = 0
    ) -> None:
        self.rounds, self.k, self.measure, self.seed = rounds, k, measure, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Fit by boosting; stop early only when no stump has an edge left."""
        data = data if self.k is None else to_topk(data, self.k, seed=self.seed)
        data = with_preferences(data)
        order = truth_order(data, None)
        pairs = FactoredPairs(data, data.labels[order])
        if pairs.n_pairs == 0:
            raise BadData("every query has one label only: there is no preference to learn from")
        features, n_features = data.features[order], data.n_features
        del data  # a copy, if queries were left out
        search, staging = StumpSearch(features), StagedScores(validation, self.measure)
        stumps: list[Stump] = []
        for _ in range(self.rounds):
            position, below = search.best(pairs.potentials())
            r = -below  # the edge of the documents above: potentials sum to 0
            if abs(r) < 1e-12:
                break
            stump = Stump(*search.cut(position), vote(r))
            pairs.scores += stump.score(features)
            stumps.append(stump)
            staging.add(stump.score)
        return self.keep(stumps[: staging.best(len(stumps))], n_features)
