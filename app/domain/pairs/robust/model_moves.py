"""Compiled moves of the error models of each chain, given all answers, and of a ranker's worth.

Lapse and width (and the side, if it is learned) move together on the logit and log scale, given the
answers of their person; evenness moves given all answers, together with the tie ratio of one
person.
"""

import math
from typing import Final

import numpy as np

from topkapi.app.domain.pairs.robust.compiled import compiled
from topkapi.app.domain.pairs.robust.moves import (
    EVEN_SCALE,
    EVENNESS,
    LAPSE,
    SIDE,
    TIE_RATIO,
    WIDTH,
    Counts,
    Indices,
    Reals,
    Scores,
    States,
    answer_probability,
    by_lapse,
    place,
    side_of,
    spaced,
)
from topkapi.app.domain.pairs.robust.special import logistic, quantile, uniform

MOST_RHO: Final = 0.97


@compiled
def _log_prior(model: Reals, prior: Reals, ties: bool) -> float:
    """Return the log prior density on the logit and log scale; -inf outside the ranges.

    Rows of ``prior``: lowest and highest value, then mean and precision of a normal density on the
    moved scale. The lapse has a Beta(``prior[0, 4]``, ``prior[0, 5]``) density beside it.
    """
    total = 0.0
    for column in range(model.size):
        if column == TIE_RATIO and not ties:
            continue
        value = model[column]
        if value < prior[column, 0] or value > prior[column, 1]:
            return -np.inf
        if column in (LAPSE, SIDE):
            moved = math.log(value / (1.0 - value))
        elif column == EVENNESS:
            moved = value
        else:
            moved = math.log(value)
        total -= 0.5 * prior[column, 3] * (moved - prior[column, 2]) ** 2
    lapse = model[LAPSE]
    return float(total + prior[0, 4] * math.log(lapse) + prior[0, 5] * math.log(1.0 - lapse))


@compiled
def _log_alike(models: Reals, person: int, width: float, precision: float) -> float:
    """Return the log density of the widths of all people, if that of ``person`` is ``width``."""
    total, squares = 0.0, 0.0
    for other in range(models.shape[0]):
        value = math.log(width if other == person else models[other, WIDTH])
        total += value
        squares += value * value
    return float(-0.5 * precision * (squares - total * total / models.shape[0]))


@compiled
def log_likelihood(
    model: Reals,
    normal: Reals,
    even: Reals,
    answers: Reals,
    start: np.uint64,
    end: np.uint64,
    tied: float,
    found: Reals,
) -> float:
    """Return the log-likelihood of the answers ``start`` to ``end`` in one chain, of one person."""
    lapse, slope, evenness = model[LAPSE], 1.0 / model[WIDTH], model[EVENNESS]
    sure, tie_ratio = 1.0 - lapse, model[TIE_RATIO] if tied > 0.0 else 0.0
    tie, side = by_lapse(0.0, lapse, tied), side_of(model)
    first, second = by_lapse(1.0, lapse, tied, side), by_lapse(-1.0, lapse, tied, side)
    strict, lean = 0.5 * (first + second), 0.5 * (first - second)
    if tie_ratio == 0.0:
        for entry in range(start, end):
            apart = normal[entry] + evenness * (even[entry] - normal[entry])
            base = strict + lean * answers[entry]
            found[entry] = sure * logistic(answers[entry] * apart * slope) + base
    else:
        for entry in range(start, end):
            apart = normal[entry] + evenness * (even[entry] - normal[entry])
            base = tie if answers[entry] == 0.0 else strict + lean * answers[entry]
            found[entry] = answer_probability(apart, answers[entry], sure, base, tie_ratio, slope)
    total, product = 0.0, 1.0
    for entry in range(start, end):
        product *= found[entry]
        if product < 1e-150:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@compiled
def apart_in(
    z: Scores, u: Scores, firsts: Indices, seconds: Indices, normal: Reals, even: Reals
) -> None:
    """Fill the distances of all pairs in one chain: of normal and of even worths."""
    for entry in range(firsts.size):
        first, second = firsts[entry], seconds[entry]
        normal[entry] = z[first] - z[second]
        even[entry] = (u[first] - u[second]) * EVEN_SCALE


@compiled
def _logit_step(share: float, step: float) -> float:
    odds = share / (1.0 - share) * math.exp(step)
    return odds / (1.0 + odds)


@compiled
def move_models(
    z: Scores,
    u: Scores,
    v: Scores,
    models: Reals,
    priors: Reals,
    firsts: Indices,
    seconds: Indices,
    answers: Reals,
    starts: Counts,
    tied: Reals,
    rounds: int,
    states: States,
) -> None:
    """Move the error models of every chain ``rounds`` times, then space the worths by them.

    Answers are sorted by person; those of person p are ``starts[p]`` to ``starts[p + 1]``.
    """
    count, n, people = answers.size, z.shape[1], models.shape[1]
    normal, even, found = np.empty(count), np.empty(count), np.empty(count)
    proposed, now, new = np.empty(models.shape[2]), np.empty(people), np.empty(people)
    for c in range(z.shape[0]):
        apart_in(z[c], u[c], firsts, seconds, normal, even)
        for person in range(people):
            start, end = starts[person], starts[person + 1]
            now[person] = log_likelihood(
                models[c, person], normal, even, answers, start, end, tied[person], found
            ) + _log_prior(models[c, person], priors[person], tied[person] > 0.0)
        for turn in range(2 * rounds):
            step = 1.2 if turn % 4 < 2 else 0.4
            if turn % 2 == 0:
                for person in range(people):
                    start, end = starts[person], starts[person + 1]
                    proposed[:] = models[c, person]
                    proposed[LAPSE] = _logit_step(
                        proposed[LAPSE], step * quantile(uniform(states, c))
                    )
                    proposed[WIDTH] *= math.exp(step * quantile(uniform(states, c)))
                    if proposed.size > SIDE:
                        proposed[SIDE] = _logit_step(
                            proposed[SIDE], step * quantile(uniform(states, c))
                        )
                    before = _log_prior(proposed, priors[person], tied[person] > 0.0)
                    if before == -np.inf:
                        continue
                    after = before + log_likelihood(
                        proposed, normal, even, answers, start, end, tied[person], found
                    )
                    gain, alike = after - now[person], priors[person, WIDTH, 4]
                    if people > 1 and alike > 0.0:
                        gain += _log_alike(models[c], person, proposed[WIDTH], alike)
                        gain -= _log_alike(models[c], person, models[c, person, WIDTH], alike)
                    if math.log(uniform(states, c)) < gain:
                        models[c, person], now[person] = proposed, after
                continue
            shift, total = 0.5 * step * quantile(uniform(states, c)), 0.0
            chosen = turn // 2 % people
            kept, evenness = models[c, chosen, TIE_RATIO], models[c, 0, EVENNESS]
            if tied[chosen] > 0.0:
                models[c, chosen, TIE_RATIO] *= math.exp(step * quantile(uniform(states, c)))
            for person in range(people):
                models[c, person, EVENNESS] += shift
                new[person] = _log_prior(models[c, person], priors[person], tied[person] > 0.0)
                total += new[person]
            if total > -np.inf:
                total = 0.0
                for person in range(people):
                    start, end = starts[person], starts[person + 1]
                    new[person] += log_likelihood(
                        models[c, person], normal, even, answers, start, end, tied[person], found
                    )
                    total += new[person] - now[person]
                if math.log(uniform(states, c)) < total:
                    now[:] = new
                    continue
            models[c, chosen, TIE_RATIO] = kept
            for person in range(people):
                models[c, person, EVENNESS] = evenness
        for item in range(n):
            v[c, item] = spaced(z[c, item], u[c, item], models[c, 0, EVENNESS])


@compiled
def move_worths_of_ranker(
    z: Scores,
    u: Scores,
    v: Scores,
    models: Reals,
    counts: Indices,
    guide: Reals,
    rhos: Reals,
    rounds: int,
    states: States,
) -> None:
    """Move rho of every chain given the documents with answers, then draw the others again."""
    for c in range(z.shape[0]):
        size, squares, cross, guided = 0, 0.0, 0.0, 0.0
        for item in range(guide.size):
            if counts[item] > 0:
                size += 1
                squares += z[c, item] ** 2
                cross += z[c, item] * guide[item]
                guided += guide[item] ** 2
        now = _log_rho(rhos[c], size, squares, cross, guided)
        for turn in range(2 * rounds):
            step = 0.4 if turn % 2 == 0 else 0.12
            rho = rhos[c] + step * quantile(uniform(states, c))
            if abs(rho) >= MOST_RHO:
                continue
            new = _log_rho(rho, size, squares, cross, guided)
            if math.log(uniform(states, c)) < new - now:
                rhos[c], now = rho, new
        spread = math.sqrt(1.0 - rhos[c] ** 2)
        for item in range(guide.size):
            if counts[item] == 0:
                mean = rhos[c] * guide[item]
                place(mean, spread, True, models[c, 0, EVENNESS], z, u, v, states, c, item)


@compiled
def _log_rho(rho: float, size: int, squares: float, cross: float, guided: float) -> float:
    """Return the log density of ``size`` scores given rho, from their sums of products."""
    spread = 1.0 - rho * rho
    apart = squares - 2.0 * rho * cross + rho * rho * guided
    return -0.5 * (size * math.log(spread) + apart / spread)


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
