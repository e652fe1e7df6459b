"""Choice of the pair to ask: the largest expected variance reduction over two questions.

Every document has a worth c(rank) in each chain, decreasing with its rank and 0 below the top k
(for the order, the top `BREADTH` if that is more: comparisons with documents just outside the top k
show which ones are inside). By the law of total variance an answer y about a pair is expected to
lower the sum of the variances of the worths by

    sum_y sum_i cov(p_y, c_i)^2 / q_y,    q_y = mean of p_y

where p_y is the probability of y in a chain, and covariances and means are taken over the chains.
c decreases per rank by a factor, `fade_at`, that is greater than the 1/2 of the gains of
kappa-NDCG: a document that may still turn out to be good must not be dropped while others are
compared. For `Goal.MEMBERS` all ranks of the top k have nearly the same worth.

The best single question is not always the best start: two answers may only together show which page
is better. So for some of the best pairs and every answer to each, the chains are reweighted by the
answer, and the expected variance reduction of the best following question is added.
"""

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.goal import Goal
from topkapi.app.domain.pairs.robust.gains import interest
from topkapi.app.domain.pairs.robust.moves import pair_probabilities
from topkapi.app.domain.pairs.robust.posterior import Posterior

SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int64]

BREADTH = 10  # minimum number of ranks with a positive worth, for the order
CANDIDATES = 20  # most promising documents, whose pairs are considered
FIRSTS = 12  # best pairs by themselves, for which the following question is considered
SECONDS = 50  # pairs considered as the following question
_FADES = {Goal.ORDER: (0.88, 0.77), Goal.MEMBERS: (1.0, 0.97)}  # at the first question, at the end


def fade_at(share: float, goal: Goal) -> float:
    """Return the factor per rank after ``share`` of the usual number of questions."""
    first, last = _FADES[goal]
    return first + (last - first) * min(1.0, share)


def worths(posterior: Posterior, k: int, fade: float, goal: Goal) -> SingleArray:
    """Return the worth c(rank) of every document in every chain: (documents, chains)."""
    ranks = max(k, BREADTH) if goal is Goal.ORDER else k
    best = posterior.best(ranks)
    table = np.zeros((posterior.n, posterior.chains), dtype=np.float32)
    table[best.T, np.arange(posterior.chains)] = interest(ranks, fade)[: best.shape[1], None]
    return table


def best_question(
    posterior: Posterior, k: int, *, fade: float, limit: int, goal: Goal
) -> Pair | None:
    """Return the pair to ask; None if every pair was asked ``limit`` times.

    Before the first comparison all pairs are equivalent, and the first two documents are asked.
    """
    living = posterior.living
    if living.size < 2:
        return None
    if not posterior.asked.any():
        return int(living[0]), int(living[1])
    table = worths(posterior, k, fade, goal)
    means = table.mean(axis=1)
    promising = living[np.argsort(-means[living], kind="stable")]
    count = CANDIDATES
    while True:
        first, second = _open_pairs(posterior, promising[:count], limit)
        if first.size:
            centred = (table - means[:, None])[promising[:count]]
            best = _most_informative(posterior, centred, first, second, limit)
            return int(first[best]), int(second[best])
        if count >= promising.size:
            return None
        count *= 2


def _open_pairs(posterior: Posterior, promising: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """Return the pairs of ``promising`` documents asked fewer than ``limit`` times."""
    upper, lower = np.triu_indices(promising.size, 1)
    first, second = promising[upper], promising[lower]
    still = posterior.asked[first, second] < limit
    return first[still], second[still]


def _most_informative(
    posterior: Posterior, centred: SingleArray, first: IntArray, second: IntArray, limit: int
) -> int:
    """Return the index of the pair to ask, given the ``centred`` worths of documents."""
    chances = pair_probabilities(posterior.v, first, second, posterior.models, posterior.tied)
    alike = np.full((1, posterior.chains), 1.0 / posterior.chains, dtype=np.float32)
    now = np.concatenate(
        [
            _reductions(chances[:, start : start + SECONDS], centred, alike)[0]
            for start in range(0, first.size, SECONDS)
        ]
    )
    order = np.argsort(-now, kind="stable")
    firsts, seconds = order[:FIRSTS], order[:SECONDS]
    answered = chances[:, firsts]  # (answers, questions, chains)
    weights = answered / answered.sum(axis=2, keepdims=True)
    after = _reductions(chances[:, seconds], centred, weights.reshape(-1, posterior.chains))
    after = after.reshape(len(chances), firsts.size, -1)
    for row, pair in enumerate(firsts):
        if posterior.asked[first[pair], second[pair]] + 1 >= limit:
            after[:, row, row] = 0.0
    following = (answered.mean(axis=2) * after.max(axis=2)).sum(axis=0)
    return int(firsts[np.argmax(now[firsts] + following)])


def _reductions(chances: SingleArray, centred: SingleArray, weights: SingleArray) -> SingleArray:
    """Return the expected reduction of the sum of variances per pair: (weightings, pairs).

    ``chances`` (answers, pairs, chains) are the probabilities of the answers, ``centred``
    (documents, chains) the worths, and each row of ``weights`` (weightings, chains) sums to 1.
    There is one small product per weighting: for a large one OpenBLAS would start its threads.
    """
    weighed = weights[:, :, None] * centred.T
    means = weighed.sum(axis=1)
    rest = np.ones((len(weights), chances.shape[1]), dtype=np.float32)
    last = np.zeros((len(weights), chances.shape[1], len(centred)), dtype=np.float32)
    total = np.zeros_like(rest)
    for chance in chances[:-1]:
        share = weights @ chance.T
        covariances = chance @ weighed - share[:, :, None] * means[:, None, :]
        total += np.einsum("wpd,wpd->wp", covariances, covariances) / np.maximum(share, 1e-6)
        rest -= share
        last -= covariances  # the covariances of all answers sum to 0
    total += np.einsum("wpd,wpd->wp", last, last) / np.maximum(rest, 1e-6)
    return total
