"""Who judges the same queries with the same tool: what agreement can be estimated from."""

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import TypeVar

from topkapi.app.domain.assignment.rotation import AssignmentSpec
from topkapi.app.domain.enums import Tool

A = TypeVar("A", bound=Hashable)
Q = TypeVar("Q", bound=Hashable)


def pairs_of(work: Iterable[AssignmentSpec[A, Q]], tool: Tool) -> dict[A, set[A]]:
    """Return, for each person, everyone who judges one of their queries with ``tool``."""
    judges: dict[Q, set[A]] = {}
    met: dict[A, set[A]] = {}
    for each in work:
        if each.tool is tool:
            judges.setdefault(each.query, set()).add(each.assessor)
            met.setdefault(each.assessor, set())
    for people in judges.values():
        for one, other in combinations(people, 2):
            met[one].add(other)
            met[other].add(one)
    return met


def odd_ring_missing(met: dict[A, set[A]]) -> bool:
    """Whether some connected people form no odd ring, so that their errors cannot be told apart.

    Pairs without an odd ring can be split into two sides, each pair across (a bipartite graph).
    """
    side: dict[A, int] = {}
    return any(_two_sided(person, met, side) for person in met if person not in side)


def _two_sided(start: A, met: dict[A, set[A]], side: dict[A, int]) -> bool:
    """Whether the people connected with ``start`` form pairs, but no odd ring."""
    side[start] = 0
    waiting, two_sided = [start], bool(met[start])
    while waiting:
        person = waiting.pop()
        for other in met[person]:
            if other not in side:
                side[other] = 1 - side[person]
                waiting.append(other)
            elif side[other] == side[person]:
                two_sided = False
    return two_sided
