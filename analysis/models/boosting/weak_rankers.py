"""Families of weak rankers for FocusedBoost: single features, or stumps in both directions."""

from abc import ABC, abstractmethod

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.models.boosting.splits import Splits
from topkapi.analysis.models.boosting.staging import feature_quality
from topkapi.analysis.models.boosting.stumps import Stump, StumpSearch
from topkapi.analysis.typing import BoolArray, FloatArray


class Family(ABC):
    """Weak rankers 0 .. size-1 over documents in true order, of which T is those with labels."""

    size: int
    n_lists: int

    @abstractmethod
    def __init__(self, data: RankingData, features: FloatArray, labels: FloatArray) -> None: ...

    @abstractmethod
    def list_edges(self, chances: FloatArray) -> FloatArray:
        """Return the mean quality on the lists T under ``chances`` (n_lists,): (size,)."""

    @abstractmethod
    def pair_edges(self, potentials: FloatArray) -> FloatArray:
        """Return the weighted mean of f(better) - f(worse) over pairs, (size,)."""

    @abstractmethod
    def values(self, index: int) -> FloatArray:
        """Return the value of a weak ranker for each document, between 0 and 1, (n_rows,)."""

    @abstractmethod
    def quality(self, index: int) -> FloatArray:
        """Return the quality of a weak ranker on each list, (n_lists,)."""

    @abstractmethod
    def weak(self, index: int, alpha: float) -> Stump:
        """Make a weak ranker with its weight, to be kept in the model."""


class FeatureFamily(Family):
    """Every feature as it is (divided by its range if that is over 1), then every one negated."""

    def __init__(self, data: RankingData, features: FloatArray, labels: FloatArray) -> None:
        self.spans = np.maximum(np.ptp(features, axis=0), 1.0)
        self.scaled = features / self.spans
        self.size = 2 * data.n_features
        lists = _lists_of(data, features, labels)
        self.n_lists = 0 if lists is None else lists.n_queries
        self.table = np.zeros((self.size, 0)) if lists is None else feature_quality(lists, "ndcg")

    def list_edges(self, chances: FloatArray) -> FloatArray:
        """Return the mean kappa-NDCG on T of every feature."""
        return self.table @ chances

    def pair_edges(self, potentials: FloatArray) -> FloatArray:
        """Return the weighted mean difference of every feature over pairs."""
        edges: FloatArray = self.scaled.T @ potentials
        return np.concatenate([edges, -edges])

    def values(self, index: int) -> FloatArray:
        """Return the feature of every document, one less it where it is negated."""
        feature, negated = self._feature(index)
        values: FloatArray = self.scaled[:, feature]
        return 1.0 - values if negated else values

    def quality(self, index: int) -> FloatArray:
        """Return the kappa-NDCG of the feature on each list."""
        quality: FloatArray = self.table[index]
        return quality

    def weak(self, index: int, alpha: float) -> Stump:
        """Return the feature itself, without a threshold."""
        feature, negated = self._feature(index)
        weight = alpha / float(self.spans[feature])
        return Stump(feature, None, -weight if negated else weight)

    def _feature(self, index: int) -> tuple[int, bool]:
        half = self.size // 2
        return index % half, index >= half


def _lists_of(data: RankingData, features: FloatArray, labels: FloatArray) -> RankingData | None:
    """Return the documents of T alone, for the lists that hold two or more."""
    inside = labels > 0
    sizes = np.add.reduceat(inside.astype(np.int64), data.offsets[:-1])
    inside &= np.repeat(sizes >= 2, data.sizes)
    sizes = sizes[sizes >= 2]
    if sizes.size == 0:
        return None
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return RankingData(features[inside], labels[inside], offsets, topk=data.topk)


class StumpFamily(Family):
    """Stumps [x > t], then [x <= t], at every border between values of every feature."""

    def __init__(self, data: RankingData, features: FloatArray, labels: FloatArray) -> None:
        self.features = features
        self.search, self.splits = StumpSearch(features), Splits(data, labels)
        self.n_lists = int(self.splits.useful.size)
        self.size = 2 * self.search.borders.size
        if self.n_lists == 0:
            return
        self.rising, self.falling = self.splits.changes(features, self.search)
        owner = np.full(data.n_queries, self.n_lists)
        owner[self.splits.useful] = np.arange(self.n_lists)
        self.owner = owner[data.queries][self.search.order].astype(np.int32)
        self.base = self.splits.quality(np.ones(data.n_rows, dtype=np.bool_))

    def list_edges(self, chances: FloatArray) -> FloatArray:
        """Return the mean kappa-NDCG on T of every stump, by one running sum per direction."""
        spread = np.append(chances, 0.0)[self.owner]
        start = float(chances @ self.base)
        high = start + self.search.below(spread * self.rising)
        return np.concatenate([high, start + self.search.below(spread * self.falling)])

    def pair_edges(self, potentials: FloatArray) -> FloatArray:
        """Return RankBoost's r of every stump.

        Potentials sum to 0, so above is minus below.
        """
        below = self.search.below(potentials)
        return np.concatenate([-below, below])

    def values(self, index: int) -> FloatArray:
        """Return 1 for documents on the stump's side, else 0."""
        return self._side(index).astype(float)

    def quality(self, index: int) -> FloatArray:
        """Return the kappa-NDCG of the stump on each list."""
        return self.splits.quality(self._side(index))

    def weak(self, index: int, alpha: float) -> Stump:
        """Return the stump.

        [x <= t] with weight a orders documents as [x > t] with weight -a does.
        """
        feature, threshold = self._cut(index)
        return Stump(feature, threshold, alpha if index < self.search.borders.size else -alpha)

    def _cut(self, index: int) -> tuple[int, float]:
        borders = self.search.borders
        return self.search.cut(int(borders[index % borders.size]))

    def _side(self, index: int) -> BoolArray:
        feature, threshold = self._cut(index)
        above: BoolArray = self.features[:, feature] > threshold
        return above if index < self.search.borders.size else ~above
