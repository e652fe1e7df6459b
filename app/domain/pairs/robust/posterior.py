"""The posterior of scores given answers: expectation propagation on a grid of error models.

For every point of the grid (a tau and, with a ranker, a correlation of its scores with the true
ones) the posterior is a normal distribution. An answer is one factor of it, which is replaced by a
normal one with the same moments (Minka 2001): a rank-one change when it is given, and again, for
all answers together, every few answers. The product of the probabilities that a point gave to the
answers before they were given is its evidence, and decides its weight.

Whether an answer is a lapse is decided the same way, by each person's weights of the lapses.
Pages that nobody was asked about are independent and have no rows. An update costs O(points m^2)
for m pages asked about; points without weight are dropped.
"""

from collections.abc import Sequence
from copy import copy
from statistics import NormalDist

import numpy as np

from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.confidence import ErrorModel
from topkapi.app.domain.pairs.robust.error_prior import (
    LAPSES,
    TAUS,
    ErrorPrior,
    error_rates,
    moments,
)
from topkapi.app.domain.pairs.robust.normal import FloatArray, IntArray, density, distribution

# Correlations of a ranker's scores with the true ones, and their weights before the first answer
CORRELATIONS = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95)
CORRELATION_SHARES = (0.4, 0.12, 0.12, 0.12, 0.12, 0.12)
SHARED = 0.65  # correlation of scores as some people give them with those of everybody
LEAST_WEIGHT = 2e-4  # points with less are dropped
MOST_BYTES = 5_000_000  # of the covariances; beyond, the points with the least weight are dropped
REFINED = 2  # rounds over all answers
DAMPING = 0.7
TIES_BEFORE = (0.5, 10.0)  # ties and answers that everybody is taken to have given, after the first
_UNLIKELY = -9.0  # log evidence of cells that were dropped
_OF_POINTS = (
    *("logs", "taus", "rhos", "lapse_logs", "_lapse_prior"),
    *("_mean", "_cov", "_shifts", "_precisions"),
)
_NORMAL = NormalDist()
_OUTCOMES = {Preference.FIRST: 1, Preference.SECOND: -1, Preference.TIE: 0}


class Posterior:
    """Scores of ``n`` pages, given answers of as many people as there are ``priors``."""

    def __init__(
        self, n: int, priors: Sequence[ErrorPrior], guide: Sequence[float] | None = None
    ) -> None:
        self.n, self.people = n, len(priors)
        cells = np.array([each.cells for each in priors])  # people, taus, lapses
        by_tau = np.logaddexp.reduce(cells, axis=2)
        scores = np.zeros(n) if guide is None else standardized(guide)
        self.guided = bool(scores.any())
        rhos = np.array(CORRELATIONS if self.guided else [0.0])
        self.taus = np.repeat(np.arange(TAUS.size), rhos.size)  # of the points
        self.rhos = np.tile(rhos, TAUS.size)
        self._tau_logs = by_tau.mean(axis=0)
        self.logs = self._tau_logs[self.taus]
        if self.guided:
            self.logs = self.logs + np.tile(np.log(CORRELATION_SHARES), TAUS.size)
        self._lapse_prior = (cells - by_tau[:, :, None])[:, self.taus].transpose(1, 0, 2)
        self.lapse_logs = self._lapse_prior.copy()
        self._guide = scores
        self.asked = np.zeros((n, n), np.int16)
        self.removed = np.zeros(n, bool)
        self._row = np.full(n, -1)
        self.pages = np.zeros(0, int)  # of the rows
        self._mean, self._cov = np.zeros((self.logs.size, 0)), np.zeros((self.logs.size, 0, 0))
        self._pairs = np.zeros((0, 2), int)  # of the answers
        self._outcomes, self._who = np.zeros(0, int), np.zeros(0, int)
        self._shifts = np.zeros((self.logs.size, 0))
        self._precisions = np.zeros((self.logs.size, 0))
        self._given = np.zeros((self.people, 2))  # ties, answers

    @property
    def weights(self) -> FloatArray:
        """Weights of the points."""
        shares = np.exp(self.logs - self.logs.max())
        return np.asarray(shares / shares.sum())

    @property
    def living(self) -> IntArray:
        """The pages that were not removed."""
        return np.flatnonzero(~self.removed)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that grow."""
        grown = (self._cov, self._mean, self._shifts, self._precisions, self.asked)
        return sum(each.nbytes for each in grown)

    def answers_of(self, person: int) -> int:
        """Return how many answers of a person count."""
        return int(self._given[person, 1])

    def tie_share(self, person: int) -> float:
        """Return the share of ties of a person; 0 until the first."""
        ties, answers = self._given[person]
        return float((ties + TIES_BEFORE[0]) / (answers + TIES_BEFORE[1])) if ties else 0.0

    def _tie_widths(self) -> FloatArray:
        """Return how close two noisy scores are that people call equal: (points, people)."""
        shares = [self.tie_share(each) for each in range(self.people)]
        ends = [_NORMAL.inv_cdf((1.0 + share) / 2.0) for share in shares]
        return np.asarray(np.sqrt(1.0 + TAUS[self.taus] ** 2)[:, None] * np.array(ends))

    def lapses(self) -> FloatArray:
        """Return the expected lapses: (points, people)."""
        shares = np.exp(self.lapse_logs - self.lapse_logs.max(axis=2, keepdims=True))
        return np.asarray((shares @ LAPSES) / shares.sum(axis=2))

    def cells_of(self, person: int) -> FloatArray:
        """Return the weights of the cells of the grid for a person: (taus, lapses)."""
        shares = np.exp(self.lapse_logs[:, person])
        shares *= (self.weights / shares.sum(axis=1))[:, None]
        found = np.zeros((TAUS.size, LAPSES.size))
        np.add.at(found, self.taus, shares)
        return found

    def errors_of(self, person: int) -> ErrorModel:
        """Return means and variances of a person's error model."""
        return moments(self.cells_of(person), self.tie_share(person))

    def error_rate_of(self, person: int) -> float:
        """Return a person's expected error over random pairs."""
        return float((self.cells_of(person) * error_rates()).sum())

    def error_rate(self) -> float:
        """Return the expected error over random pairs, by the number of people's answers."""
        answers = self._given[:, 1] + 1e-9
        rates = [self.error_rate_of(person) for person in range(self.people)]
        return float(answers @ np.array(rates) / answers.sum())

    def take(self, pair: Pair, preference: Preference, person: int = 0) -> None:
        """Add an answer."""
        i, j = (self._row_of(page) for page in pair)
        self.asked[pair] += 1
        self.asked[pair[::-1]] += 1
        outcome = _OUTCOMES[preference]
        self._given[person] += outcome == 0, 1
        column = self._cov[:, :, i] - self._cov[:, :, j]
        variance, apart = column[:, i] - column[:, j], self._mean[:, i] - self._mean[:, j]
        width, lapse = self._tie_widths()[:, person], self.lapses()[:, person]
        likely = _likelihood(apart, variance, outcome, width)
        random = self._at_random(outcome, person)
        by_lapse = LAPSES * random + (1.0 - LAPSES) * likely[0][:, None]
        self.logs = self.logs + np.log(lapse * random + (1.0 - lapse) * likely[0])
        self.lapse_logs[:, person] += np.log(by_lapse)
        shift, precision = _site(apart, variance, likely, lapse, random)
        scale = 1.0 + precision * variance
        self._mean = self._mean + ((shift - precision * apart) / scale)[:, None] * column
        self._cov = self._cov - (precision / scale)[:, None, None] * (
            column[:, :, None] * column[:, None, :]
        )
        self._pairs = np.vstack([self._pairs, [[i, j]]])
        self._outcomes = np.append(self._outcomes, outcome)
        self._who = np.append(self._who, person)
        self._shifts = np.column_stack([self._shifts, shift])
        self._precisions = np.column_stack([self._precisions, precision])

    def evidence_of(self, person: int) -> FloatArray:
        """Return how well each cell explains a person's answers, as a logarithm: (taus, lapses).

        A tau is judged by everybody's answers, of which these are a share. Of the cells that were
        dropped it is only known that they explain little.
        """
        share = self._given[person, 1] / max(1.0, self._given[:, 1].sum())
        found = np.full((TAUS.size, LAPSES.size), -np.inf)
        shares = self.lapse_logs[:, person] - self._lapse_prior[:, person]
        total = np.logaddexp.reduce(self.lapse_logs[:, person], axis=1)
        given = share * (self.logs - self._tau_logs[self.taus])
        for point, tau in enumerate(self.taus):
            found[tau] = np.logaddexp(found[tau], given[point] + shares[point] - total[point])
        return np.asarray(np.maximum(found - found.max(), _UNLIKELY))

    def _at_random(self, outcome: int, person: int) -> float:
        tied = self.tie_share(person)
        return tied if outcome == 0 else (1.0 - tied) / 2.0

    def remove(self, page: int) -> None:
        """Drop a page, and what all answers about it say of pages; they still tell of people."""
        self.removed[page] = True
        row = self._row[page]
        if row < 0:
            return
        keep = (self._pairs != row).all(axis=1)
        self._pairs, self._outcomes = self._pairs[keep], self._outcomes[keep]
        self._who = self._who[keep]
        self._shifts, self._precisions = self._shifts[:, keep], self._precisions[:, keep]
        self._rebuild()

    def refine(self) -> None:
        """Drop points without weight, and match the moments of every answer again."""
        self._drop()
        for _ in range(REFINED if self._who.size else 0):
            i, j = self._pairs.T
            each = np.arange(self.pages.size)
            variances = self._cov[:, each, each]
            apart = self._mean[:, i] - self._mean[:, j]
            variance = variances[:, i] + variances[:, j] - 2.0 * self._cov[:, i, j]
            without = 1.0 / np.maximum(1.0 / variance - self._precisions, 1e-9)
            centre = without * (apart / variance - self._shifts)
            widths, lapse = self._tie_widths()[:, self._who], self.lapses()[:, self._who]
            random = np.array(
                [self._at_random(y, who) for y, who in zip(self._outcomes, self._who, strict=True)]
            )
            likely = _likelihood(centre, without, self._outcomes, widths)
            if self.people > 1:
                self._judge_people(likely[0], random)
            shifts, precisions = _site(centre, without, likely, lapse, random)
            self._shifts += DAMPING * (shifts - self._shifts)
            self._precisions += DAMPING * (precisions - self._precisions)
            self._rebuild()

    def _judge_people(self, chances: FloatArray, random: FloatArray) -> None:
        """Weigh people's lapses by their answers, given what all other answers say of the pages."""
        found = np.log(LAPSES * random[:, None] + (1.0 - LAPSES) * chances[:, :, None])
        self.lapse_logs = self._lapse_prior.copy()
        for person in range(self.people):
            self.lapse_logs[:, person] += found[:, self._who == person].sum(axis=1)

    def _rebuild(self) -> None:
        """Compute means and covariances from the answers."""
        answers, (i, j) = np.arange(self._who.size), self._pairs.T
        design = np.zeros((answers.size, self.pages.size))
        design[answers, i], design[answers, j] = 1.0, -1.0
        spread = 1.0 / self._prior_variances()[:, None]
        toward = spread * self._prior_means(self.pages) + self._shifts @ design
        for point, found in enumerate(self._precisions):
            precision = (design.T * found) @ design
            precision.flat[:: self.pages.size + 1] += spread[point]
            self._cov[point] = np.linalg.inv(precision)
            self._mean[point] = self._cov[point] @ toward[point]

    def _drop(self) -> None:
        weights = self.weights
        most = max(3, MOST_BYTES // (8 * max(1, self.pages.size) ** 2))
        keep = weights > LEAST_WEIGHT
        keep[np.argsort(-weights, kind="stable")[most:]] = False
        if keep.all():
            return
        for name in _OF_POINTS:
            setattr(self, name, getattr(self, name)[keep])

    def _row_of(self, page: int) -> int:
        """Return the row of a page; a new one if it has none."""
        if self._row[page] < 0:
            self._row[page] = size = self.pages.size
            self.pages = np.append(self.pages, page)
            self._mean = np.column_stack([self._mean, self._prior_means([page])])
            grown = np.zeros((self.logs.size, size + 1, size + 1))
            grown[:, :size, :size] = self._cov
            grown[:, size, size] = self._prior_variances()
            self._cov = grown
        return int(self._row[page])

    def _prior_means(self, pages: Sequence[int] | IntArray) -> FloatArray:
        return np.outer(TAUS[self.taus] * self.rhos, self._guide[pages])

    def _prior_variances(self) -> FloatArray:
        return np.asarray(TAUS[self.taus] ** 2 * (1.0 - self.rhos**2))

    def draw(
        self, count: int, rng: np.random.Generator, jointly: int
    ) -> tuple[FloatArray, IntArray]:
        """Return ``count`` draws of the scores, and their points: (draws, pages), (draws,).

        Points have draws in proportion to their weights. Of each point the ``jointly`` most
        promising pages are drawn together, the others by themselves.
        """
        reached = np.cumsum(self.weights) * count + rng.random()
        counts = np.diff(np.floor(np.concatenate([[reached[-1] - count], reached])).astype(int))
        points = np.repeat(np.arange(counts.size), counts)
        noise = rng.standard_normal((points.size, self.n))
        everybody = np.arange(self.n)
        scores = self._prior_means(everybody)[points]
        scores += np.sqrt(self._prior_variances())[points, None] * noise
        noise, drawn = noise.take(self.pages, axis=1), np.empty((points.size, self.pages.size))
        ends = np.cumsum(counts)
        for point in np.flatnonzero(counts):
            at = slice(ends[point] - counts[point], ends[point])
            mean, cov = self._mean[point], self._cov[point]
            sds = np.sqrt(cov.diagonal())
            drawn[at] = mean + sds * noise[at]
            rows = np.argsort(-(mean + sds), kind="stable")[:jointly]
            root = np.linalg.cholesky(cov[np.ix_(rows, rows)] + 1e-9 * np.eye(rows.size))
            drawn[at, rows] = mean[rows] + noise[at].take(rows, axis=1) @ root.T
        scores[:, self.pages] = drawn
        return scores, points

    def of_everybody(self, scores: FloatArray, points: IntArray) -> FloatArray:
        """Return draws of the scores of everybody, of whom these people are some.

        A ranker that agrees with these people agrees more with everybody, so its scores count
        however much these people answer.
        """
        told, own = TAUS[self.taus[points], None] * self._guide, self.rhos[points, None]
        rho = np.minimum(own / SHARED, 0.95)
        kept = np.maximum(SHARED - rho * own, 0.05) / (1.0 - own**2)
        return np.asarray(rho * told + kept * (scores - own * told))

    def fork(self) -> "Posterior":
        """Return an independent copy."""
        twin = copy(self)
        for name in ("lapse_logs", "asked", "removed", "_row", "_given"):
            setattr(twin, name, getattr(self, name).copy())
        twin._shifts, twin._precisions = self._shifts.copy(), self._precisions.copy()
        twin._mean, twin._cov = self._mean.copy(), self._cov.copy()
        return twin


def standardized(scores: Sequence[float]) -> FloatArray:
    """Return scores with mean 0 and standard deviation 1; zeros if all are equal."""
    found = np.asarray(scores, float)
    spread = found.std()
    return np.asarray((found - found.mean()) / spread if spread > 0 else np.zeros(found.size))


def _likelihood(
    centre: FloatArray, variance: FloatArray, outcome: int | IntArray, width: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the probability of an answer that is no lapse, and its two derivatives.

    The difference of the scores is normal with ``centre`` and ``variance``; the derivatives are by
    the centre. An answer is 1 if the difference plus noise exceeds ``width``, -1 if it is less than
    its negative, and 0 in between.
    """
    spread = np.sqrt(1.0 + variance)
    low = np.where(np.equal(outcome, 1), width, np.where(np.equal(outcome, 0), -width, -np.inf))
    high = np.where(np.equal(outcome, -1), -width, np.where(np.equal(outcome, 0), width, np.inf))
    below, above = (low - centre) / spread, (high - centre) / spread
    f_below, f_above = density(below), density(above)
    inner_below = np.where(np.isinf(below), 0.0, below) * f_below
    inner_above = np.where(np.isinf(above), 0.0, above) * f_above
    chance = distribution(above) - distribution(below)
    return chance, (f_below - f_above) / spread, (inner_below - inner_above) / spread**2


def _site(
    centre: FloatArray,
    variance: FloatArray,
    likely: tuple[FloatArray, FloatArray, FloatArray],
    lapse: FloatArray,
    random: float | FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return shift and precision of the normal factor with the same moments as an answer."""
    chance = lapse * random + (1.0 - lapse) * likely[0]
    slope = (1.0 - lapse) * likely[1] / chance
    bend = (1.0 - lapse) * likely[2] / chance - slope**2
    mean = centre + variance * slope
    precision = np.maximum(-bend / (1.0 + variance * bend), 0.0)
    return precision * mean + (mean - centre) / variance, precision
