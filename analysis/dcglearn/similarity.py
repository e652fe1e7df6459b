"""Similarity of learned weights to known ones, and accuracy."""

import numpy as np

from topkapi.analysis.typing import FloatArray, IntArray


def t_similarity(weights: FloatArray, others: FloatArray) -> float:
    """Compute the cosine of T(w) and T(w'), both (K, L), worst grade first.

    Parameters
    ----------
    weights, others
        Weights (K, L), worst grade first ([ZZCX13]_, section 5.1).

    Examples
    --------
    >>> t_similarity(np.array([[1.0, 2.0], [5.0, 6.0]]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    1.0
    """
    return _cosine(weights - weights[:, :1], others - others[:, :1])


def centred_similarity(weights: FloatArray, others: FloatArray) -> float:
    """Compute the cosine after removing the means of positions and of grades.

    Two rankings of the same documents hold the same grades, so a constant added to a grade at every
    position changes no comparison between them: only the rest can be learned from such pairs.

    Parameters
    ----------
    weights, others
        Weights (K, L), worst grade first.

    Examples
    --------
    >>> first = np.array([[0.0, 1.0, 3.0], [0.0, 0.5, 1.5]])
    >>> centred_similarity(first, first + np.array([0.0, 7.0, 9.0]))
    1.0
    """
    return _cosine(_double_centred(weights), _double_centred(others))


def accuracy(margins: FloatArray, signs: IntArray) -> float:
    """Compute the share of signs 1 or -1 that margins (n,) agree with.

    A margin of 0 is half right.

    Parameters
    ----------
    margins
        Left minus right, (n,).
    signs
        Preferences 1 or -1, (n,).

    Examples
    --------
    >>> accuracy(np.array([2.0, -1.0, 0.0]), np.array([1, 1, -1]))
    0.5
    """
    if signs.size == 0:
        return float("nan")
    found = np.where(np.abs(margins) <= 1e-12, 0, np.sign(margins))
    return float(np.where(found == 0, 0.5, found == np.sign(signs)).mean())


def _cosine(first: FloatArray, second: FloatArray) -> float:
    norm = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float((first * second).sum() / norm) if norm > 0 else 0.0


def _double_centred(weights: FloatArray) -> FloatArray:
    rows = weights - weights.mean(axis=1, keepdims=True)
    centred: FloatArray = rows - rows.mean(axis=0, keepdims=True)
    return centred
