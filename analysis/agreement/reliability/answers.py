r"""Error rates from raw answers, with unknown truth and unknown difficulty of every pair.

Assessor a answers pair p wrongly with probability :math:`\Phi(-c_a t_p^\gamma)`: :math:`t_p` is
half-normal, as distances of normal worths are; :math:`\gamma = 0` makes all errors uniform
(Dawid and Skene's model with one parameter per assessor), :math:`\gamma = 1` is an assessor who
sees worths with normal noise. :math:`c_a` is fixed by the assessor's error rate :math:`e_a`, the
mean over :math:`t`. Truth, difficulty (in ``LEVELS`` classes), :math:`\gamma` and all rates are
drawn by Gibbs steps. Answers of one query may depend on each other: their log-likelihood is
divided by the design effect, how much more the scores of the likelihood vary between queries than
those of independent answers would, and widened for few queries as Student's t requires.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from topkapi.analysis.agreement.preferences import BETTER, WORSE, Preferences, QueryVotes
from topkapi.analysis.agreement.reliability.rates import (
    GRID,
    LOGITS,
    ErrorRates,
    Population,
    identified,
)
from topkapi.analysis.lazy import sparse, special, stats
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

LEVELS = 8  # classes of difficulty
GAMMAS: FloatArray = np.linspace(0, 1.75, 15)
GAMMA_PRIOR: FloatArray = -0.5 * ((GAMMAS - 1) / 0.4) ** 2  # log density: few people say little
START, SETTLE = 60, 40  # sweeps before the design effect is measured, and after
LEAST_SWEEPS, SWEPT = 150, 15_000_000  # kept sweeps of large studies: votes x sweeps at most
GAMMA_EVERY, GAMMA_STEP = 2, 3  # sweeps, and the farthest proposal on the grid
MOST_COLLAPSED = 16  # assessors of a query up to which equal columns of votes are counted once
MOST_SUMMED = 4000  # votes up to which truth and difficulty are summed over, not drawn
STEP = float(LOGITS[1] - LOGITS[0])
LEAST_WRONG = 1e-9  # probability


@dataclass(frozen=True, slots=True)
class _Votes:
    """Strict votes, (n,) each, on items that have at least two; ``count`` (items,) equal items.

    ``plus`` marks votes for the first document of the item.
    """

    item: IntArray
    assessor: IntArray
    query: IntArray
    plus: BoolArray
    count: IntArray


def errors_of_answers(
    preferences: Preferences, *, seed: int = 0, level: float = 0.95, sweeps: int | None = None
) -> ErrorRates:
    """Estimate every assessor's share of wrong answers among the pairs asked.

    Sorters ask about close pages more often, so this share is higher than among random pairs.

    Parameters
    ----------
    preferences
        Votes of a study; ties state no preference and are left out.
    seed
        Seed of the sampler.
    level
        Level of the intervals.
    sweeps
        Draws that are kept; 400, or fewer of very many votes, if None.

    Returns
    -------
    ErrorRates
        NaN where an assessor shares no pair with anybody, or the pairs shared cannot tell two
        assessors apart.
    """
    votes = _votes(preferences)
    if not votes.item.size:
        return ErrorRates.none(preferences.n_assessors)
    patterns = _patterns(votes, preferences.n_assessors)
    sampler = _Sampler(patterns, preferences.n_assessors, np.random.default_rng(seed))
    settled = [sampler.sweep() for _ in range(START)][START // 2 :]
    rates = np.rint(np.mean(settled, axis=0)).astype(np.int64)
    sampler.effect = _design_effect(votes, rates, sampler.gamma, preferences.n_queries, level)
    if sweeps is None:
        sweeps = max(LEAST_SWEEPS, min(400, SWEPT // votes.item.size))
    draws = np.empty((sweeps, preferences.n_assessors))
    for number in range(-SETTLE, sweeps):
        rates = sampler.sweep()
        if number >= 0:
            within = sampler.rng.uniform(-0.5, 0.5, rates.size) * STEP
            draws[number] = special.expit(LOGITS[rates] + within)
    known = identified(votes.item, votes.assessor, preferences.n_assessors)
    return ErrorRates.of(draws, known, level)


def _votes(preferences: Preferences) -> _Votes:
    parts = [_block_votes(block) for block in preferences.blocks if block.assessors.size > 1]
    none = np.zeros(0, dtype=np.int64)
    item, assessor, query, sign, count = ([part[i] for part in parts] or [none] for i in range(5))
    starts = np.cumsum([0, *(each.size for each in count)])
    items = [each + start for each, start in zip(item, starts, strict=False)]
    return _Votes(
        np.concatenate(items),
        np.concatenate(assessor),
        np.concatenate(query),
        np.concatenate(sign) > 0,
        np.concatenate(count),
    )


def _block_votes(block: QueryVotes) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return item, assessor, query and sign of the strict votes, and the number of equal items."""
    signs = (block.votes == BETTER).astype(np.int8) - (block.votes == WORSE).astype(np.int8)
    signs = signs[:, (signs != 0).sum(axis=0) > 1]
    count = np.ones(signs.shape[1], dtype=np.int64)
    if block.assessors.size <= MOST_COLLAPSED and signs.size:
        first = signs[np.argmax(signs != 0, axis=0), np.arange(signs.shape[1])]
        signs, count = np.unique(signs * first, axis=1, return_counts=True)
    row, item = np.nonzero(signs)
    query = np.full(row.size, block.query, dtype=np.int64)
    return item, block.assessors[row], query, signs[row, item].astype(np.int64), count


def _patterns(votes: _Votes, n_assessors: int) -> _Votes:
    """Return the votes with items of all queries counted once that the same people voted alike."""
    if n_assessors > MOST_COLLAPSED:
        return votes
    signs = np.zeros((n_assessors, votes.count.size), dtype=np.int8)
    signs[votes.assessor, votes.item] = np.where(votes.plus, 1, -1)
    signs, owner = np.unique(signs, axis=1, return_inverse=True)
    assessor, item = np.nonzero(signs)
    count = np.bincount(owner.ravel(), votes.count).astype(np.int64)
    return _Votes(item, assessor, np.zeros_like(item), signs[assessor, item] > 0, count)


@cache
def _difficulty() -> tuple[FloatArray, FloatArray]:
    """Return distance and probability of every class of difficulty, (levels,) each.

    Gauss-Legendre in the root of the quantile: many classes lie among the closest pairs. Careful
    assessors err on these alone, and together; with equal classes such errors look like the truth.
    """
    node, weight = np.polynomial.legendre.leggauss(LEVELS)
    root = (node + 1) / 2
    return stats.halfnorm.ppf(root**2), weight * root


@cache
def _wrong() -> FloatArray:
    """Return the log probability of a right and of a wrong answer, (gammas, 2, levels, grid)."""
    distance, weight = _difficulty()
    steepness = np.sinh(np.linspace(-14, 14, 4001))
    tables = []
    for gamma in GAMMAS:
        worth = distance**gamma
        mean = special.ndtr(-np.outer(steepness, worth)) @ weight
        chosen = np.interp(-GRID, -mean, steepness)
        wrong = np.clip(special.ndtr(-np.outer(worth, chosen)), LEAST_WRONG, 1 - LEAST_WRONG)
        tables.append((np.log1p(-wrong), np.log(wrong)))
    return np.array(tables)


def _likelihood(votes: _Votes, rates: IntArray, gamma: int) -> FloatArray:
    """Return the log-likelihood of every item by truth and level, (2 levels, items)."""
    n = votes.count.size
    table = _wrong()[gamma][:, :, rates]
    found = np.empty((2 * LEVELS, n))
    for level in range(LEVELS):
        right, wrong = table[0, level][votes.assessor], table[1, level][votes.assessor]
        found[level] = np.bincount(votes.item, np.where(votes.plus, right, wrong), n)
        found[LEVELS + level] = np.bincount(votes.item, np.where(votes.plus, wrong, right), n)
    return found + np.log(np.tile(_difficulty()[1], 2))[:, None]


def _chances(found: FloatArray, count: IntArray) -> tuple[FloatArray, float]:
    """Return the probability of truth and level of every item, and the log evidence."""
    most = found.max(axis=0)
    chances = np.exp(found - most)
    total = chances.sum(axis=0)
    return chances / total, float((np.log(total) + most) @ count)


class _Sampler:
    """State of the chain: the rate of every assessor, as index of the grid, and gamma.

    With few votes the rates are drawn with truth and difficulty summed over, one assessor after
    the other. With many these are drawn too, which is faster but takes more sweeps to mix.
    """

    def __init__(self, votes: _Votes, n_assessors: int, rng: np.random.Generator) -> None:
        self.votes, self.n_assessors, self.rng = votes, n_assessors, rng
        self.population = Population(rng)
        self.rates = np.full(n_assessors, int(np.searchsorted(GRID, 0.2)))
        self.gamma, self.effect = int(np.argmax(GAMMA_PRIOR)), 1.0
        self.active = np.bincount(votes.assessor, minlength=n_assessors) > 0
        rows, shape = np.arange(votes.item.size), (n_assessors, votes.item.size)
        self._owner = sparse.csr_array((np.ones(rows.size), (votes.assessor, rows)), shape=shape)
        self._swept = 0

    def sweep(self) -> IntArray:
        """Draw gamma and all rates, which are returned, and their common prior."""
        found = self._draw_gamma(_likelihood(self.votes, self.rates, self.gamma))
        if self.votes.item.size <= MOST_SUMMED:
            self._draw_each(found)
        else:
            counts = self._draw_items(_chances(found, self.votes.count)[0])
            table = _wrong()[self.gamma]
            known = counts[0] @ table[0] + counts[1] @ table[1]
            self.rates = self.population.draw_rates(known / self.effect)
        self.population.update(self.rates[self.active])
        return self.rates.copy()

    def _draw_gamma(self, current: FloatArray) -> FloatArray:
        """Take a Metropolis step on gamma now and then; return the log-likelihood of the items."""
        self._swept += 1
        other = self.gamma + int(self.rng.integers(-GAMMA_STEP, GAMMA_STEP + 1))
        if self._swept % GAMMA_EVERY or not 0 <= other < GAMMAS.size:
            return current
        tried = _likelihood(self.votes, self.rates, other)
        gain = _chances(tried, self.votes.count)[1] - _chances(current, self.votes.count)[1]
        prior = GAMMA_PRIOR[other] - GAMMA_PRIOR[self.gamma]
        if np.log(self.rng.random()) < gain / self.effect + prior:
            self.gamma = other
            return tried
        return current

    def _draw_each(self, worths: FloatArray) -> None:
        """Draw the rate of one assessor after the other, given those of the others."""
        votes, table = self.votes, _wrong()[self.gamma]
        first = np.concatenate([table[0], table[1]])  # by truth and level: of a vote for the first
        second = np.concatenate([table[1], table[0]])
        likelihood = np.stack([np.exp(second), np.exp(first)])
        for a in np.flatnonzero(self.active).tolist():
            rows = self._owner.indices[self._owner.indptr[a] : self._owner.indptr[a + 1]]
            item, plus = votes.item[rows], votes.plus[rows]
            own = np.where(plus, first[:, [self.rates[a]]], second[:, [self.rates[a]]])
            others = worths[:, item] - own
            weight = np.exp(others - others.max(axis=0)).T
            chance = np.where(plus[:, None], weight @ likelihood[1], weight @ likelihood[0])
            known = votes.count[item] @ np.log(chance)
            self.rates[a] = self.population.draw_rate(known / self.effect)
            now = np.where(plus, first[:, [self.rates[a]]], second[:, [self.rates[a]]])
            worths[:, item] = others + now

    def _draw_items(self, chances: FloatArray) -> FloatArray:
        """Draw truth and level of every item.

        Returns the number of right and wrong votes, (2, assessors, levels); it varies about its
        expectation as much as that of as many fewer items as the design effect tells.
        """
        votes = self.votes
        drawn = self.rng.multinomial(votes.count, chances.T)
        expected = chances.T * votes.count[:, None]
        spread = (expected + np.sqrt(self.effect) * (drawn - expected))[votes.item]
        better, worse = spread[:, :LEVELS], spread[:, LEVELS:]
        right = np.where(votes.plus[:, None], better, worse)
        wrong = np.where(votes.plus[:, None], worse, better)
        return np.stack([self._owner @ right, self._owner @ wrong])


def _design_effect(
    votes: _Votes, rates: IntArray, gamma: int, n_queries: int, level: float
) -> float:
    """Return how much more scores vary between queries than those of independent answers.

    The score is the derivative of an item's log-likelihood by the log-odds of a rate. At least 1
    before it is widened for few queries, and 1 where nobody answered two queries. The variation
    is pooled over people, so each adds their queries less one to its degrees of freedom.
    """
    chances = _chances(_likelihood(votes, rates, gamma), votes.count)[0].T[votes.item]
    right, wrong = np.gradient(_wrong()[gamma], LOGITS, axis=-1)[:, :, rates[votes.assessor]]
    better, worse = chances[:, :LEVELS].T, chances[:, LEVELS:].T
    first, second = (better * right + worse * wrong), (better * wrong + worse * right)
    score = np.where(votes.plus, first, second).sum(axis=0)
    count = votes.count[votes.item].astype(float)
    cells, cell = np.unique(votes.assessor * n_queries + votes.query, return_inverse=True)
    who = cells // n_queries
    size, sums = np.bincount(cell, count), np.bincount(cell, count * score)
    squares = np.bincount(cell, count * score**2)
    share = size / np.bincount(who, size)[who]
    several = np.bincount(who)[who] > 1
    seen = ((sums - share * np.bincount(who, sums)[who]) ** 2)[several].sum()
    expected = (squares * (1 - share))[several].sum()
    if not expected > 0:
        return 1.0
    freedom = max(cells.size - np.unique(who).size, 1)
    wider = stats.t.ppf((1 + level) / 2, freedom) / stats.norm.ppf((1 + level) / 2)
    return max(1.0, float(seen / expected)) * float(wider) ** 2
