"""Paired randomisation test over queries, with Holm's correction for many comparisons."""

import numpy as np

from topkapi.analysis.typing import FloatArray


def randomisation_test(
    first: FloatArray, second: FloatArray, *, rounds: int = 10_000, seed: int = 0
) -> float:
    """Compute the two-sided p of the mean difference of paired values (n,) under random signs.

    Smoothed by one, so that no p is 0: [SAC07]_.

    >>> randomisation_test(np.arange(8.0), np.arange(8.0))
    1.0
    """
    return float(randomisation_tests((first - second)[:, None], rounds=rounds, seed=seed)[0])


def randomisation_tests(
    differences: FloatArray, *, rounds: int = 10_000, seed: int = 0
) -> FloatArray:
    """Compute the p of :func:`randomisation_test` for each column of differences (n, m), (m,).

    All columns share the random signs.
    """
    observed = np.abs(differences.sum(axis=0))
    rng = np.random.default_rng(seed)
    extreme = np.zeros(differences.shape[1])
    for start in range(0, rounds, 1000):
        shape = (min(1000, rounds - start), differences.shape[0])
        signs = rng.integers(0, 2, size=shape, dtype=np.int8) * 2.0 - 1.0
        extreme += (np.abs(signs @ differences) >= observed - 1e-12).sum(axis=0)
    return (extreme + 1) / (rounds + 1)


def holm(values: list[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down rule.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    result, highest = [0.0] * len(values), 0.0
    for position, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - position) * values[index]))
        result[index] = highest
    return result
