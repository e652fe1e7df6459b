r"""Error rates from raw answers, with unknown truth and unknown difficulty of every pair.

Assessor a answers pair p wrongly with probability :math:`\Phi(-c_a t_p^\gamma)`: :math:`t_p` is
half-normal, as distances of normal worths are; :math:`\gamma = 0` makes all errors uniform
(Dawid and Skene's model with one parameter per assessor), :math:`\gamma = 1` is an assessor who
sees worths with normal noise. :math:`c_a` is fixed by the assessor's error rate :math:`e_a`, the
mean over :math:`t`. Truth, difficulty (in ``LEVELS`` classes), :math:`\gamma` and all rates are
drawn by Gibbs steps. Answers of one query may depend on each other: their log-likelihood is
divided by the design effect, how much more the wrong answers of an assessor vary between queries
than independent ones would.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats
from scipy.special import ndtr

from topkapi.analysis.agreement.preferences import BETTER, WORSE, Block, Preferences
from topkapi.analysis.agreement.reliability.identified import identified
from topkapi.analysis.agreement.reliability.rates import GRID, ErrorRates, Population
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

LEVELS = 6  # classes of difficulty
GAMMAS: FloatArray = np.linspace(0, 1, 5)
START, SETTLE = 60, 40  # sweeps before the design effect is measured, and after
LEAST_SWEEPS, SWEPT = 150, 15_000_000  # kept sweeps of large studies: votes x sweeps at most
GAMMA_EVERY = 4  # sweeps
MOST_COLLAPSED = 16  # assessors of a query up to which equal columns of votes are counted once
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
    """Estimate every assessor's share of wrong answers.

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
    sampler = _Sampler(votes, preferences.n_assessors, np.random.default_rng(seed))
    for _ in range(START):
        sampler.sweep()
    sampler.effect = sampler.design_effect(preferences.n_queries)
    if sweeps is None:
        sweeps = max(LEAST_SWEEPS, min(400, SWEPT // votes.item.size))
    draws = np.empty((sweeps, preferences.n_assessors))
    for number in range(-SETTLE, sweeps):
        sampler.sweep()
        if number >= 0:
            draws[number] = GRID[sampler.rates]
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


def _block_votes(block: Block) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
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


@cache
def _wrong() -> FloatArray:
    """Return the log probability of a right and of a wrong answer, (gammas, 2, levels, grid)."""
    distance = stats.halfnorm.ppf((np.arange(LEVELS) + 0.5) / LEVELS)
    steepness = np.linspace(-1, 1, 4001)
    steepness = 60 * np.sign(steepness) * steepness**2
    tables = []
    for gamma in GAMMAS:
        worth = distance**gamma
        mean = ndtr(-np.outer(steepness, worth)).mean(axis=1)
        chosen = np.interp(-GRID, -mean, steepness)
        wrong = np.clip(ndtr(-np.outer(worth, chosen)), LEAST_WRONG, 1 - LEAST_WRONG)
        tables.append((np.log1p(-wrong), np.log(wrong)))
    return np.array(tables)


class _Sampler:
    """State of the chain: the rate of every assessor, gamma, and the wrong votes of the sweep."""

    def __init__(self, votes: _Votes, n_assessors: int, rng: np.random.Generator) -> None:
        self.votes, self.n_assessors, self.rng = votes, n_assessors, rng
        self.population = Population(rng)
        self.rates = np.full(n_assessors, int(np.searchsorted(GRID, 0.2)))
        self.gamma, self.effect = GAMMAS.size // 2, 1.0
        self.active = np.bincount(votes.assessor, minlength=n_assessors) > 0
        self.wrong: FloatArray = np.zeros(votes.item.size)
        self._swept = 0

    def sweep(self) -> None:
        """Draw gamma, truth and difficulty of every item, then all rates and their prior."""
        chances = self._draw_gamma(self._likelihood(self.gamma))
        counts = self._draw_items(chances)
        table = _wrong()[self.gamma]
        known = counts[0] @ table[0] + counts[1] @ table[1]
        self.rates = self.population.draw_rates(known / self.effect)
        self.population.update(self.rates[self.active])

    def _likelihood(self, gamma: int) -> FloatArray:
        """Return the log-likelihood of every item by truth and level, (2 levels, items)."""
        votes, n = self.votes, self.votes.count.size
        table = _wrong()[gamma][:, :, self.rates]
        found = np.empty((2 * LEVELS, n))
        for level in range(LEVELS):
            right, wrong = table[0, level][votes.assessor], table[1, level][votes.assessor]
            found[level] = np.bincount(votes.item, np.where(votes.plus, right, wrong), n)
            found[LEVELS + level] = np.bincount(votes.item, np.where(votes.plus, wrong, right), n)
        return found

    def _draw_gamma(self, found: FloatArray) -> FloatArray:
        """Take a Metropolis step on gamma now and then; return the chances of truth and level."""
        chances, evidence = self._chances(found)
        self._swept += 1
        if self._swept % GAMMA_EVERY:
            return chances
        other = self.gamma + (1 if self.rng.random() < 0.5 else -1)
        if not 0 <= other < GAMMAS.size:
            return chances
        tried, proposed = self._chances(self._likelihood(other))
        if np.log(self.rng.random()) < (proposed - evidence) / self.effect:
            self.gamma = other
            return tried
        return chances

    def _chances(self, found: FloatArray) -> tuple[FloatArray, float]:
        most = found.max(axis=0)
        chances = np.exp(found - most)
        total = chances.sum(axis=0)
        return chances / total, float((np.log(total) + most) @ self.votes.count)

    def _draw_items(self, chances: FloatArray) -> FloatArray:
        """Draw truth and level of every item.

        Returns the number of right and wrong votes, (2, assessors, levels).
        """
        votes = self.votes
        if (votes.count == 1).all():
            sums = np.cumsum(chances, axis=0)
            drawn = (sums < self.rng.random(votes.count.size)).sum(axis=0)
            drawn = np.minimum(drawn, 2 * LEVELS - 1)[votes.item]
            wrong = votes.plus != (drawn < LEVELS)
            key = (wrong * self.n_assessors + votes.assessor) * LEVELS + drawn % LEVELS
            self.wrong = wrong.astype(float)
            counts = np.bincount(key, minlength=2 * self.n_assessors * LEVELS).astype(float)
            return counts.reshape(2, self.n_assessors, LEVELS)
        return self._draw_equal_items(chances)

    def _draw_equal_items(self, chances: FloatArray) -> FloatArray:
        votes = self.votes
        drawn = self.rng.multinomial(votes.count, chances.T)[votes.item]
        better, worse = drawn[:, :LEVELS], drawn[:, LEVELS:]
        right = np.where(votes.plus[:, None], better, worse)
        wrong = np.where(votes.plus[:, None], worse, better)
        self.wrong = wrong.sum(axis=1).astype(float)
        counts = np.zeros((2, self.n_assessors, LEVELS))
        np.add.at(counts[0], votes.assessor, right)
        np.add.at(counts[1], votes.assessor, wrong)
        return counts

    def design_effect(self, n_queries: int) -> float:
        """Return how much more wrong answers vary between queries than independent ones would.

        At least 1, and 1 where nobody answered two queries.
        """
        votes = self.votes
        cells, cell = np.unique(votes.assessor * n_queries + votes.query, return_inverse=True)
        who = cells // n_queries
        size = np.bincount(cell, votes.count[votes.item].astype(float))
        wrong = np.bincount(cell, self.wrong)
        total, missed = np.bincount(who, size), np.bincount(who, wrong)
        rate = (missed / np.maximum(total, 1))[who]
        several = np.bincount(who)[who] > 1
        seen = ((wrong - size * rate) ** 2)[several].sum()
        expected = (size * rate * (1 - rate) * (1 - size / total[who]))[several].sum()
        return max(1.0, float(seen / expected)) if expected > 0 else 1.0
