"""Which pair to ask: the one whose answer is expected to settle most about the head of the list.

Every document has a worth c(rank) in each chain, falling with its rank and 0 outside the top k. An
answer about the pair (a, b) is expected to lower the sum of the worths' variances by

    (1 - 2e)^2 * sum_i cov([a above b], c_i)^2 / (q (1 - q)),    q = e + (1 - 2e) P(a above b)

(the law of total variance for an answer that is wrong with probability e). The covariances are
taken over the chains. c falls from rank to rank by a factor, `fade_at`, that is greater than the
half by which the gains of kappa-NDCG fall: a document that may yet turn out good must not be lost
while others are compared. The factor falls as questions are asked.

Where a pair is asked only once, nothing can be confirmed by asking it again, other pages have to
bear witness, and interest stays broader. With it more pairs are compared of which nothing is known:
the squares of their covariances come out too large by what chance does to a mean over so few
chains, and that much is taken off.
"""

import numpy as np
from numpy.typing import NDArray

from app.domain.answers import Pair
from app.domain.robust.beliefs import Beliefs
from app.domain.robust.gains import interest

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

CANDIDATES = 20  # documents, the most promising ones, among which pairs are compared
CANDIDATES_ONCE = 28  # the same where no pair is asked twice
_FADES = (0.8, 0.65)  # at the first question, and when as many are asked as is usual
_FADES_ONCE = (0.85, 0.7)
_ONE_THREAD = 200_000  # multiplications: OpenBLAS shares out among cores what takes more


def fade_at(share: float, limit: int) -> float:
    """How interest falls with rank when ``share`` of the usual number of questions is asked."""
    first, last = _FADES_ONCE if limit == 1 else _FADES
    return first + (last - first) * min(1.0, share)


def worths(beliefs: Beliefs, k: int, fade: float) -> FloatArray:
    """c(rank) of every document in every chain: (documents, chains)."""
    best = beliefs.best(k)
    table = np.zeros((beliefs.n, beliefs.chains))
    table[best.T, np.arange(beliefs.chains)] = interest(k, fade)[: best.shape[1], None]
    return table


def best_question(beliefs: Beliefs, k: int, *, fade: float, limit: int) -> Pair | None:
    """The pair to ask; None if every pair was asked ``limit`` times.

    Before the first comparison all pairs are alike, and the first two documents are asked.
    """
    living = beliefs.living
    if living.size < 2:
        return None
    if not beliefs.asked.any():
        return int(living[0]), int(living[1])
    table = worths(beliefs, k, fade)
    means = table.mean(axis=1)
    promising = living[np.argsort(-means[living], kind="stable")]
    count = CANDIDATES_ONCE if limit == 1 else CANDIDATES
    while True:
        pairs = _open_pairs(beliefs, promising[:count], limit)
        if pairs[0].size:
            return _most_telling(beliefs, table, promising[:count], pairs, once=limit == 1)
        if count >= promising.size:
            return None
        count *= 2


def _open_pairs(beliefs: Beliefs, promising: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """Pairs of ``promising`` documents that were asked fewer than ``limit`` times."""
    upper, lower = np.triu_indices(promising.size, 1)
    first, second = promising[upper], promising[lower]
    still = beliefs.asked[first, second] < limit
    return first[still], second[still]


def _most_telling(
    beliefs: Beliefs,
    table: FloatArray,
    promising: IntArray,
    pairs: tuple[IntArray, IntArray],
    *,
    once: bool,
) -> Pair:
    first, second = pairs
    above = (beliefs.scores[first] > beliefs.scores[second]).astype(np.float32)
    share = above.mean(axis=1)
    worth = table[promising]
    centred = (worth - worth.mean(axis=1, keepdims=True)).astype(np.float32)
    covariances = _product(above, centred.T) / np.float32(beliefs.chains)
    squares = (covariances * covariances).sum(axis=1)
    if once:
        squares -= _by_chance(above, share, centred)
    error = beliefs.error_rate
    chance = error + (1.0 - 2.0 * error) * share
    best = int(np.argmax(squares / (chance * (1.0 - chance))))
    return int(first[best]), int(second[best])


def _by_chance(
    above: NDArray[np.float32], share: NDArray[np.float32], centred: NDArray[np.float32]
) -> NDArray[np.float32]:
    """What sampling alone adds to the sum of squared covariances of each pair.

    A mean of (B - p)(c - m) over the chains has the variance E[(B - p)^2 (c - m)^2] / chains, and
    (B - p)^2 is p^2 where a is not above b and 1 - 2p more where it is.
    """
    spread = (centred * centred).sum(axis=0)
    chains = np.float32(spread.size)
    with_b = above @ spread / chains
    added: NDArray[np.float32] = share * share * spread.mean() + (1 - 2 * share) * with_b
    return added / chains


def _product(many: NDArray[np.float32], few: NDArray[np.float32]) -> NDArray[np.float32]:
    """``many @ few`` in pieces small enough that no threads are started for them."""
    rows = max(1, _ONE_THREAD // max(1, few.size))
    pieces = [many[start : start + rows] @ few for start in range(0, len(many), rows)]
    return np.concatenate(pieces)
