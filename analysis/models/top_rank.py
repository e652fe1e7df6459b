"""TopRank: a base ranker whose top is re-ranked by the votes of three others."""

from typing import Self

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics import LOSSES, evaluate
from topkapi.analysis.models.base import LinearRanker, Ranker
from topkapi.analysis.models.listnet import ListNet
from topkapi.analysis.models.oracles.top_lists import TopLoss
from topkapi.analysis.models.ranksvm import RankSVM
from topkapi.analysis.models.regression import Regression
from topkapi.analysis.models.top_slack import TopSlack
from topkapi.analysis.typing import FloatArray, IntArray
from topkapi.analysis.voting import supervised_kemeny


class TopRank(Ranker):
    """TopRank ([CSX15]_, section 3): TopSlack, then three re-rankers joined by Supervised Kemeny.

    TopSlack gives the order of a query; its first t = min(``candidates``, documents of the query)
    are ordered by Regression, RankSVM and ListNet, of whose lists the first ``share`` of t vote,
    with weights proportional to ``measure`` on validation data (equal without them). TopSlack's
    order is the initial one, decides where votes are tied, and stays behind t. Learned: the weights
    of features, ``base_`` (d,) and ``others_`` (3, d), and of votes, ``votes_`` (3,).

    Parameters
    ----------
    n, c, loss, rebreaks
        Settings of TopSlack.
    l2, svm_c, net_l2
        Penalty of Regression, C of RankSVM, penalty of ListNet.
    candidates
        Most documents of a query that are ordered again.
    share
        Share of each list that votes.
    outside
        Whether the first documents of a list also win against the others.
    refine
        Whether Supervised Kemeny searches locally.
    measure
        Measure that weighs the votes on validation data.
    """

    name = "toprank"
    learned = ("base_", "others_", "votes_")
    base_: FloatArray
    others_: FloatArray
    votes_: FloatArray

    def __init__(
        self,
        *,
        n: int = 10,
        c: float = 100.0,
        loss: TopLoss = "ndcg",
        rebreaks: int = 3,
        l2: float = 1.0,
        svm_c: float = 0.01,
        net_l2: float = 0.1,
        candidates: int = 100,
        share: float = 0.5,
        outside: bool = False,
        refine: bool = True,
        measure: str = "ndcg@10",
    ) -> None:
        if candidates < 1 or not 0.0 < share <= 1.0:
            raise BadData(
                f"candidates must be at least 1 and share above 0 and at most 1, "
                f"not {candidates} and {share}"
            )
        self.n, self.c, self.loss, self.rebreaks = n, c, loss, rebreaks
        self.l2, self.svm_c, self.net_l2 = l2, svm_c, net_l2
        self.candidates, self.share, self.outside = candidates, share, outside
        self.refine, self.measure = refine, measure

    @property
    def n_features_(self) -> int:
        """Width of the documents the model knows."""
        return int(self.base_.shape[0])

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the base ranker and the re-rankers; weigh their votes on validation data."""
        base = TopSlack(n=self.n, c=self.c, loss=self.loss, rebreaks=self.rebreaks)
        self.base_ = base.fit(data).coef_
        others: list[LinearRanker] = [
            Regression(l2=self.l2),
            RankSVM(c=self.svm_c),
            ListNet(l2=self.net_l2),
        ]
        self.others_ = np.array([model.fit(data).coef_ for model in others])
        self.votes_ = self._weigh(validation)
        return self

    def _weigh(self, validation: RankingData | None) -> FloatArray:
        if validation is None:
            return np.full(len(self.others_), 1.0 / len(self.others_))
        worth = np.array(
            [
                evaluate(validation, validation.features @ weights, [self.measure])[self.measure]
                for weights in self.others_
            ]
        )
        if self.measure.split("@")[0] in LOSSES:
            worth = worth.max() + worth.min() - worth
        worth = np.maximum(worth, 0.0)
        total = float(worth.sum())
        return worth / total if total > 0 else np.full(worth.size, 1.0 / worth.size)

    def predict(self, data: RankingData) -> FloatArray:
        """Score documents by rank: the last of a query has 1, the first as many as there are."""
        self.require_fitted(data)
        base = data.features @ self.base_
        others = data.features @ self.others_.T
        positions = np.empty(data.n_rows)
        for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
            order = self._order(base[start:stop], others[start:stop])
            positions[start + order] = np.arange(stop - start, 0, -1)
        return positions

    def _order(self, base: FloatArray, others: FloatArray) -> IntArray:
        """Order the documents of one query, best first, from scores (n,) and (n, 3)."""
        order = np.argsort(-base, kind="stable")
        t = min(self.candidates, order.size)
        top, rest = order[:t], order[t:]
        rankings = np.argsort(-others[top], axis=0, kind="stable").T
        joined = supervised_kemeny(
            rankings,
            weights=self.votes_,
            initial=np.arange(t),
            k=max(1, round(self.share * t)),
            outside=self.outside,
            refine=self.refine,
        )
        return np.concatenate([top[joined], rest])
