"""Exponential weights over pairs without a pair array: D_ij = e^-H_i e^H_j / Z."""

from itertools import pairwise

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.lazy import special
from topkapi.analysis.typing import FloatArray

FAR = 300.0  # exp of more than twice this is no double


class FactoredPairs:
    """Weights of all pairs of better and worse documents, kept as one score H per document.

    Rows must be in true order. Boosting multiplies the weight of a pair by exp(-alpha (h_i - h_j)):
    adding alpha h to H is that update, and sums over pairs are sums over suffixes and prefixes.
    """

    def __init__(self, data: RankingData, labels: FloatArray) -> None:
        owner = data.queries
        fresh = np.ones(data.n_rows, dtype=bool)
        fresh[1:] = (labels[1:] != labels[:-1]) | (owner[1:] != owner[:-1])
        starts = np.flatnonzero(fresh)
        group = np.cumsum(fresh) - 1
        self.group_start = starts[group]
        self.group_end = np.append(starts[1:], data.n_rows)[group]
        self.query_start, self.query_end = data.offsets[:-1][owner], data.offsets[1:][owner]
        self.offsets, self.sizes = data.offsets, data.sizes
        self.n_pairs = int((self.query_end - self.group_end).sum())
        self.scores = np.zeros(data.n_rows)

    def potentials(self) -> FloatArray:
        """Return the weight of the pairs a document wins less that of those it loses, (n,).

        It sums to 0.
        """
        mean = np.add.reduceat(self.scores, self.offsets[:-1]) / self.sizes
        level = self.scores - np.repeat(mean, self.sizes)
        if np.abs(level).max(initial=0.0) > FAR:
            return self._by_logarithms(level)
        ahead, behind = np.exp(-level), np.exp(level)
        before = np.concatenate([[0.0], np.cumsum(ahead)])
        after = np.concatenate([[0.0], np.cumsum(behind)])
        wins = ahead * (after[self.query_end] - after[self.group_end])
        losses = behind * (before[self.group_start] - before[self.query_start])
        total = wins.sum()
        if not total > 0.0:
            return self._by_logarithms(level)
        result: FloatArray = (wins - losses) / total
        return result

    def _by_logarithms(self, level: FloatArray) -> FloatArray:
        """Compute the same query by query, for documents so far apart that exponentials vanish."""
        wins, losses = np.full(level.size, -np.inf), np.full(level.size, -np.inf)
        for start, stop in pairwise(self.offsets.tolist()):
            mine = level[start:stop]
            after = np.append(np.logaddexp.accumulate(mine[::-1])[::-1], -np.inf)
            before = np.concatenate([[-np.inf], np.logaddexp.accumulate(-mine)])
            wins[start:stop] = after[self.group_end[start:stop] - start] - mine
            losses[start:stop] = before[self.group_start[start:stop] - start] + mine
        total = special.logsumexp(wins)
        result: FloatArray = np.exp(wins - total) - np.exp(losses - total)
        return result
