"""Compiled moves of the chains: scores of single documents, and the error model of the assessor.

A chain c holds, per document, a standard normal score ``z[c, i]`` with its quantile ``u[c, i]``,
and a row of the error model ``models[c]``: lapse l, width w, tie ratio r and evenness s. Worths are
spaced as v = (1 - s) z + s (u - 1/2) sqrt(12): normal for s = 0, even for s = 1, always with mean 0
and variance 1. With d = v_a - v_b and F the logistic function, an answer is

    first    with probability (1 - l) F(d / w - r) + l (1 - t0) / 2
    second   with probability (1 - l) F(-d / w - r) + l (1 - t0) / 2
    tie      with the rest,

t0 being the share of ties among lapses. The tie width is r w: what a person calls equal is as wide,
up to the ratio r, as the range in which the person errs. Every move leaves the posterior invariant.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.robust.compiled import compiled
from topkapi.app.domain.pairs.robust.special import logistic, probability, quantile, uniform

Scores = NDArray[np.float32]
Reals = NDArray[np.float64]
Indices = NDArray[np.int64]
States = NDArray[np.uint64]

LAPSE, WIDTH, TIE_RATIO, EVENNESS = 0, 1, 2, 3  # columns of the error model
EVEN_SCALE: Final = math.sqrt(12.0)
_LEAST_SHARE: Final = 1e-6  # scores stay within the normal quantiles of this tail
_STAIR_RANGE: Final = 600.0  # largest log weight of the staircase


@compiled
def answer_probability(
    difference: float, answer: float, sure: float, base: float, tie_ratio: float, slope: float
) -> float:
    """Return the probability of ``answer`` (1 first, -1 second, 0 tie) given v_a - v_b.

    ``sure`` is 1 - l, ``slope`` 1 / w, and ``base`` the probability of the answer by a lapse.
    """
    if answer == 0.0:
        near = logistic(difference * slope + tie_ratio)
        near -= logistic(difference * slope - tie_ratio)
        return sure * near + base + 1e-9
    return sure * logistic(answer * difference * slope - tie_ratio) + base


@compiled
def by_lapse(answer: float, lapse: float, tied: float) -> float:
    """Return the probability that a lapse gives ``answer``; ``tied`` is t0."""
    return lapse * tied if answer == 0.0 else lapse * (1.0 - tied) * 0.5


@compiled
def spaced(score: float, share: float, evenness: float) -> float:
    """Return the worth of a document with normal ``score`` and its quantile ``share``."""
    return score + evenness * ((share - 0.5) * EVEN_SCALE - score)


@compiled
def space(z: Scores, u: Scores, models: Reals) -> Scores:
    """Return the worths of all documents in all chains."""
    v = np.empty_like(z)
    for c in range(z.shape[0]):
        for item in range(z.shape[1]):
            v[c, item] = spaced(z[c, item], u[c, item], models[c, EVENNESS])
    return v


@compiled
def _fill_probabilities(
    worth: float,
    others: Reals,
    answers: Reals,
    bases: Reals,
    count: int,
    sure: float,
    tie_ratio: float,
    slope: float,
    found: Reals,
) -> None:
    """Fill ``found`` with the probabilities of the answers about a document with ``worth``."""
    if tie_ratio == 0.0:
        for entry in range(count):
            apart = answers[entry] * (worth - others[entry])
            found[entry] = sure * logistic(apart * slope) + bases[entry]
        return
    for entry in range(count):
        found[entry] = answer_probability(
            worth - others[entry], answers[entry], sure, bases[entry], tie_ratio, slope
        )


@compiled
def _ratio(new: Reals, old: Reals, count: int) -> float:
    """Return the product of ``new`` over the product of ``old``."""
    ratio, above, below = 1.0, 1.0, 1.0
    for entry in range(count):
        above *= new[entry]
        below *= old[entry]
        if below < 1e-100 or above < 1e-100:
            ratio *= above / below
            above = below = 1.0
    return ratio * above / below


@compiled
def _sort_edges(shares: Reals, factors: Reals, count: int, edges: Reals, rises: Reals) -> int:
    """Fill ``edges`` with the quantiles of strict answers, ascending; return their number."""
    size = 0
    for entry in range(count):
        rise, edge, index = factors[entry], shares[entry], size
        if rise == 1.0:
            continue
        while index > 0 and edges[index - 1] > edge:
            edges[index], rises[index] = edges[index - 1], rises[index - 1]
            index -= 1
        edges[index], rises[index] = edge, rise
        size += 1
    return size


@compiled
def _stair_draw(
    current: float, size: int, edges: Reals, rises: Reals, sums: Reals, states: States, c: int
) -> tuple[float, float]:
    """Draw a quantile from the staircase; return it with its weight relative to ``current``.

    The weight is constant between two ``edges``, and is multiplied by ``rises`` at each.
    """
    total, low, weight, old = 0.0, 0.0, 1.0, 1.0
    for step in range(size):
        total += weight * (edges[step] - low)
        low = edges[step]
        weight *= rises[step]
        sums[step] = total
        old = weight if low < current else old
    total += weight * (1.0 - low)
    goal, step, weight = uniform(states, c) * total, 0, 1.0
    while step < size and sums[step] <= goal:
        weight *= rises[step]
        step += 1
    low = edges[step - 1] if step > 0 else 0.0
    high = edges[step] if step < size else 1.0
    new = low + (high - low) * uniform(states, c)
    return min(max(new, _LEAST_SHARE), 1.0 - _LEAST_SHARE), weight / old


@compiled
def move_scores(
    items: Indices,
    z: Scores,
    u: Scores,
    v: Scores,
    models: Reals,
    log_odds: Reals,
    opponents: Indices,
    outcomes: Indices,
    counts: Indices,
    tied: float,
    states: States,
) -> None:
    """Move the scores of ``items``, one after the other, in every chain.

    A score moves by a Metropolis step whose proposal is the exact draw for errors of one rate (the
    staircase, with log odds that depend on the error model alone), then by a random walk of about
    the width of the error model.
    """
    longest = 1
    for item in items:
        longest = max(longest, counts[item])
    edges, rises, sums = np.empty(longest), np.empty(longest), np.empty(longest)
    others, shares, answers = np.empty(longest), np.empty(longest), np.empty(longest)
    bases, factors, new, old = (
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
    )
    for c in range(z.shape[0]):
        lapse, evenness, slope = models[c, LAPSE], models[c, EVENNESS], 1.0 / models[c, WIDTH]
        sure, tie_ratio = 1.0 - lapse, models[c, TIE_RATIO] if tied > 0.0 else 0.0
        strict, tie = by_lapse(1.0, lapse, tied), by_lapse(0.0, lapse, tied)
        reach = min(max(1.5 * models[c, WIDTH], 0.03), 1.0)
        for item in items:
            count = counts[item]
            if count == 0:
                share = min(max(uniform(states, c), _LEAST_SHARE), 1.0 - _LEAST_SHARE)
                u[c, item], z[c, item] = share, quantile(share)
                v[c, item] = spaced(z[c, item], share, evenness)
                continue
            odds = math.exp(min(log_odds[c], _STAIR_RANGE / count))
            for entry in range(count):
                other, answer = opponents[item, entry], float(outcomes[item, entry])
                answers[entry] = answer
                bases[entry] = tie if answer == 0.0 else strict
                factors[entry] = odds if answer > 0.0 else 1.0 if answer == 0.0 else 1.0 / odds
                others[entry], shares[entry] = v[c, other], u[c, other]
            _fill_probabilities(
                v[c, item], others, answers, bases, count, sure, tie_ratio, slope, old
            )
            size = _sort_edges(shares, factors, count, edges, rises)
            share, weight = _stair_draw(u[c, item], size, edges, rises, sums, states, c)
            score = quantile(share)
            worth = spaced(score, share, evenness)
            _fill_probabilities(worth, others, answers, bases, count, sure, tie_ratio, slope, new)
            if uniform(states, c) * weight < _ratio(new, old, count):
                u[c, item], z[c, item], v[c, item] = share, score, worth
                old[:count] = new[:count]
            score = z[c, item] + reach * quantile(uniform(states, c))
            share = probability(score)
            if share <= _LEAST_SHARE or share >= 1.0 - _LEAST_SHARE:
                continue
            worth = spaced(score, share, evenness)
            _fill_probabilities(worth, others, answers, bases, count, sure, tie_ratio, slope, new)
            ratio = _ratio(new, old, count) * math.exp(0.5 * (z[c, item] ** 2 - score**2))
            if uniform(states, c) < ratio:
                u[c, item], z[c, item], v[c, item] = share, score, worth


@compiled
def pair_probabilities(
    v: Scores, firsts: Indices, seconds: Indices, models: Reals, tied: float
) -> Scores:
    """Return the probabilities of each answer per pair and chain: (answers, pairs, chains).

    Answers are first, second and, if ties occur, tie.
    """
    pairs, chains = firsts.size, v.shape[0]
    worths, slopes = v.T.copy(), 1.0 / models[:, WIDTH]
    found = np.empty((3 if tied > 0.0 else 2, pairs, chains), np.float32)
    for pair in range(pairs):
        for c in range(chains):
            difference = worths[firsts[pair], c] - worths[seconds[pair], c]
            lapse, slope = models[c, LAPSE], slopes[c]
            base, tie_ratio = by_lapse(1.0, lapse, tied), models[c, TIE_RATIO]
            if tied > 0.0:
                first = logistic(difference * slope - tie_ratio) * (1.0 - lapse) + base
                second = logistic(-difference * slope - tie_ratio) * (1.0 - lapse) + base
                found[2, pair, c] = 1.0 - first - second
            else:
                first = logistic(difference * slope) * (1.0 - lapse) + base
                second = 1.0 - first
            found[0, pair, c], found[1, pair, c] = first, second
    return found
