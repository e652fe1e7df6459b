"""Plain counts, pair by pair, to hold the vectorised functions against."""

from collections import Counter, defaultdict
from itertools import combinations, permutations

import numpy as np

from topkapi.analysis.agreement import MISSING, Preferences, QueryVotes
from topkapi.analysis.typing import FloatArray

Unit = tuple[int, int, int]
SubmittedAnswer = dict[int, int]


def random_preferences(
    seed: int, assessors: int, queries: int, documents: int, missing: float = 0.3
) -> Preferences:
    """Draw votes that agree more than chance, with ties, gaps, and absent assessors."""
    rng = np.random.default_rng(seed)
    blocks = []
    for query in range(queries):
        present = np.flatnonzero(rng.random(assessors) < 0.8)
        first, second = np.triu_indices(documents, k=1)
        truth = rng.integers(0, 3, first.size)
        noise = rng.integers(0, 3, (present.size, first.size))
        votes = np.where(rng.random(noise.shape) < 0.6, truth, noise)
        votes[rng.random(votes.shape) < missing] = MISSING
        blocks.append(QueryVotes(query, present, first, second, votes.astype(np.int8)))
    return Preferences(assessors, queries, tuple(blocks))


def units(preferences: Preferences) -> dict[Unit, SubmittedAnswer]:
    """Map (query, first, second) to assessor to vote."""
    said: dict[Unit, SubmittedAnswer] = defaultdict(dict)
    for block in preferences.blocks:
        for row, assessor in enumerate(block.assessors.tolist()):
            for column in range(block.first.size):
                vote = int(block.votes[row, column])
                if vote != MISSING:
                    unit = (block.query, int(block.first[column]), int(block.second[column]))
                    said[unit][assessor] = vote
    return said


def tables(preferences: Preferences) -> dict[tuple[int, int, int], FloatArray]:
    """Map (query, assessor, assessor) to 3 x 3 counts."""
    counts: dict[tuple[int, int, int], FloatArray] = defaultdict(lambda: np.zeros((3, 3)))
    for (query, _, _), votes in units(preferences).items():
        for one, two in combinations(sorted(votes), 2):
            counts[query, one, two][votes[one], votes[two]] += 1
    return counts


def ratings(preferences: Preferences, wanted: set[int] | None = None) -> list[Counter[int]]:
    """Count the votes of each judged pair by category."""
    chosen = units(preferences).items()
    return [Counter(v.values()) for u, v in chosen if wanted is None or u[0] in wanted]


def shares(rated: list[Counter[int]]) -> list[float]:
    """Return the mean share of each category, with either document of a pair as A."""
    either = [*rated, *(Counter({2 - code: n for code, n in c.items()}) for c in rated)]
    return [float(np.mean([c[code] / c.total() for c in either])) for code in range(3)]


def beyond(chance: float, rated: list[Counter[int]]) -> float:
    """Return how far two votes on a pair agree beyond ``chance``."""
    several = [c for c in rated if c.total() > 1]
    observed = np.mean(
        [sum(x * (x - 1) for x in c.values()) / (c.total() * (c.total() - 1)) for c in several]
    )
    return float((observed - chance) / (1 - chance))


def fleiss(rated: list[Counter[int]]) -> float:
    return beyond(sum(share**2 for share in shares(rated)), rated)


def ac1(rated: list[Counter[int]]) -> float:
    return beyond(sum(share * (1 - share) for share in shares(rated)) / 2, rated)


def alpha(rated: list[Counter[int]]) -> float:
    """Divide disagreement within units by that between any two values, all pairs listed.

    Values are counted with either document of a pair as A, half each.
    """
    within, values = 0.0, []
    for counts in (c for c in rated if c.total() > 1):
        unit = list(counts.elements())
        values += unit
        within += sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1)
    count = Counter(values)
    by_value = [(count[value] + count[2 - value]) / 2 for value in range(3)]
    between = sum(by_value[a] * by_value[b] for a, b in permutations(range(3), 2))
    n = len(values)
    return 1 - (within / n) / (between / (n * (n - 1)))
