"""A prior of people's errors, learned from the finished queries of a study (empirical Bayes).

One query can hardly tell lapses from errors between close documents: both explain its answers. Many
queries of the same people can. A finished query says how probable its answers were in each cell of
the grid of error models. A person's evidence is the product over their queries; the population is a
distribution over the grid that makes everybody's evidence probable, and a person's prior what it
says given their own evidence.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from topkapi.app.domain.pairs.robust.error_prior import CELLS, GENERAL, ErrorPrior
from topkapi.app.domain.pairs.robust.normal import FloatArray

Evidence = FloatArray | Sequence[float]
Person = TypeVar("Person")

STRANGERS: Final = 1.0  # people with general errors, counted beside those of the study
BETWEEN: Final = 0.5  # of the evidence counts: queries of one person differ in their spread
ROUNDS: Final = 20


def study_priors(found: Mapping[Person, Sequence[Evidence]]) -> dict[Person, tuple[float, ...]]:
    """Return each person's prior, log weights of the grid, from the evidence of the study.

    ``found`` has the logarithms of the evidence of each person's finished queries; who has none yet
    gets the prior of the population. `ErrorPrior.of` reads the result.
    """
    logs = [BETWEEN * sum(map(np.asarray, each), np.zeros(CELLS)) for each in found.values()]
    shares = _posteriors(logs, np.exp(np.array(GENERAL.logs)))
    return {
        person: ErrorPrior.of(np.log(share + 1e-12)).logs
        for person, share in zip(found, shares, strict=True)
    }


def _posteriors(logs: Sequence[FloatArray], usual: FloatArray) -> list[FloatArray]:
    """Return each person's distribution over the grid, given their own evidence and the others'.

    Nobody is part of the population that they are measured by: evidence counts once.
    """
    shares = [_normalized(usual, each) for each in logs]
    known = [bool(each.any()) for each in logs]
    for _ in range(ROUNDS):
        total = STRANGERS * usual + sum(
            (share for share, own in zip(shares, known, strict=True) if own), np.zeros(usual.size)
        )
        shares = [
            _normalized(total - share if own else total, each)
            for share, own, each in zip(shares, known, logs, strict=True)
        ]
    return shares


def _normalized(prior: FloatArray, logs: FloatArray) -> FloatArray:
    weights = prior * np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
