"""Disagreement of two settings of gains about two rankings: [ZZCX13]_, section 3, Figure 1."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.dcglearn.gains import Gains, utilities
from topkapi.analysis.dcglearn.replication.curves import Curves
from topkapi.analysis.dcglearn.replication.simulated import TEN_GRADES, permuted
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Coherence:
    """``agree``: share of pairs on which both settings agree; ``curve`` by difference."""

    agree: float
    pairs: int
    curve: Curves


def agree(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return 1 where two differences of worth have the same sign, both zero included, else 0."""
    signs = [np.where(np.abs(gaps) <= 1e-9, 0, np.sign(gaps)) for gaps in (first, second)]
    same: FloatArray = (signs[0] == signs[1]).astype(np.float64)
    return same


def coherence(
    first: Gains,
    second: Gains,
    *,
    n_pairs: int = 100_000,
    seed: int = 1,
    grades: IntArray = TEN_GRADES,
    n_bins: int = 20,
) -> Coherence:
    """Compare two settings on random orders of documents with these ``grades`` (n,).

    The curve is the share of agreement by the difference of worth under ``first``, in bins of equal
    width up to its 99 % quantile. With two grades and the same discounts nothing ever disagrees
    (Theorem 1).

    >>> from topkapi.analysis.dcglearn.gains import usual_gains
    >>> two = np.array([1, 1, 1, 0, 0, 0])
    >>> usual, steep = usual_gains(2, 6), Gains(np.array([1.0, 50.0]), usual_gains(2, 6).discounts)
    >>> coherence(usual, steep, n_pairs=1000, grades=two).agree
    1.0
    """
    k = min(first.discounts.size, second.discounts.size)
    top = int(grades.max(initial=0))
    if k > grades.size or top >= min(first.gains.size, second.gains.size):
        raise BadData(f"gains of {top + 1} grades and at most {grades.size} positions are needed")
    rng = np.random.default_rng(seed)
    left, right = (permuted(grades, n_pairs, rng)[:, :k] for _ in range(2))
    gaps = [
        utilities(each.table[:k], left) - utilities(each.table[:k], right)
        for each in (first, second)
    ]
    same = agree(gaps[0], gaps[1])
    return Coherence(float(same.mean()), n_pairs, _curve(np.abs(gaps[0]), same, n_bins))


def _curve(size: FloatArray, same: FloatArray, n_bins: int) -> Curves:
    edges = np.linspace(0.0, float(np.quantile(size, 0.99)) or 1.0, n_bins + 1)
    where = np.digitize(size, edges) - 1
    inside = where < n_bins
    counts = np.bincount(where[inside], minlength=n_bins)
    found = np.bincount(where[inside], same[inside], minlength=n_bins)
    kept = counts > 0
    shares = found[kept] / counts[kept]
    middles = ((edges[:-1] + edges[1:]) / 2)[kept]
    return Curves(
        "1",
        "Share of pairs on which two settings of gains agree",
        "DCG difference",
        tuple(middles.tolist()),
        {"agree": tuple(shares.tolist())},
    )
