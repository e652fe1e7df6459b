"""FocusedBoost: RankBoost between T and F, AdaRank within T, one weak ranker per round for both."""

from typing import Literal, Self

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk, truth_order
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.adarank import choose
from topkapi.analysis.models.boosting.pair_weights import FactoredPairs
from topkapi.analysis.models.boosting.staging import StagedScores
from topkapi.analysis.models.boosting.stumps import Stump
from topkapi.analysis.models.boosting.weak_rankers import Family, FeatureFamily, StumpFamily
from topkapi.analysis.models.rankboost import StumpRanker, vote
from topkapi.analysis.typing import FloatArray

Weak = Literal["features", "stumps"]


class FocusedBoost(StumpRanker):
    r"""FocusedBoost ([NGLC12]_, Algorithm 2, corrected).

    .. math:: r_t = \beta \sum_i D_i E(f, T_i) + (1 - \beta) \sum D'_{uv} (f(x_u) - f(x_v)),
              \quad \alpha_t = \tfrac12 \ln \tfrac{1 + r_t}{1 - r_t}

    The printed r_t lies outside (-1, 1), so its alpha is undefined, and the printed sign makes
    pairs that are right heavier. Here r_t is maximised, D' is multiplied by
    exp(-alpha (f_u - f_v)) and D by exp(-alpha E(f, T_i)); E is kappa-NDCG on T.
    ``weak="features"`` boosts single features: beta 1 is AdaRank on T. ``weak="stumps"`` boosts
    stumps in both directions: beta 0 is RankBoost on the pairs of T and F. The weak ranker of the
    round before is set aside once, as in AdaRank.

    Parameters
    ----------
    k
        Length of the top-k ground truth.
    beta
        Weight of the listwise part, 0 to 1.
    rounds
        Number of rounds; with validation data, the largest number.
    weak
        ``features`` or ``stumps``.
    measure
        Measure that chooses the number of rounds on validation data.
    seed
        Seed of the order of equal grades.
    """

    name = "focused-boost"

    def __init__(
        self,
        *,
        k: int = 10,
        beta: float = 0.5,
        rounds: int = 300,
        weak: Weak = "features",
        measure: str = "ndcg@10",
        seed: int = 0,
    ) -> None:
        if not 0.0 <= beta <= 1.0:
            raise BadData(f"beta must lie between 0 and 1, not {beta}")
        self.k, self.beta, self.rounds, self.weak = k, beta, rounds, weak
        self.measure, self.seed = measure, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Fit by boosting.

        With ``validation`` the number of rounds with the best ``measure`` is kept.
        """
        data = to_topk(data, self.k, seed=self.seed)
        work = Rounds(data, self.beta, FeatureFamily if self.weak == "features" else StumpFamily)
        staging = StagedScores(validation, self.measure)
        chosen: list[Stump] = []
        for _ in range(self.rounds):
            weak = work.step()
            if weak is None:
                break
            chosen.append(weak)
            staging.add(weak.score)
        return self.keep(chosen[: staging.best(len(chosen))], data.n_features)


class Rounds:
    """Weights over lists and pairs, and the search for the next weak ranker."""

    def __init__(self, data: RankingData, beta: float, family: type[Family]) -> None:
        order = truth_order(data, None)
        labels, features = data.labels[order], data.features[order]
        self.pairs = FactoredPairs(data, np.minimum(labels, 1.0))
        self.family = family(data, features, labels)
        n_lists = self.family.n_lists
        self.chances = np.full(n_lists, 1.0 / max(n_lists, 1))
        self.beta = self._settle(beta)
        self.last: int | None = None

    def _settle(self, beta: float) -> float:
        """Set beta for data without pairs or without lists: the other part decides alone."""
        if self.pairs.n_pairs == 0 and self.family.n_lists == 0:
            raise BadData("no query has two documents to order: there is nothing to learn from")
        if self.pairs.n_pairs == 0:
            return 1.0
        return beta if self.family.n_lists else 0.0

    def edges(self) -> FloatArray:
        """Return r of every weak ranker of the family."""
        edges = np.zeros(self.family.size)
        if self.beta > 0:
            edges += self.beta * self.family.list_edges(self.chances)
        if self.beta < 1:
            edges += (1.0 - self.beta) * self.family.pair_edges(self.pairs.potentials())
        return edges

    def step(self) -> Stump | None:
        """Choose a weak ranker and update all weights; none when nothing has an edge."""
        if self.family.size == 0:
            return None
        edges = self.edges()
        chosen = choose(edges, self.last)
        if edges[chosen] < 1e-12:
            return None
        self.last = chosen
        alpha = vote(float(edges[chosen]))
        self.pairs.scores += alpha * self.family.values(chosen)
        self.chances = self.chances * np.exp(-alpha * self.family.quality(chosen))
        self.chances /= max(self.chances.sum(), 1e-300)
        return self.family.weak(chosen, alpha)
