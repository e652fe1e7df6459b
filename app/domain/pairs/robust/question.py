"""Choice of the pair to ask: the one whose answer is expected to tell most about the best pages.

In a draw of the scores every page has a worth c(rank), decreasing with its rank, and 0 below the
ranks that matter. By the law of total variance an answer y about a pair is expected to lower the
sum of the variances of the worths by

    sum_y sum_i cov(p_y, c_i)^2 / q_y,    q_y = mean of p_y

where p_y is the probability of y given the scores, and covariances and means are taken over the
draws. A page that was asked about much more often than the others of interest rests: without it,
one page is compared with all others, and one wrong answer about it is repeated in all of them.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

DRAWS = 640
CANDIDATES = 24  # pages whose pairs are considered
BREADTH = 10  # least number of ranks that matter, for the order
MORE = {Goal.ORDER: 12, Goal.MEMBERS: 2}  # questions about one page beyond the median
_LOGISTIC = np.float32(1.702)  # the logistic function that is nearest to the normal distribution
FADES = {Goal.ORDER: (0.85, 0.73), Goal.MEMBERS: (1.0, 1.0)}  # per rank: first question, last


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
    best = np.argpartition(-scores, ranks - 1, axis=1)[:, :ranks] if ranks < posterior.n else None
    if best is None:
        return Sampled(scores, points, np.argsort(-scores, axis=1)[:, :ranks])
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
    return Sampled(scores, points, np.take_along_axis(best, order, axis=1))


def ranks_of_interest(k: int, goal: Goal) -> int:
    """Return how many ranks matter."""
    return max(k, BREADTH) if goal is Goal.ORDER else k


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
    order = living[np.argsort(-worth[:, living].std(axis=0), kind="stable")]
    closed = _closed(posterior, limit, open_elsewhere, started_with)
    count = CANDIDATES
    while True:
        pages = order[:count]
        i, j = np.triu_indices(pages.size, 1)
        is_open = ~closed[pages[i], pages[j]]
        if is_open.any():
            break
        if count >= order.size:
            return None
        count *= 2
    times = posterior.asked.sum(axis=1)[pages]
    rested = times <= np.median(times) + MORE[goal]
    is_fair = is_open & rested[i] & rested[j]
    i, j = (each[is_fair if is_fair.any() else is_open] for each in (i, j))
    if count > CANDIDATES:  # the pages that matter are done: one pair more of those left
        i, j = i[:CANDIDATES], j[:CANDIDATES]
    lapse = posterior.lapses()[drawn.points, person].astype(np.float32)
    scores = drawn.scores[:, pages].T.astype(np.float32)
    apart = np.minimum(_LOGISTIC * (scores[j] - scores[i]), 80.0)
    chances = (1.0 - lapse) / (1.0 + np.exp(apart)) + lapse / 2.0
    centred = (worth[:, pages] - worth[:, pages].mean(axis=0)).astype(np.float32)
    mean = chances.mean(axis=1)
    told = ((chances @ centred) ** 2).sum(axis=1) / (mean * (1.0 - mean))
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
