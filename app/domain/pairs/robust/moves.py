"""Compiled moves of the chains: scores of single documents, given the error model of each person.

A chain c holds, per document, a standard normal score ``z[c, i]`` with its quantile ``u[c, i]``,
and per person p a row of the error model ``models[c, p]``: lapse l, width w, tie ratio r, evenness
s (the same for all people) and, if it is learned, the side g. Worths are spaced as
v = (1 - s) z + s (u - 1/2) sqrt(12): normal for s = 0, even for s = 1, always with mean 0 and
variance 1. With d = v_a - v_b and F the logistic function, an answer is

    first    with probability (1 - l) F(d / w - r) + l (1 - t0) g
    second   with probability (1 - l) F(-d / w - r) + l (1 - t0) (1 - g)
    tie      with the rest,

t0 being the share of ties among lapses, and g = 1/2 unless it is learned. The tie width is r w:
what a person calls equal is as wide, up to the ratio r, as the range in which the person errs.

A ranker with standardized scores x guides the chains by z_i ~ N(rho x_i, 1 - rho^2), with one rho
per chain. Every move leaves the posterior invariant.
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
Counts = NDArray[np.uint64]

LAPSE, WIDTH, TIE_RATIO, EVENNESS, SIDE = 0, 1, 2, 3, 4  # columns; the last one if it is learned
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
def by_lapse(answer: float, lapse: float, tied: float, side: float = 0.5) -> float:
    """Return the probability that a lapse gives ``answer``; ``tied`` is t0, ``side`` g."""
    if answer == 0.0:
        return lapse * tied
    return lapse * (1.0 - tied) * (side if answer > 0.0 else 1.0 - side)


@compiled
def side_of(model: Reals) -> float:
    """Return the probability that a lapse that is no tie prefers the first document."""
    return float(model[SIDE]) if model.size > SIDE else 0.5


@compiled
def spaced(score: float, share: float, evenness: float) -> float:
    """Return the worth of a document with normal ``score`` and its quantile ``share``."""
    return score + evenness * ((share - 0.5) * EVEN_SCALE - score)


@compiled
def space(z: Scores, u: Scores, models: Reals) -> Scores:
    """Return the worths of all documents in all chains; ``models`` (chains, people, columns)."""
    v = np.empty_like(z)
    for c in range(z.shape[0]):
        for item in range(z.shape[1]):
            v[c, item] = spaced(z[c, item], u[c, item], models[c, 0, EVENNESS])
    return v


@compiled
def _fill_probabilities(
    worth: float,
    others: Reals,
    answers: Reals,
    bases: Reals,
    ends: Counts,
    links: Reals,
    found: Reals,
) -> None:
    """Fill ``found`` with the probabilities of the answers about a document with ``worth``.

    Answers are sorted by person, those of p up to ``ends[p]``. Rows of ``links``, one per person:
    1 - lapse, slope, tie ratio.
    """
    start = np.uint64(0)  # unsigned, so that indices are not checked for negative ones
    for person in range(ends.size):
        sure, slope, tie_ratio = links[person, 0], links[person, 1], links[person, 2]
        if tie_ratio == 0.0:
            for entry in range(start, ends[person]):
                apart = answers[entry] * (worth - others[entry])
                found[entry] = sure * logistic(apart * slope) + bases[entry]
        else:
            for entry in range(start, ends[person]):
                found[entry] = answer_probability(
                    worth - others[entry], answers[entry], sure, bases[entry], tie_ratio, slope
                )
        start = ends[person]


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
def place(
    mean: float,
    spread: float,
    guided: bool,
    evenness: float,
    z: Scores,
    u: Scores,
    v: Scores,
    states: States,
    c: int,
    item: int,
) -> None:
    """Draw the score of a document without answers from its prior."""
    share = min(max(uniform(states, c), _LEAST_SHARE), 1.0 - _LEAST_SHARE)
    score = mean + spread * quantile(share)
    if guided:
        share = min(max(probability(score), _LEAST_SHARE), 1.0 - _LEAST_SHARE)
    u[c, item], z[c, item] = share, score
    v[c, item] = spaced(z[c, item], share, evenness)


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
    sources: Indices,
    counts: Indices,
    tied: Reals,
    guide: Reals,
    rhos: Reals,
    states: States,
) -> None:
    """Move the scores of ``items``, one after the other, in every chain.

    A score moves by a Metropolis step whose proposal is the exact draw for errors of one rate per
    person (the staircase, with log odds that depend on the error models alone), then by a random
    walk of about the width of an error model. ``sources`` say who answered, three times their
    number, and what: 0 tie, 1 first, 2 second. ``guide`` is empty without a ranker.
    """
    longest = 1
    for item in items:
        longest = max(longest, counts[item])
    people, guided = models.shape[1], guide.size > 0
    edges, rises, sums = np.empty(longest), np.empty(longest), np.empty(longest)
    others, shares, answers = np.empty(longest), np.empty(longest), np.empty(longest)
    bases, factors, new, old = (
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
    )
    links, by_lapses = np.empty((people, 3)), np.empty(3 * people)
    ends = np.empty(people, np.uint64)
    for c in range(z.shape[0]):
        evenness, mean, spread = models[c, 0, EVENNESS], 0.0, 1.0
        for person in range(people):
            model = models[c, person]
            links[person, 0], links[person, 1] = 1.0 - model[LAPSE], 1.0 / model[WIDTH]
            links[person, 2] = model[TIE_RATIO] if tied[person] > 0.0 else 0.0
            for outcome in range(3):  # tie, first, second
                answer = -1.0 if outcome == 2 else float(outcome)
                by_lapses[3 * person + outcome] = by_lapse(
                    answer, model[LAPSE], tied[person], side_of(model)
                )
        for number in range(items.size):
            item = items[number]
            count = counts[item]
            if guided:
                mean, spread = rhos[c] * guide[item], math.sqrt(1.0 - rhos[c] ** 2)
            if count == 0:
                place(mean, spread, guided, evenness, z, u, v, states, c, item)
                continue
            size = 0
            for person in range(people):
                odds = math.exp(min(log_odds[c, person], _STAIR_RANGE / count))
                for entry in range(count):
                    source = sources[item, entry]
                    if people > 1 and source // 3 != person:
                        continue
                    other, answer = opponents[item, entry], float(outcomes[item, entry])
                    answers[size] = answer
                    bases[size] = by_lapses[source]
                    factors[size] = odds if answer > 0.0 else 1.0 if answer == 0.0 else 1.0 / odds
                    others[size], shares[size] = v[c, other], u[c, other]
                    size += 1
                ends[person] = size
            if guided:
                for entry in range(count):
                    shares[entry] = probability((quantile(shares[entry]) - mean) / spread)
            _fill_probabilities(v[c, item], others, answers, bases, ends, links, old)
            size = _sort_edges(shares, factors, count, edges, rises)
            current = probability((z[c, item] - mean) / spread) if guided else u[c, item]
            share, weight = _stair_draw(current, size, edges, rises, sums, states, c)
            score = mean + spread * quantile(share)
            if guided:
                share = min(max(probability(score), _LEAST_SHARE), 1.0 - _LEAST_SHARE)
            worth = spaced(score, share, evenness)
            _fill_probabilities(worth, others, answers, bases, ends, links, new)
            if uniform(states, c) * weight < _ratio(new, old, count):
                u[c, item], z[c, item], v[c, item] = share, score, worth
                old[:count] = new[:count]
            width = models[c, (c + number) % people, WIDTH]
            reach = spread * min(max(1.5 * width, 0.03), 1.0)
            score = z[c, item] + reach * quantile(uniform(states, c))
            share = probability(score)
            if share <= _LEAST_SHARE or share >= 1.0 - _LEAST_SHARE:
                continue
            worth = spaced(score, share, evenness)
            _fill_probabilities(worth, others, answers, bases, ends, links, new)
            if guided:
                before = ((z[c, item] - mean) ** 2 - (score - mean) ** 2) / spread**2
            else:
                before = z[c, item] ** 2 - score**2
            ratio = _ratio(new, old, count) * math.exp(0.5 * before)
            if uniform(states, c) < ratio:
                u[c, item], z[c, item], v[c, item] = share, score, worth


@compiled
def pair_probabilities(
    v: Scores, firsts: Indices, seconds: Indices, models: Reals, tied: float
) -> Scores:
    """Return the probabilities of each answer per pair and chain: (answers, pairs, chains).

    Answers are first, second and, if ties occur, tie; ``models`` are those of the person asked.
    """
    pairs, chains = firsts.size, v.shape[0]
    worths, slopes = v.T.copy(), 1.0 / models[:, WIDTH]
    found = np.empty((3 if tied > 0.0 else 2, pairs, chains), np.float32)
    for pair in range(pairs):
        for c in range(chains):
            difference = worths[firsts[pair], c] - worths[seconds[pair], c]
            lapse, slope, side = models[c, LAPSE], slopes[c], side_of(models[c])
            base, tie_ratio = by_lapse(1.0, lapse, tied, side), models[c, TIE_RATIO]
            if tied > 0.0:
                first = logistic(difference * slope - tie_ratio) * (1.0 - lapse) + base
                base = by_lapse(-1.0, lapse, tied, side)
                second = logistic(-difference * slope - tie_ratio) * (1.0 - lapse) + base
                found[2, pair, c] = 1.0 - first - second
            else:
                first = logistic(difference * slope) * (1.0 - lapse) + base
                second = 1.0 - first
            found[0, pair, c], found[1, pair, c] = first, second
    return found
