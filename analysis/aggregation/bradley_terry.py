r"""Bradley-Terry worths with ties, from answers to pairs.

.. math:: P(i \succ j) \propto e^{\theta_i}, \quad P(j \succ i) \propto e^{\theta_j},
   \quad P(i \sim j) \propto \nu e^{(\theta_i + \theta_j) / 2}

Davidson's extension [Dav70]_ of [BT52]_. The log-likelihood is concave in the worths and
:math:`\log \nu`; a ridge keeps the worths of documents that won or lost everything finite, and
Newton's method finds the optimum in a few steps.
"""

from typing import NamedTuple

import numpy as np

from topkapi.analysis.agreement.preferences import BETTER, TIE, WORSE, QueryVotes, Votes
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray

RIDGE = 0.3
"""Weight of half the squared worths in the loss; of .1 to 1 it predicted held-out votes best."""

STEPS = 100
TOLERANCE = 1e-10


class PairCounts(NamedTuple):
    """Votes on pairs of documents, (p,) each: for the first, ties, and for the second."""

    first: IntArray
    second: IntArray
    better: FloatArray
    tied: FloatArray
    worse: FloatArray


class Worths(NamedTuple):
    """Worths of the documents (n,), and log nu; -inf where nobody tied."""

    worth: FloatArray
    log_tie: float


def pair_counts(block: QueryVotes, votes: Votes | None = None) -> PairCounts:
    """Count the votes of a block, or of some of its assessors."""
    chosen = block.votes if votes is None else votes
    sums = [(chosen == code).sum(axis=0).astype(float) for code in (BETTER, TIE, WORSE)]
    return PairCounts(block.first, block.second, *sums)


def bradley_terry(counts: PairCounts, n_documents: int, *, ridge: float = RIDGE) -> Worths:
    """Fit worths to votes by penalised maximum likelihood.

    Parameters
    ----------
    counts
        Votes on pairs of documents.
    n_documents
        Number of documents; those without votes have worth 0, the mean.
    ridge
        Weight of half the squared parameters in the loss.

    Returns
    -------
    Worths
        Worths (n_documents,), greater is better.

    Raises
    ------
    BadData
        If Newton's method does not converge, which needs a ridge near 0.

    Examples
    --------
    >>> votes = PairCounts(*(np.array(x) for x in ([0, 1], [1, 2], [3.0, 2], [0.0, 1], [1.0, 0])))
    >>> bradley_terry(votes, 3).worth.argsort()[::-1].tolist()
    [0, 1, 2]
    """
    ties = bool(np.any(counts.tied))
    point: FloatArray = np.zeros(n_documents + ties)
    value, gradient, hessian = _loss(point, counts, n_documents, ridge)
    for _ in range(STEPS):
        if np.abs(gradient).max(initial=0.0) < TOLERANCE:
            tie = float(point[-1]) if ties else -np.inf
            return Worths(point[:n_documents], tie)
        step = np.linalg.solve(hessian, gradient)
        point, value, gradient, hessian = _shorter(point, step, value, counts, n_documents, ridge)
    raise BadData("Bradley-Terry did not converge: use a larger ridge")


def _shorter(
    point: FloatArray,
    step: FloatArray,
    value: float,
    counts: PairCounts,
    n_documents: int,
    ridge: float,
) -> tuple[FloatArray, float, FloatArray, FloatArray]:
    """Take the Newton step, halved until the loss does not rise."""
    for halving in range(40):
        tried = point - step / 2**halving
        found = _loss(tried, counts, n_documents, ridge)
        if found[0] <= value + 1e-12 * abs(value):
            break
    return tried, *found


def _loss(
    point: FloatArray, counts: PairCounts, n: int, ridge: float
) -> tuple[float, FloatArray, FloatArray]:
    """Return the penalised loss with its gradient and Hessian."""
    ties = point.size > n
    a, b = point[counts.first], point[counts.second]
    half = (a + b) / 2 + point[-1] if ties else np.full(a.shape, -np.inf)
    scores = np.stack([a, half, b])
    most = scores.max(axis=0)
    weights = np.exp(scores - most)
    total = weights.sum(axis=0)
    chance = weights / total
    seen = np.stack([counts.better, counts.tied, counts.worse])
    votes = seen.sum(axis=0)
    stated = np.where(seen > 0, scores - most - np.log(total), 0.0)
    value = float(-(seen * stated).sum() + ridge / 2 * (point**2).sum())
    excess = votes * chance - seen
    gradient = ridge * point
    np.add.at(gradient, counts.first, excess[0] + excess[1] / 2)
    np.add.at(gradient, counts.second, excess[2] + excess[1] / 2)
    if ties:
        gradient[-1] += excess[1].sum()
    return value, gradient, _hessian(counts, votes, chance, point.size, ridge, ties=ties)


def _hessian(
    counts: PairCounts,
    votes: FloatArray,
    chance: FloatArray,
    size: int,
    ridge: float,
    *,
    ties: bool,
) -> FloatArray:
    """Return the Hessian: the variance of the features (first, second, tie) of each answer."""
    features = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [0.0, 1.0, 0.0]])
    mean = features @ chance
    square = np.einsum("ik,jk,kp->ijp", features, features, chance)
    spread = votes * (square - mean[:, None] * mean[None])
    hessian = ridge * np.eye(size)
    ends = (counts.first, counts.second)
    for i, row in enumerate(ends):
        for j, column in enumerate(ends):
            np.add.at(hessian, (row, column), spread[i, j])
    if ties:
        for i, row in enumerate(ends):
            edge = np.bincount(row, spread[i, 2], size)
            hessian[-1] += edge
            hessian[:, -1] += edge
        hessian[-1, -1] += spread[2, 2].sum()
    return hessian


def worth_intervals(
    block: QueryVotes, n_documents: int, *, draws: int = 200, level: float = 0.95, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return intervals of the worths of one query, from resampling its assessors.

    The pairs that one assessor's list implies depend on each other, so whole assessors are drawn.

    Parameters
    ----------
    block
        Votes on the query.
    n_documents
        Number of documents.
    draws
        Number of resamples.
    level
        Level of the intervals.
    seed
        Seed of the draws.

    Returns
    -------
    tuple[FloatArray, FloatArray]
        Both ends (n_documents,); NaN with fewer than three assessors.
    """
    m = block.assessors.size
    if m < 3:
        return np.full(n_documents, np.nan), np.full(n_documents, np.nan)
    rng = np.random.default_rng(seed)
    fits = [
        bradley_terry(pair_counts(block, block.votes[rng.integers(0, m, m)]), n_documents).worth
        for _ in range(draws)
    ]
    low, high = np.quantile(fits, ((1 - level) / 2, (1 + level) / 2), axis=0)
    return low, high
