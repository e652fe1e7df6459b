"""Active learning: choice of the next pair of rankings to ask about."""

import numpy as np

from topkapi.analysis.dcglearn.learner import DCGLearn
from topkapi.analysis.typing import FloatArray, IntArray

RANDOM_START = 20
"""Answers before the model chooses: a young model picks pairs worse than chance does."""


def by_uncertainty(model: DCGLearn | None, differences: FloatArray, seed: int) -> IntArray:
    """Order pairs by how uncertain the model is about them: SimpleMargin, [TK02]_.

    The most uncertain pair comes first ([ZZCX13]_, section 5.5); a pair of lists with the same
    grades teaches nothing and comes last. Without a model, and among equals, the order is random by
    ``seed``. A caller offers the first pair that nobody else is answering.

    Parameters
    ----------
    model
        Model learned so far; None before the first.
    differences
        Left minus right in increments, (n, K (L-1)).
    seed
        Seed of the random order.

    Returns
    -------
    IntArray
        Indices of pairs, (n,).

    Examples
    --------
    >>> by_uncertainty(None, np.array([[0.0, 0.0], [1.0, -1.0]]), 1)
    array([1, 0])
    """
    shuffled = np.random.default_rng(seed).permutation(differences.shape[0])
    same = ~differences[shuffled].any(axis=1)
    margins = np.zeros(shuffled.size) if model is None else np.abs(differences @ model.steps_)
    return shuffled[np.lexsort((margins[shuffled], same))]


def label_actively(
    model: DCGLearn,
    pool: FloatArray,
    answers: IntArray,
    *,
    shape: tuple[int, int],
    n_labels: int,
    seed: int,
    start: int = RANDOM_START,
) -> IntArray:
    """Return indices of the pool's pairs in the order an active learner asks them, (n_labels,).

    ``pool`` (n, K (L-1)) is left minus right, ``answers`` (n,) the answer to each
    (1, -1, or 0 for the same), ``shape`` (K, L). The first ``start`` are random.
    """
    asked: list[int] = by_uncertainty(None, pool, seed)[: min(start, n_labels)].tolist()
    warm = None
    unlabelled = np.ones(pool.shape[0], dtype=np.bool_)
    unlabelled[asked] = False
    while len(asked) < min(n_labels, pool.shape[0]):
        fit_labels(model, pool, answers, np.array(asked), shape=shape, start=warm)
        warm = model.steps_
        candidates = np.flatnonzero(unlabelled)
        best = int(candidates[by_uncertainty(model, pool[candidates], seed + len(asked))[0]])
        asked.append(best)
        unlabelled[best] = False
    return np.array(asked, dtype=np.int64)


def fit_labels(
    model: DCGLearn,
    pool: FloatArray,
    answers: IntArray,
    chosen: IntArray,
    *,
    shape: tuple[int, int],
    start: FloatArray | None = None,
) -> DCGLearn:
    """Fit ``model`` to the ``chosen`` pairs of a pool and their answers."""
    signs = np.sign(answers[chosen])
    rows = pool[chosen]
    decided = signs != 0
    return model.fit_differences(
        rows[decided] * signs[decided][:, None],
        rows[~decided],
        k=shape[0],
        n_grades=shape[1],
        start=start,
    )
