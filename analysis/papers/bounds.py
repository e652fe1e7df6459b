"""The inequalities of [LGNC13]_, section 5, checked query by query on data and scores."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk, truth_order
from topkapi.analysis.typing import FloatArray

MarginLoss = Callable[[FloatArray], FloatArray]
PHI: dict[str, MarginLoss] = {
    "hinge": lambda margins: np.maximum(0.0, 1.0 - margins),
    "exponential": lambda margins: np.exp(np.minimum(-margins, 700.0)),
    "logistic, base 2": lambda margins: np.logaddexp(0.0, -margins) / np.log(2.0),
}
"""Margin losses with phi(0) >= 1, which Theorem 2(1) needs: the logistic loss in base 2."""


@dataclass(frozen=True)
class Bound:
    """One inequality left <= right: mean sides, and the share of queries in which it holds."""

    name: str
    left: float
    right: float
    holds: float


def check_bounds(data: RankingData, scores: FloatArray, k: int, *, seed: int = 0) -> list[Bound]:
    """Check every inequality of the section on the full order of ``data`` (ties by ``seed``)."""
    sides: dict[str, list[tuple[float, float]]] = {}
    order = truth_order(data, seed)
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        if stop - start < 2:
            continue
        for name, left, right in query_bounds(scores[order[start:stop]], k):
            sides.setdefault(name, []).append((left, right))
    return [_bound(name, np.array(pairs)) for name, pairs in sides.items()]


def _bound(name: str, pairs: FloatArray) -> Bound:
    holds = pairs[:, 0] <= pairs[:, 1] * (1 + 1e-12) + 1e-12
    means = pairs.mean(axis=0)
    return Bound(name, float(means[0]), float(means[1]), float(holds.mean()))


def query_bounds(scores: FloatArray, k: int) -> list[tuple[str, float, float]]:
    """Compute both sides of every inequality for one query, ``scores`` (n,) in true order."""
    n = scores.size
    k = min(k, n)
    gains = np.exp2(1.0 - np.arange(1, n + 1)) - np.exp2(1.0 - n)  # (2^(n-j) - 1) / 2^(n-1)
    alpha = gains[:k] / np.log2(np.arange(2, k + 2))
    ideal = float(alpha.sum())
    inversions = _inversions(scores, k)
    wkt, capped = float(alpha @ inversions), float(alpha @ np.minimum(inversions, 1))
    loss = 1.0 - _dcg(scores, gains, k) / ideal if ideal > 0 else 0.0
    scale = float(alpha.max(initial=0.0))
    bounds = [("(14) 1 - NDCG@k <= WKT / N", loss, wkt / ideal if ideal > 0 else 0.0)]
    if ideal > 0:
        bounds.append(("(14) capped: 1 - NDCG@k <= capped WKT / N", loss, capped / ideal))
    for name, phi in PHI.items():
        top, full = _pair_losses(scores, k, phi)
        bounds.append((f"(17) WKT <= max alpha * {name}", wkt, scale * top))
        bounds.append((f"5.1 top-k <= full order, {name}", top, full))
    top, full = _list_losses(scores, k)
    bounds.append(
        ("(18) as printed: WKT <= max alpha / ln 2 * ListMLE", wkt, scale * top / np.log(2))
    )
    bounds.append(
        ("(18) capped: capped WKT <= max alpha / ln 2 * ListMLE", capped, scale * top / np.log(2))
    )
    bounds.append(("5.1 top-k <= full order, ListMLE", top, full))
    return bounds


def _inversions(scores: FloatArray, k: int) -> FloatArray:
    """Count later documents scored at least as high, for each of the first k true ranks: "<= 0"."""
    counts = [np.count_nonzero(scores[position + 1 :] >= scores[position]) for position in range(k)]
    return np.array(counts, dtype=float)


def _dcg(scores: FloatArray, gains: FloatArray, k: int) -> float:
    """Compute DCG@k where a tie counts against the better document, as "<= 0" does."""
    order = np.lexsort((-np.arange(scores.size), -scores))[:k]
    return float(gains[order] @ (1.0 / np.log2(np.arange(2, order.size + 2))))


def _pair_losses(scores: FloatArray, k: int, phi: MarginLoss) -> tuple[float, float]:
    rows = [
        float(phi(scores[position] - scores[position + 1 :]).sum())
        for position in range(scores.size)
    ]
    return sum(rows[:k]), sum(rows)


def _list_losses(scores: FloatArray, k: int) -> tuple[float, float]:
    rest = np.logaddexp.accumulate(scores[::-1])[::-1]
    steps = rest - scores
    return float(steps[:k].sum()), float(steps.sum())


def counterexample(n: int = 10) -> tuple[float, float]:
    """Compute both sides of the printed (18) for k = 1, the best of n documents scored last.

    All scores are nearly equal: n - 1 inversions cost ListMLE only ln n.

    >>> left, right = counterexample()
    >>> left, right  # 9 inversions against log2 of 10
    (9.0, 3.32...)
    """
    scores = np.linspace(0.0, 1e-9, n)
    inversions = float(_inversions(scores, 1)[0])
    return inversions, _list_losses(scores, 1)[0] / float(np.log(2.0))


def lemma_1(data: RankingData, scores: FloatArray, k: int, *, seed: int = 0) -> float:
    """Return the largest change of WKT over five orders of Y_k, 0 by Lemma 1.

    The orders differ below rank k.
    """
    truth = to_topk(data, k, seed=seed)
    spread = 0.0
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        part, labels = scores[start:stop], truth.labels[start:stop]
        head = np.argsort(-labels, kind="stable")[: int((labels > 0).sum())]
        tail = np.flatnonzero(labels == 0)
        values = []
        for draw in range(5):
            shuffled = np.random.default_rng([seed, draw]).permutation(tail)
            order = np.concatenate([head, shuffled])
            values.append(_wkt_of(part[order], head.size))
        spread = max(spread, max(values) - min(values))
    return spread


def _wkt_of(scores: FloatArray, k: int) -> float:
    alpha = np.exp2(-np.arange(float(k))) / np.log2(np.arange(2, k + 2))
    return float(alpha @ _inversions(scores, k))
