"""The simulations of [ZZCX13]_, section 5.3, on graded documents of real queries.

The true gains are 2^l - 1 of l = 1 .. L. Rankings are random orders of a query's documents cut at
K = 10; a query with fewer is padded with the worst grade.
"""

from collections.abc import Callable, Sequence

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.dcglearn.replication.curves import Curves
from topkapi.analysis.dcglearn.replication.figures import (
    Study,
    active_and_random,
    agreement,
    chosen_c,
    curves,
    learn,
    mean_lines,
    share_right,
)
from topkapi.analysis.dcglearn.replication.simulated import Pool, joined, judged, true_gains
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import IntArray

N_FOLDS = 5


class QueryPool:
    """Random pairs of rankings of the documents of real queries."""

    def __init__(self, data: RankingData, k: int = 10) -> None:
        self.n_grades = int(data.labels.max(initial=0.0)) + 1
        if (data.labels != data.labels.astype(np.int64)).any() or self.n_grades > 20:
            raise BadData("labels must be grades 0, 1, 2, ... of which there are at most 20")
        grades = data.labels.astype(np.int64)
        parts = np.split(grades, data.offsets[1:-1])
        self.queries = [part for part in parts if part.min() < part.max()]
        self.padded = sum(max(0, k - part.size) for part in self.queries)
        self.k = k
        if len(self.queries) < N_FOLDS:
            raise BadData(
                f"{len(self.queries)} queries have documents of different grades: "
                f"{N_FOLDS} are needed, one for each fold"
            )
        self.truth = true_gains(2, self.n_grades, k).table
        self.other = true_gains(1, self.n_grades, k).table

    def pairs(self, n: int, queries: IntArray, rng: np.random.Generator) -> Pool:
        """Draw n pairs of different worth, each of a random query among ``queries``."""
        pools: list[Pool] = []
        for _ in range(1000):
            if sum(pool.gaps.size for pool in pools) >= n:
                break
            lists = np.array([self._two(int(query), rng) for query in rng.choice(queries, size=n)])
            pools.append(judged(lists[:, 0], lists[:, 1], self.truth))
        else:
            raise BadData("hardly any two rankings of these queries differ in worth")
        return joined(pools).first(n)

    def _two(self, query: int, rng: np.random.Generator) -> IntArray:
        grades = self.queries[query]
        lists = np.zeros((2, self.k), dtype=np.int64)
        for row in lists:
            top = rng.permutation(grades)[: self.k]
            row[: top.size] = top
        return lists

    def folds(self, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
        """Yield training and test queries of five folds."""
        parts = np.array_split(rng.permutation(len(self.queries)), N_FOLDS)
        return [
            (np.concatenate([part for part in parts if part is not held]), held) for held in parts
        ]


def by_training_size(
    pool: QueryPool, runs: int, seed: int, sizes: Sequence[int] = (50, 100, 200, 400, 600, 1000)
) -> Curves:
    """Draw Figure 11: accuracy by training pairs, five folds by query."""

    def values(train: Pool, test: Pool, _rng: np.random.Generator) -> list[float]:
        found = [share_right(learn(train.first(n)), test) for n in sizes]
        return found + [agreement(pool.other, test)] * len(sizes)

    experiment = _over_folds(pool, max(sizes), values)
    lines = mean_lines(("DCGLearn", "Other"), experiment, runs, seed)
    return curves("11", "Accuracy by training pairs, real queries", "training pairs", sizes, lines)


def by_difference(pool: QueryPool, runs: int, seed: int) -> Curves:
    """Draw Figures 12 and 13: accuracy by tenths of the true difference, from 600 pairs."""

    def values(train: Pool, test: Pool, _rng: np.random.Generator) -> list[float]:
        model = learn(train)
        parts = [test.take(part) for part in np.array_split(np.argsort(np.abs(test.gaps)), 10)]
        return [share_right(model, part) for part in parts] + [
            agreement(pool.other, part) for part in parts
        ]

    lines = mean_lines(("DCGLearn", "Other"), _over_folds(pool, 600, values), runs, seed)
    tenths = [0.05 + 0.1 * tenth for tenth in range(10)]
    title = "Accuracy by true difference, real queries"
    return curves("12-13", title, "quantile of DCG difference", tenths, lines)


def with_noisy_grades(
    pool: QueryPool,
    runs: int,
    seed: int,
    sizes: Sequence[int] = (200, 600, 1000),
    shares: Sequence[float] = (0.0, 0.05, 0.1, 0.2, 0.3),
) -> Curves:
    """Draw Figures 14 and 15: accuracy by the share of random grades in training."""

    def values(train: Pool, test: Pool, rng: np.random.Generator) -> list[float]:
        validation = test.take(np.arange(0, test.gaps.size, 4))
        rest = test.take(np.flatnonzero(np.arange(test.gaps.size) % 4 > 0))
        found = []
        for n in sizes:
            for share in shares:
                noisy = _with_share(train.first(n), share, rng)
                c = chosen_c(noisy, noisy.signs, validation, (0.01, 0.1, 1.0, 5.0))
                found.append(share_right(learn(noisy, c=c), rest))
        return found

    experiment = _over_folds(pool, max(sizes), values)
    lines = mean_lines([f"{n} pairs" for n in sizes], experiment, runs, seed)
    title = "Accuracy by share of noisy grades, real queries"
    return curves("14-15", title, "share of noisy grades", shares, lines)


def actively(
    pool: QueryPool, runs: int, seed: int, sizes: Sequence[int] = (20, 40, 60, 80, 100, 150, 200)
) -> Curves:
    """Draw Figure 23: active learning beside random pairs, on real queries."""

    def experiment(rng: np.random.Generator) -> list[float]:
        train, held = pool.folds(rng)[0]
        asked, test = pool.pairs(2000, train, rng), pool.pairs(2000, held, rng)
        return active_and_random(asked, test, sizes, int(rng.integers(2**31)))

    lines = mean_lines(("active", "random"), experiment, runs, seed)
    return curves("23", "Active learning, real queries", "labelled pairs", sizes, lines)


def _with_share(pool: Pool, share: float, rng: np.random.Generator) -> Pool:
    both = np.stack([pool.left, pool.right])
    noisy = rng.random(both.shape) < share
    both = np.where(noisy, rng.integers(0, pool.shape[1], size=both.shape), both)
    return Pool(both[0], both[1], pool.gaps, pool.shape)


def _over_folds(
    pool: QueryPool,
    n_train: int,
    values: Callable[[Pool, Pool, np.random.Generator], Sequence[float]],
) -> Study:
    """Return an experiment: the mean over five folds of values of training and test pairs."""

    def experiment(rng: np.random.Generator) -> list[float]:
        rows = [
            values(pool.pairs(n_train, train, rng), pool.pairs(1000, held, rng), rng)
            for train, held in pool.folds(rng)
        ]
        return [float(value) for value in np.mean(np.array(rows), axis=0)]

    return experiment


LETOR_FIGURES: dict[str, Callable[[QueryPool, int, int], Curves]] = {
    "11": by_training_size,
    "12-13": by_difference,
    "14-15": with_noisy_grades,
    "23": actively,
}
"""Figure number -> experiment(pool, runs, seed)."""
