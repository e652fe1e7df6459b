"""Rank sets of systems from the answers of few people and of a machine: how often they hold.

`python -m bench.machines ranks` runs them.
"""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from topkapi.analysis.machines import powered_systems, win_shares
from topkapi.analysis.typing import FloatArray

STRENGTHS = (0.0, 0.0, 0.5, 1.0, 1.5)  # of systems; the first two are alike


def compared(values: FloatArray) -> dict[str, list[tuple[str, str, int]]]:
    """Return all comparisons of systems by their values (queries, systems), better above .3."""
    pairs = list(combinations(range(values.shape[1]), 2))
    return {
        f"q{query}": [
            (f"s{i}", f"s{j}", int(abs(row[i] - row[j]) > 0.3) * int(np.sign(row[i] - row[j])))
            for i, j in pairs
        ]
        for query, row in enumerate(values)
    }


def rank_coverage(
    correlation: float, labelled: int, runs: int, strengths: tuple[float, ...] = STRENGTHS
) -> dict[str, float]:
    """Return how often all rank sets hold the ranks, and how many ranks a system may have.

    The machine has another opinion of the best system, and judges four times as many queries.
    """
    truth = [1 + sum(other > mine for other in strengths) for mine in strengths]
    held, widths = np.zeros(2), np.zeros(2)
    for run in range(runs):
        rng = np.random.default_rng([11, labelled, run])
        liked = rng.normal(size=(5 * labelled, len(strengths)))
        other = rng.normal(size=liked.shape)
        mixed = correlation * liked + np.sqrt(1 - correlation**2) * other + np.array(strengths)
        mixed[:, -1] -= 1.0
        people = win_shares(compared(liked[:labelled] + np.array(strengths)))
        found = powered_systems(people, win_shares(compared(mixed)), drawn_at_random=True)
        for way in (0, 1):
            sets = {each.system: (each.ranks, each.people_ranks)[way] for each in found}
            ends = [(*sets[f"s{i}"], rank) for i, rank in enumerate(truth)]
            held[way] += all(first <= rank <= last for first, last, rank in ends)
            widths[way] += np.mean([last - first + 1 for first, last, _ in ends])
    return {
        "correlation": correlation,
        "labelled": labelled,
        "held": round(held[0] / runs, 3),
        "ranks": round(widths[0] / runs, 2),
        "held_people_alone": round(held[1] / runs, 3),
        "ranks_people_alone": round(widths[1] / runs, 2),
    }


def rank_lines(runs: int) -> Iterator[dict[str, float]]:
    """Yield the coverage of rank sets; also with all systems alike, where any order is chance."""
    for correlation, labelled in product((0.0, 0.7, 0.9), (10, 20, 50)):
        yield rank_coverage(correlation, labelled, runs)
    yield {"alike": 1} | rank_coverage(0.9, 20, runs, (0.0,) * 5)
