"""Compiled choice of the pair to ask, given the worths of documents in every chain.

`topkapi.app.domain.pairs.robust.question` has the rule. Everything is one call, because between two
calls a thread would have to wait for the GIL.
"""

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.robust.compiled import compiled, compiled_sums
from topkapi.app.domain.pairs.robust.moves import Indices, Reals, Scores, pair_probabilities

_LEAST = np.float32(1e-6)  # of the probability of an answer
_NONE = np.float32(0.0)


@compiled
def mean_worths(best: Indices, weights: Reals, n: int) -> Reals:
    """Return the mean worth of every document; ``best`` (chains, ranks) is best first."""
    means = np.zeros(n)
    for c in range(best.shape[0]):
        for rank in range(best.shape[1]):
            means[best[c, rank]] += weights[rank]
    return np.asarray(means / best.shape[0])


@compiled
def open_pairs(items: Indices, asked: NDArray[np.int16], limit: int) -> tuple[Indices, Indices]:
    """Return the pairs of ``items`` that were asked fewer than ``limit`` times."""
    most = items.size * (items.size - 1) // 2
    first, second, size = np.empty(most, np.int64), np.empty(most, np.int64), 0
    for upper in range(items.size):
        for lower in range(upper + 1, items.size):
            if asked[items[upper], items[lower]] < limit:
                first[size], second[size] = items[upper], items[lower]
                size += 1
    return first[:size], second[:size]


@compiled
def _centred_worths(best: Indices, weights: Reals, items: Indices, n: int) -> Scores:
    """Return worths minus their means: (documents, chains), with rows of zeros up to a fourth."""
    chains = best.shape[0]
    row = np.full(n, -1)
    for number in range(items.size):
        row[items[number]] = number
    table = np.zeros((4 * ((items.size + 3) // 4), chains), np.float32)
    for c in range(chains):
        for rank in range(best.shape[1]):
            if row[best[c, rank]] >= 0:
                table[row[best[c, rank]], c] = weights[rank]
    for number in range(items.size):
        table[number] -= np.float32(table[number].sum() / chains)
    return table


@compiled_sums
def _sum_products(factors: Scores, rows: Scores, sums: Scores) -> None:
    """Fill ``sums`` with the sum of ``factors`` times each row, four rows at a time."""
    for row in range(0, rows.shape[0], 4):
        a, b, c, d = _NONE, _NONE, _NONE, _NONE
        for index in range(factors.size):
            factor = factors[index]
            a += factor * rows[row, index]
            b += factor * rows[row + 1, index]
            c += factor * rows[row + 2, index]
            d += factor * rows[row + 3, index]
        sums[row], sums[row + 1], sums[row + 2], sums[row + 3] = a, b, c, d


@compiled_sums
def _weigh(weights: Scores, centred: Scores, weighed: Scores, means: Scores) -> None:
    """Fill ``weighed`` with the worths times the weights of the chains, ``means`` with the sums."""
    for row in range(centred.shape[0]):
        total = _NONE
        for c in range(weights.size):
            weighed[row, c] = weights[c] * centred[row, c]
            total += weighed[row, c]
        means[row] = total


@compiled_sums
def _reduction(
    chances: Scores,
    pair: int,
    weights: Scores,
    weighed: Scores,
    means: Scores,
    covariances: Scores,
    last: Scores,
) -> float:
    """Return the expected reduction of the sum of variances by an answer about ``pair``.

    ``covariances`` and ``last`` are memory to work with.
    """
    total, rest = _NONE, np.float32(1.0)
    last[:] = _NONE
    for answer in range(chances.shape[0] - 1):
        chance, share, squares = chances[answer, pair], _NONE, _NONE
        for c in range(weights.size):
            share += weights[c] * chance[c]
        _sum_products(chance, weighed, covariances)
        for row in range(means.size):
            covariance = covariances[row] - share * means[row]
            squares += covariance * covariance
            last[row] -= covariance  # the covariances of all answers sum to 0
        total += squares / max(share, _LEAST)
        rest -= share
    squares = _NONE
    for row in range(means.size):
        squares += last[row] * last[row]
    return float(total + squares / max(rest, _LEAST))


@compiled
def choose(
    v: Scores,
    models: Reals,
    tied: float,
    best: Indices,
    weights: Reals,
    items: Indices,
    first: Indices,
    second: Indices,
    asked: NDArray[np.int16],
    limit: int,
    firsts: int,
    seconds: int,
) -> int:
    """Return the index of the pair to ask, of the pairs ``first`` and ``second`` of ``items``.

    The following question is considered for the ``firsts`` best pairs, among the ``seconds`` best.
    """
    chains = v.shape[0]
    chances = pair_probabilities(v, first, second, models, tied)
    centred = _centred_worths(best, weights, items, v.shape[1])
    weighed, sums = np.empty_like(centred), np.empty(centred.shape[0], np.float32)
    means, last = np.empty_like(sums), np.empty_like(sums)
    weight = np.full(chains, np.float32(1.0 / chains))
    _weigh(weight, centred, weighed, means)
    now = np.empty(first.size, np.float32)
    for pair in range(first.size):
        now[pair] = _reduction(chances, pair, weight, weighed, means, sums, last)
    order = np.argsort(-now, kind="mergesort")
    chosen, most = order[0], -1.0
    for pair in order[:firsts]:
        again = asked[first[pair], second[pair]] + 1 < limit
        worth = now[pair]
        for answer in range(chances.shape[0]):
            total = chances[answer, pair].sum()
            weight[:] = chances[answer, pair] / total
            _weigh(weight, centred, weighed, means)
            following = 0.0
            for other in order[:seconds]:
                if again or other != pair:
                    found = _reduction(chances, other, weight, weighed, means, sums, last)
                    following = max(following, found)
            worth += total / chains * following
        if worth > most:
            chosen, most = pair, worth
    return int(chosen)
