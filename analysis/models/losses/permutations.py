"""ListNet over all permutations of a short list, exactly, by a recursion over subsets.

A permutation is drawn by choosing the next document from the set S of those that remain. The cross
entropy of two Plackett-Luce models is a sum over S of q(S), the chance that S remains at some step
under the target, times the expected log chance of the step: 2^m terms instead of m!.
"""

from functools import lru_cache

import numpy as np

from topkapi.analysis.typing import FloatArray


@lru_cache(maxsize=32)
def subset_members(size: int) -> FloatArray:
    """Return 0 and 1 for the members of each subset of ``size`` documents, (2^size, size)."""
    numbers = np.arange(2**size)[:, None] >> np.arange(size)
    return (numbers & 1).astype(float)


@lru_cache(maxsize=32)
def subset_chances(size: int) -> FloatArray:
    """Compute q(S) for target scores size, size-1, ..., 1 (best first), (2^size,).

    q of the full set is 1.

    Labels k .. k+1-size give the same values: a Plackett-Luce model ignores a common shift.

    >>> subset_chances(2)  # {1} remains if document 2 goes first, {2} if document 1 does
    array([0.        , 0.268..., 0.731..., 1.        ])
    """
    powers = np.exp(np.arange(0, -size, -1.0))
    members = subset_members(size)
    total = members @ powers
    chances = np.zeros(2**size)
    chances[-1] = 1.0
    for subset in range(2**size - 1, 0, -1):
        leaving = np.flatnonzero(members[subset])
        chances[subset - (1 << leaving)] += chances[subset] * powers[leaving] / total[subset]
    chances[0] = 0.0  # nothing is left to choose
    return chances


def permutation_loss(scores: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cross entropy over all permutations with derivatives by the scores.

    ``scores`` (b, m) of lists in true order; values (b,), gradients (b, m), Hessians (b, m, m):
    [NGLC12]_, L_list of FocusedNet. A value is infinite where scores lie too far apart to add up.
    """
    size = scores.shape[1]
    members, chances = subset_members(size)[1:], subset_chances(size)[1:]
    top = scores.max(axis=1, keepdims=True)
    powers = np.exp(np.maximum(scores - top, -600.0))
    total = powers @ members.T
    values = np.log(total) @ chances + (top[:, 0] * chances.sum()) - scores.sum(axis=1)
    ratio = chances / total
    gradients = powers * (ratio @ members) - 1.0
    both = (members[:, :, None] * members[:, None, :]).reshape(-1, size * size)
    cross = ((ratio / total) @ both).reshape(-1, size, size)
    hessians = -cross * powers[:, :, None] * powers[:, None, :]
    hessians[:, range(size), range(size)] += gradients + 1.0
    far = (top[:, 0] - scores.min(axis=1)) > 600.0
    return np.where(far, np.inf, values), gradients, hessians
