"""Which pair to ask: the one that, with the question after it, should settle most about the head.

Every document has a worth c(rank) in each chain, falling with its rank and 0 outside the top k (the
top `BREADTH` if that is more: who is fifth is learned from those who may be sixth). An answer about
the pair (a, b) is expected to lower the sum of the worths' variances by

    (1 - 2e)^2 * sum_i cov([a above b], c_i)^2 / (q (1 - q)),    q = e + (1 - 2e) P(a above b)

(the law of total variance for an answer that is wrong with probability e). The covariances are
taken over the chains. c falls from rank to rank by a factor, `fade_at`, that is greater than the
half by which the gains of kappa-NDCG fall: a document that may yet turn out good must not be lost
while others are compared. The factor falls as questions are asked; where a pair is asked only once,
nothing can be confirmed by asking it again, other pages have to bear witness, and interest stays
broader.

The best pair by itself is not the best to begin with: two answers may only together tell which
page is better. So for some of the best pairs and both answers to them the chains are weighed by
that answer, and what the best question then would settle is added.
"""

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.robust.gains import interest
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.intp]

BREADTH = 10  # ranks, at the least, that a question cares about
CANDIDATES = 20  # documents, the most promising ones, among which pairs are compared
FIRSTS = 12  # pairs, the best by themselves, for which one looks a question further
SECONDS = 50  # pairs among which the question after is sought
_FADES = (0.8, 0.65)  # at the first question, and when as many are asked as is usual
_FADES_ONCE = (0.85, 0.7)


def fade_at(share: float, limit: int) -> float:
    """How interest falls with rank when ``share`` of the usual number of questions is asked."""
    first, last = _FADES_ONCE if limit == 1 else _FADES
    return first + (last - first) * min(1.0, share)


def worths(posterior: Posterior, k: int, fade: float) -> FloatArray:
    """c(rank) of every document in every chain: (documents, chains)."""
    ranks = max(k, BREADTH)
    best = posterior.best(ranks)
    table = np.zeros((posterior.n, posterior.chains))
    table[best.T, np.arange(posterior.chains)] = interest(ranks, fade)[: best.shape[1], None]
    return table


def best_question(posterior: Posterior, k: int, *, fade: float, limit: int) -> Pair | None:
    """The pair to ask; None if every pair was asked ``limit`` times.

    Before the first comparison all pairs are alike, and the first two documents are asked.
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
            best = _most_telling(posterior, centred, first, second, limit)
            return int(first[best]), int(second[best])
        if count >= promising.size:
            return None
        count *= 2


def _open_pairs(posterior: Posterior, promising: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """Pairs of ``promising`` documents that were asked fewer than ``limit`` times."""
    upper, lower = np.triu_indices(promising.size, 1)
    first, second = promising[upper], promising[lower]
    still = posterior.asked[first, second] < limit
    return first[still], second[still]


def _most_telling(
    posterior: Posterior, centred: SingleArray, first: IntArray, second: IntArray, limit: int
) -> int:
    """Which of the pairs to ask, of documents with ``centred`` worths."""
    above = (posterior.scores[first] > posterior.scores[second]).astype(np.float32)
    error = posterior.error_rate
    alike = np.full((1, posterior.chains), 1.0 / posterior.chains, dtype=np.float32)
    now = np.concatenate(
        [
            _falls(above[start : start + SECONDS], centred, alike, error)[0]
            for start in range(0, len(above), SECONDS)
        ]
    )
    order = np.argsort(-now, kind="stable")
    firsts, seconds = order[:FIRSTS], order[:SECONDS]
    chance, weights = _answered(above[firsts], posterior.errors)
    after = _falls(above[seconds], centred, weights, error).reshape(firsts.size, 2, -1)
    for place, pair in enumerate(firsts):
        if posterior.asked[first[pair], second[pair]] + 1 >= limit:
            after[place, :, place] = 0.0
    return int(firsts[np.argmax(now[firsts] + (chance * after.max(axis=2)).sum(axis=1))])


def _falls(
    above: SingleArray, centred: SingleArray, weights: SingleArray, error: float
) -> SingleArray:
    """How far a question about each pair lowers the sum of variances: (weightings, pairs).

    ``above`` (pairs, chains) is 1 where the first of the pair is above the second, ``centred``
    (documents, chains) is their worth, and each row of ``weights`` (weightings, chains) sums to 1.
    One small product a weighting: for a large one OpenBLAS would wake its threads.
    """
    weighed = weights[:, :, None] * centred.T
    share = weights @ above.T
    covariances = above @ weighed - share[:, :, None] * weighed.sum(axis=1)[:, None, :]
    chance = error + (1.0 - 2.0 * error) * share
    fallen: SingleArray = np.einsum("wpd,wpd->wp", covariances, covariances)
    fallen *= (1.0 - 2.0 * error) ** 2 / (chance * (1.0 - chance))
    return fallen


def _answered(above: SingleArray, errors: SingleArray) -> tuple[SingleArray, SingleArray]:
    """The chance of a yes and of a no to each question, and the chains weighed by them in turn."""
    yes: SingleArray = errors + (1 - 2 * errors) * above
    said = np.stack([yes, 1 - yes], axis=1)
    weights = said / said.sum(axis=2, keepdims=True)
    return said.mean(axis=2), weights.reshape(-1, errors.size)
