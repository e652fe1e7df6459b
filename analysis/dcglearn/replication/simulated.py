"""Rankings and preferences with a known utility: [ZZCX13]_, section 5.2.1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.dcglearn.gains import Gains, utilities
from topkapi.analysis.dcglearn.preferences import increments
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

TEN_GRADES = np.array([4, 4, 3, 3, 2, 2, 1, 1, 0, 0])
"""Two documents of each of five grades, the best ranking of them."""

OTHER_GRADES = np.array([4, 4, 4, 3, 3, 3, 2, 2, 1, 0])
"""A better set of documents, for pairs whose lists do not hold the same grades."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs of rankings and the true difference of their worth, left minus right.

    ``left``, ``right`` (n, K) are grades, ``gaps`` (n,). Pairs of equal worth are left out by
    :func:`judged`.
    """

    left: IntArray
    right: IntArray
    gaps: FloatArray
    shape: tuple[int, int]

    @property
    def differences(self) -> FloatArray:
        """Left minus right in increments, (n, K (L-1))."""
        return increments(self.left, self.shape[1]) - increments(self.right, self.shape[1])

    @property
    def signs(self) -> IntArray:
        """1 where the left list is better, -1 where the right one is, (n,)."""
        return np.sign(self.gaps).astype(np.int64)

    def take(self, chosen: IntArray | BoolArray | slice) -> "Pool":
        """Select pairs."""
        return Pool(self.left[chosen], self.right[chosen], self.gaps[chosen], self.shape)

    def first(self, n: int) -> "Pool":
        """Select the first n pairs."""
        return self.take(slice(n))


def true_gains(data: int, n_grades: int = 5, k: int = 10) -> Gains:
    """Return the true gains of Data 1 or 2, with discounts 1 / ln(1 + i), equation (5).

    Gains of Data 1 are 1, 2, ..., L, of Data 2 2^l - 1 of those.

    >>> true_gains(2).gains
    array([ 1.,  3.,  7., 15., 31.])
    """
    grades = np.arange(1.0, n_grades + 1.0)
    discounts = 1.0 / np.log(np.arange(2, k + 2))
    return Gains(grades if data == 1 else np.exp2(grades) - 1.0, discounts)


def permuted(grades: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Draw n random orders of the same documents, (n, K)."""
    return rng.permuted(np.tile(grades, (n, 1)), axis=1)


def judged(left: IntArray, right: IntArray, truth: FloatArray) -> Pool:
    """Compare rankings (n, K) under the true weights (K, L), and drop pairs of equal worth."""
    gaps = utilities(truth, left) - utilities(truth, right)
    keep = np.abs(gaps) > 1e-9
    shape = (int(truth.shape[0]), int(truth.shape[1]))
    return Pool(left[keep], right[keep], gaps[keep], shape)


def joined(pools: Sequence[Pool]) -> Pool:
    """Join pools of rankings of the same shape."""
    names = ("left", "right", "gaps")
    left, right, gaps = (np.concatenate([getattr(each, name) for each in pools]) for name in names)
    return Pool(left, right, gaps, pools[0].shape)


def random_pairs(n: int, truth: FloatArray, rng: np.random.Generator) -> Pool:
    """Draw n pairs of random orders of ten documents of five grades, none of equal worth."""
    pools: list[Pool] = []
    while sum(pool.gaps.size for pool in pools) < n:
        left, right = permuted(TEN_GRADES, n, rng), permuted(TEN_GRADES, n, rng)
        pools.append(judged(left, right, truth))
    return joined(pools).first(n)


def pairs_with_the_best(
    n: int, truth: FloatArray, rng: np.random.Generator, *, other_documents: bool = False
) -> Pool:
    """Draw n pairs of the best ranking and a random order of its documents, or of other ones."""
    grades = OTHER_GRADES if other_documents else TEN_GRADES
    best = np.tile(TEN_GRADES, (2 * n + 10, 1))
    return judged(best, permuted(grades, 2 * n + 10, rng), truth).first(n)


def with_noisy_grades(pool: Pool, n_documents: int, rng: np.random.Generator) -> Pool:
    """Give ``n_documents`` positions of the lists a random grade; preferences stay."""
    both = np.stack([pool.left, pool.right]).copy()
    positions = rng.choice(both.size, size=min(n_documents, both.size), replace=False)
    both.reshape(-1)[positions] = rng.integers(0, pool.shape[1], size=positions.size)
    return Pool(both[0], both[1], pool.gaps, pool.shape)
