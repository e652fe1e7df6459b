"""A prior of people's errors, learned from the finished queries of a study (empirical Bayes).

One query can hardly tell lapses from errors between close documents: both explain its answers. Many
queries of the same people can. `evidence` says how well each error model of a grid explains the
answers of one person in one query, whatever their order. A person's evidence is the product over
their queries; the population is a distribution over the grid that makes everybody's evidence
probable, and a person's prior what it says given their own evidence. The spacing of scores is that
of the study: even, unless the evidence of all queries together says normal.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.confidence import ErrorModel
from topkapi.app.domain.pairs.robust.compiled import compiled
from topkapi.app.domain.pairs.robust.error_prior import RANGES, ErrorPrior, moved
from topkapi.app.domain.pairs.robust.model_moves import apart_in, log_likelihood
from topkapi.app.domain.pairs.robust.moves import SIDE, Indices, Reals, Scores
from topkapi.app.domain.pairs.robust.posterior import Posterior

FloatArray = NDArray[np.float64]
Evidence = FloatArray | Sequence[float]
Person = TypeVar("Person")

LAPSES: Final = (0.005, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.65, 0.9)
WIDTHS: Final = (0.002, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.27, 0.36, 0.5, 0.8, 1.4)
EVENNESSES: Final = (0.0, 0.5, 1.0)
SIDES: Final = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
USUAL: Final = ErrorPrior()
CELLS: Final = len(LAPSES) * len(WIDTHS) * len(EVENNESSES)
BETWEEN: Final = (0.05, 0.05, 0.0, 0.02, 0.05)  # variances of a person's parameters over queries
# Log prior weights of the spacings. Scores that are even, but taken for normal ones, are overstated
# by .1; the reverse understates by .02 to .06 (docs/notes/sorters.md). Twenty queries hardly tell
# what lies between from either, and would take it for both.
SPACINGS: Final = (-6.0, -np.inf, 0.0)
STRANGERS: Final = 1.0  # people with general errors, counted beside those of the study
ROUNDS: Final = 20
LEAST: Final = 1e-12  # likelihood, so that its logarithm is finite


def _grid() -> FloatArray:
    """Return the error models of the grid; the tie ratio has its usual value."""
    tie_ratio = float(np.exp(USUAL.means[2]))
    rows = [(lapse, width, tie_ratio, even, 0.5) for lapse, width, even in _cells()]
    return np.array(rows)


def _cells() -> list[tuple[float, float, float]]:
    return list(product(LAPSES, WIDTHS, EVENNESSES))


def _weights(table: FloatArray) -> FloatArray:
    """Return the prior of the cells of the grid, density times size, from that of a person."""
    places = moved(_grid())
    logs = -0.5 * (table[:4, 3] * (places[:, :4] - table[:4, 2]) ** 2).sum(axis=1)
    lapse = _grid()[:, 0]
    logs += table[0, 4] * np.log(lapse) + table[0, 5] * np.log(1.0 - lapse)
    weights = np.exp(logs - logs.max()) * _sizes(places, (0, 1, 3))
    return np.asarray(weights / weights.sum())


def _sizes(places: FloatArray, columns: Sequence[int]) -> FloatArray:
    """Return the sizes of the cells in some dimensions."""
    sizes = np.ones(len(places))
    for column in columns:
        points = np.unique(places[:, column])
        edges = np.concatenate([points[:1], (points[1:] + points[:-1]) / 2.0, points[-1:]])
        sizes *= np.diff(edges)[np.searchsorted(points, places[:, column])]
    return sizes


_GRID: Final = _grid()
# Flat, given a spacing: the general prior leans to many lapses and to small widths.
_FLAT: Final = _sizes(moved(_GRID), (0, 1))[:: len(EVENNESSES)]
_USUAL: Final = _FLAT / _FLAT.sum()
_USUAL_SIDES: Final = np.full(len(SIDES), 1.0 / len(SIDES))


@compiled
def _likelihoods(
    z: Scores,
    u: Scores,
    models: Reals,
    firsts: Indices,
    seconds: Indices,
    answers: Reals,
    start: np.uint64,
    end: np.uint64,
    tied: float,
) -> Reals:
    """Return the log-likelihood of one person's answers under each model: (chains, models).

    ``models`` are (1, models, parameters) for all chains, or (chains, models, parameters).
    """
    count = answers.size
    normal, even, found = np.empty(count), np.empty(count), np.empty(count)
    logs = np.empty((z.shape[0], models.shape[1]))
    for c in range(z.shape[0]):
        apart_in(z[c], u[c], firsts, seconds, normal, even)
        for row in range(models.shape[1]):
            model = models[c if models.shape[0] > 1 else 0, row]
            logs[c, row] = log_likelihood(model, normal, even, answers, start, end, tied, found)
    return logs


def evidence(posterior: Posterior, person: int = 0) -> FloatArray:
    """Return the relative likelihood of a person's answers under each error model of the grid.

    In a chain with scores z the posterior of the grid is proportional to prior times likelihood
    given z; its mean over the chains, divided by the prior, is the likelihood without z. The sides
    follow, given the models of the chains. With a prior that is sure of itself little is said about
    other models than its own: take chains of the general one.
    """
    firsts, seconds, answers, starts = posterior.by_person()
    told = (firsts, seconds, answers, starts[person], starts[person + 1])
    tied = float(posterior.ties[person])
    own = np.full((posterior.chains, len(SIDES), SIDE + 1), 0.5)
    own[:, :, :SIDE] = posterior.errors[:, person, None, :SIDE]
    own[:, :, SIDE] = SIDES
    cells = _likelihoods(posterior.z, posterior.u, _GRID[None], *told, tied)
    sides = _likelihoods(posterior.z, posterior.u, own, *told, tied)
    return np.concatenate(
        [_averaged(cells, _weights(posterior.prior_of(person))), _averaged(sides, _USUAL_SIDES)]
    )


def _averaged(logs: FloatArray, prior: FloatArray) -> FloatArray:
    ratios = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray((ratios / (ratios @ prior)[:, None]).mean(axis=0))


def study_priors(found: Mapping[Person, Sequence[Evidence]]) -> dict[Person, ErrorModel]:
    """Return means and precisions of each person's error model from the evidence of the study.

    ``found`` has the logarithms of the evidence of each person's finished queries; who has none yet
    gets the prior of the population. `ErrorPrior.of` reads the result.
    """
    logs = [_total(each) for each in found.values()]
    cells = _cells_of([each[:CELLS] for each in logs])
    sides = _posteriors([each[CELLS:] for each in logs], _USUAL_SIDES)
    return {
        person: _moments(cell, side) for person, cell, side in zip(found, cells, sides, strict=True)
    }


def _cells_of(logs: Sequence[FloatArray]) -> FloatArray:
    """Return each person's distribution over the cells of the grid: (people, cells).

    Lapse and width are each person's, given a spacing; the spacing is that of all.
    """
    shares, weights = np.zeros((len(logs), CELLS)), np.array(SPACINGS)
    for number in range(len(EVENNESSES)):
        at = slice(number, None, len(EVENNESSES))
        mine = [each[at] for each in logs]
        shares[:, at] = _posteriors(mine, _USUAL)
        weights[number] += sum(
            each.max() + np.log(_USUAL @ np.exp(each - each.max())) for each in mine
        )
    chosen = np.exp(weights - weights.max())
    return np.asarray(shares * np.tile(chosen / chosen.sum(), CELLS // len(EVENNESSES)))


def _total(found: Sequence[Evidence]) -> FloatArray:
    return np.asarray(sum(map(np.asarray, found), np.zeros(CELLS + len(SIDES))))


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


def _moments(cells: FloatArray, sides: FloatArray) -> ErrorModel:
    """Return means and precisions on the scale on which the parameters move."""
    places, leans = moved(_GRID), np.log(np.array(SIDES) / (1.0 - np.array(SIDES)))
    means, precisions = [], []
    for column in range(len(RANGES)):
        if column == 2:  # a free tie ratio overstates how far other people would agree
            means.append(USUAL.means[column])
            precisions.append(USUAL.precisions[column])
            continue
        values, weights = (leans, sides) if column == SIDE else (places[:, column], cells)
        mean = float(weights @ values)
        variance = float(weights @ (values - mean) ** 2) + BETWEEN[column]
        means.append(round(mean, 4))
        precisions.append(round(1.0 / variance, 4))
    return tuple(means), tuple(precisions)
