"""Choice of the pair to ask: the largest expected variance reduction over two questions.

Every document has a worth c(rank) in each chain, decreasing with its rank and 0 outside the top k
(the top `BREADTH` if that is more: comparisons with documents just outside the top k show which
ones are inside). An answer about the pair (a, b) is expected to lower the sum of the variances of
the worths by

    (1 - 2e)^2 * sum_i cov([a above b], c_i)^2 / (q (1 - q)),    q = e + (1 - 2e) P(a above b)

(the law of total variance for an answer that is wrong with probability e). The covariances are
taken over the chains. c decreases per rank by a factor, `fade_at`, that is greater than the 1/2 of
the gains of kappa-NDCG: a document that may still turn out to be good must not be dropped while
others are compared. The factor decreases with the number of questions. If a pair may be asked only
once, an answer cannot be confirmed by asking again but only by comparisons with other pages, so the
factor stays larger.

The best single question is not always the best start: two answers may only together show which page
is better. So for some of the best pairs and both answers to each, the chains are reweighted by the
answer, and the expected variance reduction of the best following question is added.
"""

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.robust.gains import interest
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.intp]

BREADTH = 10  # minimum number of ranks with a positive worth
CANDIDATES = 20  # most promising documents, whose pairs are considered
FIRSTS = 12  # best pairs by themselves, for which the following question is considered
SECONDS = 50  # pairs considered as the following question
_FADES = (0.8, 0.65)  # at the first question, and after the usual number of questions
_FADES_ONCE = (0.85, 0.7)


def fade_at(share: float, limit: int) -> float:
    """Return the factor per rank after ``share`` of the usual number of questions."""
    first, last = _FADES_ONCE if limit == 1 else _FADES
    return first + (last - first) * min(1.0, share)


def worths(posterior: Posterior, k: int, fade: float) -> FloatArray:
    """Return the worth c(rank) of every document in every chain: (documents, chains)."""
    ranks = max(k, BREADTH)
    best = posterior.best(ranks)
    table = np.zeros((posterior.n, posterior.chains))
    table[best.T, np.arange(posterior.chains)] = interest(ranks, fade)[: best.shape[1], None]
    return table


def best_question(posterior: Posterior, k: int, *, fade: float, limit: int) -> Pair | None:
    """Return the pair to ask; None if every pair was asked ``limit`` times.

    Before the first comparison all pairs are equivalent, and the first two documents are asked.
    """
    living = posterior.living
    if living.size < 2:
        return None
    if not posterior.asked.any():
        return int(living[0]), int(living[1])
    table = worths(posterior, k, fade)
    means = table.mean(axis=1)
    promising = living[np.argsort(-means[living], kind="stable")]
    count = CANDIDATES
    while True:
        first, second = _open_pairs(posterior, promising[:count], limit)
        if first.size:
            centred = (table - means[:, None])[promising[:count]].astype(np.float32)
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
    above = (posterior.scores[first] > posterior.scores[second]).astype(np.float32)
    error = posterior.error_rate
    alike = np.full((1, posterior.chains), 1.0 / posterior.chains, dtype=np.float32)
    now = np.concatenate(
        [
            _reductions(above[start : start + SECONDS], centred, alike, error)[0]
            for start in range(0, len(above), SECONDS)
        ]
    )
    order = np.argsort(-now, kind="stable")
    firsts, seconds = order[:FIRSTS], order[:SECONDS]
    chance, weights = _answered(above[firsts], posterior.errors)
    after = _reductions(above[seconds], centred, weights, error).reshape(firsts.size, 2, -1)
    for row, pair in enumerate(firsts):
        if posterior.asked[first[pair], second[pair]] + 1 >= limit:
            after[row, :, row] = 0.0
    return int(firsts[np.argmax(now[firsts] + (chance * after.max(axis=2)).sum(axis=1))])


def _reductions(
    above: SingleArray, centred: SingleArray, weights: SingleArray, error: float
) -> SingleArray:
    """Return the expected reduction of the sum of variances per pair: (weightings, pairs).

    ``above`` (pairs, chains) is 1 where the first of the pair is above the second, ``centred``
    (documents, chains) is their worth, and each row of ``weights`` (weightings, chains) sums to 1.
    There is one small product per weighting: for a large one OpenBLAS would start its threads.
    """
    weighed = weights[:, :, None] * centred.T
    share = weights @ above.T
    covariances = above @ weighed - share[:, :, None] * weighed.sum(axis=1)[:, None, :]
    chance = error + (1.0 - 2.0 * error) * share
    reduction: SingleArray = np.einsum("wpd,wpd->wp", covariances, covariances)
    reduction *= (1.0 - 2.0 * error) ** 2 / (chance * (1.0 - chance))
    return reduction


def _answered(above: SingleArray, errors: SingleArray) -> tuple[SingleArray, SingleArray]:
    """Return the probabilities of both answers per question, and the chain weights given each."""
    yes: SingleArray = errors + (1 - 2 * errors) * above
    likelihoods = np.stack([yes, 1 - yes], axis=1)
    weights = likelihoods / likelihoods.sum(axis=2, keepdims=True)
    return likelihoods.mean(axis=2), weights.reshape(-1, errors.size)
