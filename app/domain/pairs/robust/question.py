"""Choice of the pair to ask: an answer that is not known yet, about pages that matter.

In a draw of the scores the first page is preferred with probability p. The variance of the answer,
q(1 - q) with q the mean of p, has two parts: chance, and the variance of p, which is what we do not
know and the answer tells. The pair has the largest

    var(p) / (q(1 - q)) (s_i + s_j)

where s_i says how much page i matters: the standard deviation of its worth c(rank), which falls
with its rank and is 0 below the ranks that count. Pages that are surely first, or surely outside,
matter little; so does a pair whose answer is a matter of chance.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.robust.normal import FloatArray, IntArray
from topkapi.app.domain.pairs.robust.posterior import Posterior

DRAWS = 640
CANDIDATES = 24  # pages whose pairs are considered, while one of them may be asked
PAIRS = 276  # considered at most, those of all candidates
BREADTH = 10  # least number of ranks that matter, for the order
_FAR = 46.0  # below the best of a draw: odds beyond 1e-34 are all alike
_LOGISTIC = np.float32(1.702)  # the logistic function that is nearest to the normal distribution
FADES = {Goal.ORDER: (0.8, 0.65), Goal.MEMBERS: (1.0, 1.0)}  # per rank: first question, last


@dataclass(frozen=True, slots=True)
class Sampled:
    """Draws of the scores of living pages: scores and best pages (draws, pages), their points."""

    scores: FloatArray
    points: IntArray
    best: IntArray


def sampled(posterior: Posterior, ranks: int, count: int, rng: np.random.Generator) -> Sampled:
    """Draw scores, and the pages of the first ranks."""
    scores, points = posterior.draw(count, rng, 2 * CANDIDATES)
    scores[:, posterior.removed] = -np.inf
    ranks = min(ranks, posterior.living.size)
    best = np.argpartition(-scores, ranks - 1, axis=1)[:, :ranks]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
    return Sampled(scores, points, np.take_along_axis(best, order, axis=1))


def best_question(
    posterior: Posterior,
    drawn: Sampled,
    *,
    share: float,
    limit: int,
    goal: Goal,
    person: int = 0,
    open_elsewhere: Collection[Pair] = (),
    started_with: int = 0,
) -> Pair | None:
    """Return the pair to ask ``person``; None if every pair was asked ``limit`` times.

    ``share`` is how much of the questions is done. Pairs that are ``open_elsewhere`` are being
    asked somebody else, and are left out, and so are those of the first ``started_with`` pages.
    The better page comes first. Before the first answer all pairs are equivalent, and the first two
    pages are asked, unless a ranker tells them apart.
    """
    first, last = FADES[goal]
    worths = (first + (last - first) * min(1.0, share)) ** np.arange(drawn.best.shape[1])
    worth = np.zeros(drawn.scores.shape)
    np.put_along_axis(worth, drawn.best, worths[None, :], axis=1)
    living = posterior.living
    if not (posterior.asked.any() or posterior.guided or started_with or open_elsewhere):
        return int(living[0]), int(living[1])
    matters = worth.std(axis=0)
    order = living[np.argsort(-matters[living], kind="stable")]
    closed = _closed(posterior, limit, open_elsewhere, started_with)
    for pages in (order[:CANDIDATES], order):
        i, j = np.triu_indices(pages.size, 1)
        is_open = ~closed[pages[i], pages[j]]
        i, j = i[is_open][:PAIRS], j[is_open][:PAIRS]
        if i.size:
            break
    else:
        return None
    lapse = posterior.lapses()[drawn.points, person].astype(np.float32)
    scores = drawn.scores[:, pages].T
    scores = np.maximum(scores - scores.max(axis=0), -_FAR).astype(np.float32)
    odds = np.exp(_LOGISTIC * scores)
    chances = (1.0 - lapse) / (1.0 + odds[j] / odds[i]) + lapse / 2.0
    mean = chances.mean(axis=1)
    chances -= mean[:, None]
    variance = np.einsum("ij,ij->i", chances, chances) / lapse.size
    told = variance / (mean * (1.0 - mean)) * (matters[pages[i]] + matters[pages[j]])
    best = int(np.argmax(told))
    pair = int(pages[i[best]]), int(pages[j[best]])
    return pair if mean[best] >= 0.5 else pair[::-1]


def _closed(
    posterior: Posterior, limit: int, open_elsewhere: Collection[Pair], started_with: int
) -> NDArray[np.bool_]:
    closed = posterior.asked >= limit
    for pair in open_elsewhere:
        closed[pair] = closed[pair[::-1]] = True
    closed[:started_with, :started_with] = True
    return closed
