"""Compiled moves of the error model of each chain, given all answers.

Lapse and width move together on the logit and log scale, evenness and tie ratio by themselves.
"""

import math

import numpy as np

from topkapi.app.domain.pairs.robust.compiled import compiled
from topkapi.app.domain.pairs.robust.moves import (
    EVEN_SCALE,
    EVENNESS,
    LAPSE,
    TIE_RATIO,
    WIDTH,
    Indices,
    Reals,
    Scores,
    States,
    answer_probability,
    by_lapse,
    spaced,
)
from topkapi.app.domain.pairs.robust.special import logistic, quantile, uniform


@compiled
def _log_prior(model: Reals, prior: Reals, ties: bool) -> float:
    """Return the log prior density on the logit and log scale; -inf outside the ranges.

    Rows of ``prior``: lowest and highest value, then mean and precision of a normal density on the
    moved scale. The lapse has a Beta(``prior[0, 4]``, ``prior[0, 5]``) density beside it.
    """
    total = 0.0
    for column in range(4):
        if column == TIE_RATIO and not ties:
            continue
        value = model[column]
        if value < prior[column, 0] or value > prior[column, 1]:
            return -np.inf
        if column == LAPSE:
            moved = math.log(value / (1.0 - value))
        elif column == EVENNESS:
            moved = value
        else:
            moved = math.log(value)
        total -= 0.5 * prior[column, 3] * (moved - prior[column, 2]) ** 2
    lapse = model[LAPSE]
    return float(total + prior[0, 4] * math.log(lapse) + prior[0, 5] * math.log(1.0 - lapse))


@compiled
def _log_likelihood(
    model: Reals, normal: Reals, even: Reals, answers: Reals, tied: float, found: Reals
) -> float:
    """Return the log-likelihood of all answers in one chain under ``model``."""
    lapse, slope, evenness = model[LAPSE], 1.0 / model[WIDTH], model[EVENNESS]
    sure, tie_ratio = 1.0 - lapse, model[TIE_RATIO] if tied > 0.0 else 0.0
    strict, tie = by_lapse(1.0, lapse, tied), by_lapse(0.0, lapse, tied)
    if tie_ratio == 0.0:
        for entry in range(answers.size):
            apart = normal[entry] + evenness * (even[entry] - normal[entry])
            found[entry] = sure * logistic(answers[entry] * apart * slope) + strict
    else:
        for entry in range(answers.size):
            apart = normal[entry] + evenness * (even[entry] - normal[entry])
            base = tie if answers[entry] == 0.0 else strict
            found[entry] = answer_probability(apart, answers[entry], sure, base, tie_ratio, slope)
    total, product = 0.0, 1.0
    for entry in range(answers.size):
        product *= found[entry]
        if product < 1e-150:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@compiled
def move_models(
    z: Scores,
    u: Scores,
    v: Scores,
    model: Reals,
    prior: Reals,
    firsts: Indices,
    seconds: Indices,
    answers: Reals,
    tied: float,
    rounds: int,
    states: States,
) -> None:
    """Move the error model of every chain ``rounds`` times, then space the worths by it."""
    count, n = answers.size, z.shape[1]
    normal, even, found, proposed = (
        np.empty(count),
        np.empty(count),
        np.empty(count),
        np.empty(4),
    )
    ties = tied > 0.0
    for c in range(z.shape[0]):
        for entry in range(count):
            first, second = firsts[entry], seconds[entry]
            normal[entry] = z[c, first] - z[c, second]
            even[entry] = (u[c, first] - u[c, second]) * EVEN_SCALE
        now = _log_likelihood(model[c], normal, even, answers, tied, found)
        now += _log_prior(model[c], prior, ties)
        for turn in range(2 * rounds):
            step = 1.2 if turn % 4 < 2 else 0.4
            proposed[:] = model[c]
            if turn % 2 == 0:
                odds = model[c, LAPSE] / (1.0 - model[c, LAPSE])
                odds *= math.exp(step * quantile(uniform(states, c)))
                proposed[LAPSE] = odds / (1.0 + odds)
                proposed[WIDTH] *= math.exp(step * quantile(uniform(states, c)))
            else:
                proposed[EVENNESS] += 0.5 * step * quantile(uniform(states, c))
                if ties:
                    proposed[TIE_RATIO] *= math.exp(step * quantile(uniform(states, c)))
            before = _log_prior(proposed, prior, ties)
            if before == -np.inf:
                continue
            new = before + _log_likelihood(proposed, normal, even, answers, tied, found)
            if math.log(uniform(states, c)) < new - now:
                model[c], now = proposed, new
        for item in range(n):
            v[c, item] = spaced(z[c, item], u[c, item], model[c, EVENNESS])


@compiled
def best_items(v: Scores, alive: Indices, count: int) -> Indices:
    """Return the indices of the ``count`` best of the ``alive`` items per chain, best first."""
    chains = v.shape[0]
    best = np.empty((chains, count), np.int64)
    top = np.empty(count)
    for c in range(chains):
        size = 0
        for item in alive:
            value = v[c, item]
            if size == count and value <= top[size - 1]:
                continue
            index = size if size < count else size - 1
            while index > 0 and top[index - 1] < value:
                top[index], best[c, index] = top[index - 1], best[c, index - 1]
                index -= 1
            top[index], best[c, index] = value, item
            size = min(size + 1, count)
    return best
