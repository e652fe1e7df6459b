"""Choice of the pair to ask: the largest expected variance reduction over two questions.

Every document has a worth c(rank) in each chain, decreasing with its rank and 0 below the top k
(for the order, the top `BREADTH` if that is more: comparisons with documents just outside the top k
show which ones are inside). By the law of total variance an answer y about a pair is expected to
lower the sum of the variances of the worths by

    sum_y sum_i cov(p_y, c_i)^2 / q_y,    q_y = mean of p_y

where p_y is the probability of y in a chain, and covariances and means are taken over the chains.
c decreases per rank by a factor, `fade_at`, that is greater than the 1/2 of the gains of
kappa-NDCG: a document that may still turn out to be good must not be dropped while others are
compared. For `Goal.MEMBERS` all ranks of the top k have nearly the same worth, and the pairs
considered are those of the documents whose membership is least certain.

The best single question is not always the best start: two answers may only together show which page
is better. So for some of the best pairs and every answer to each, the chains are reweighted by the
answer, and the expected variance reduction of the best following question is added.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.robust.choice import choose, mean_worths, open_pairs
from topkapi.app.domain.pairs.robust.gains import interest
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BREADTH = 10  # minimum number of ranks with a positive worth, for the order
CANDIDATES = 20  # documents whose pairs are considered
FIRSTS = 12  # best pairs by themselves, for which the following question is considered
SECONDS = 50  # pairs considered as the following question
_FADES = {Goal.ORDER: (0.88, 0.77), Goal.MEMBERS: (1.0, 0.97)}  # at the first question, at the end


def fade_at(share: float, goal: Goal) -> float:
    """Return the factor per rank after ``share`` of the usual number of questions."""
    first, last = _FADES[goal]
    return first + (last - first) * min(1.0, share)


def weights_of(k: int, fade: float, goal: Goal) -> FloatArray:
    """Return the worths c(rank) of the first ranks; those below are 0."""
    return interest(max(k, BREADTH) if goal is Goal.ORDER else k, fade)


def by_mean_worth(posterior: Posterior, weights: FloatArray) -> IntArray:
    """Return the remaining documents by descending mean worth."""
    living = posterior.living
    means = mean_worths(posterior.best(weights.size), weights, posterior.n)
    return living[np.argsort(-means[living], kind="stable")]


def by_variance(posterior: Posterior, weights: FloatArray) -> IntArray:
    """Return the remaining documents by descending variance of their worth."""
    living, best = posterior.living, posterior.best(weights.size)
    means = mean_worths(best, weights, posterior.n)
    variances = mean_worths(best, weights**2, posterior.n) - means**2
    return living[np.argsort(-variances[living], kind="stable")]


def best_question(
    posterior: Posterior,
    k: int,
    *,
    fade: float,
    limit: int,
    goal: Goal,
    person: int = 0,
    open_elsewhere: Collection[Pair] = (),
    started_with: int = 0,
) -> Pair | None:
    """Return the pair to ask ``person``; None if every pair was asked ``limit`` times.

    Pairs that are ``open_elsewhere`` are being asked somebody else, and are left out, and so are
    those of the first ``started_with`` documents. Before the first comparison all pairs are
    equivalent, and the first two documents are asked, unless a ranker tells them apart.
    """
    living = posterior.living
    if living.size < 2:
        return None
    asked = posterior.asked
    if open_elsewhere:
        asked = asked.copy()
        for pair in open_elsewhere:
            asked[pair] = asked[pair[::-1]] = limit
    if not asked.any() and not posterior.guided and not started_with:
        return int(living[0]), int(living[1])
    weights = weights_of(k, fade, goal)
    by_use = by_mean_worth if goal is Goal.ORDER else by_variance
    documents = by_use(posterior, weights)
    count = CANDIDATES
    while True:
        items = documents[:count]
        first, second = open_pairs(items, asked, limit)
        if started_with:
            is_open = (first >= started_with) | (second >= started_with)
            first, second = first[is_open], second[is_open]
        if first.size:
            index = choose(
                posterior.v,
                posterior.errors_of(person),
                float(posterior.ties[person]),
                posterior.best(weights.size),
                weights,
                items,
                first,
                second,
                asked,
                limit,
                FIRSTS,
                SECONDS,
            )
            return int(first[index]), int(second[index])
        if count >= documents.size:
            return None
        count *= 2
