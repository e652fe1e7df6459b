"""Rotation of a study that grows while it runs.

Queries that nobody has been assigned form folds of their own and are assigned by the rule of
`rotation`: a new step. Folds of earlier steps are frozen. Their missing assignments (a further
round, or work that was withdrawn) go to the person whom the rule of their step names, or else to
people who have not met the query, as evenly as possible.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, TypeVar

from topkapi.app.domain.assignment.leveling import Holdings
from topkapi.app.domain.assignment.rotation import (
    AssignmentSpec,
    legal_rounds,
    refuse_nonsense,
    refuse_too_few,
    rotation,
)
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid

A = TypeVar("A", bound=Hashable)
Q = TypeVar("Q", bound=Hashable)


@dataclass(frozen=True, slots=True)
class GrowthStep(Generic[A, Q]):
    """Queries that were split into folds together, the people of the folds, and the seed."""

    people: Sequence[A]
    queries: Sequence[Q]
    seed: str


@dataclass(frozen=True, slots=True)
class Existing(Generic[A, Q]):
    """Assignments of the rotated tools, and who met a query: also through withdrawn work."""

    work: Set[AssignmentSpec[A, Q]]
    met: Mapping[Q, Set[A]]


class NobodyFree(Invalid):
    """Too few of the chosen people have not met ``query``; ``missing`` assignments remain."""

    def __init__(self, query: Hashable, missing: int, free: int) -> None:
        self.query, self.missing, self.free = query, missing, free
        super().__init__(
            f"The query {query!r} needs {missing} more, and only {free} of the chosen people "
            "can take it. Add assessors.",
            field="assessors",
        )


@dataclass(frozen=True, slots=True)
class Growth(Generic[A, Q]):
    """What is missing, what is added of it, and the step of the new queries, if there are any.

    ``short`` says why some of it stays open: too few people are free.
    """

    missing: Sequence[tuple[Q, Tool, int]]
    added: Sequence[AssignmentSpec[A, Q]]
    step: GrowthStep[A, Q] | None
    short: Invalid | None = None


def grow(
    queries: Sequence[Q],
    assessors: Sequence[A],
    tools: Sequence[Tool],
    *,
    rounds: int,
    seed: str,
    earlier: Sequence[GrowthStep[A, Q]],
    existing: Existing[A, Q],
    also: Iterable[tuple[Q, Tool, int]] = (),
    strict: bool = True,
) -> Growth[A, Q]:
    """Return the assignments missing from rounds 0 to ``rounds`` - 1; raise if impossible.

    ``also`` are further slots that somebody is to have. Unless ``strict``, some of the work may
    stay open because too few people are free.
    """
    refuse_nonsense(queries, assessors, tools, rounds)
    missing = _missing(queries, tools, rounds, existing.work, also)
    fresh = tuple(query for query in queries if not existing.met.get(query))
    new: list[AssignmentSpec[A, Q]] = []
    short: Invalid | None = None
    try:
        new = rotation(fresh, assessors, tools, rounds=rounds, seed=seed) if fresh else []
    except Invalid as refused:
        short = refused
    frozen = [slot for slot in missing if existing.met.get(slot[0])]
    ruled = list(_ruled(frozen, set(assessors), tools, rounds, earlier, existing))
    given = {(each.query, each.tool, each.round) for each in ruled}
    rest = [slot for slot in frozen if slot not in given]
    filled, unfilled = _fill_what_fits(rest, assessors, existing.met, [*new, *ruled])
    added = [*new, *ruled, *filled]
    short = short or unfilled
    try:
        if short and (strict or not added):
            refuse_too_few(assessors, tools, rounds)
    except Invalid as refused:
        short = refused
    if short and strict:
        raise short
    step = GrowthStep(tuple(assessors), fresh, seed) if new else None
    return Growth(missing, added, step, short)


def _missing(
    queries: Iterable[Q],
    tools: Sequence[Tool],
    rounds: int,
    work: Set[AssignmentSpec[A, Q]],
    also: Iterable[tuple[Q, Tool, int]],
) -> list[tuple[Q, Tool, int]]:
    held = {(each.query, each.tool, each.round) for each in work}
    wanted = (
        (query, tool, number) for number in range(rounds) for query in queries for tool in tools
    )
    return [slot for slot in dict.fromkeys([*wanted, *also]) if slot not in held]


def _fill_what_fits(
    missing: Sequence[tuple[Q, Tool, int]],
    assessors: Sequence[A],
    met: Mapping[Q, Set[A]],
    given: Sequence[AssignmentSpec[A, Q]],
) -> tuple[list[AssignmentSpec[A, Q]], NobodyFree | None]:
    """Fill the slots of the queries for which enough people are free; return the first other."""
    first = None
    while True:
        try:
            return fill(missing, assessors, met, given), first
        except NobodyFree as short:
            first = first or short
            missing = [slot for slot in missing if slot[0] != short.query]


def _ruled(
    missing: Iterable[tuple[Q, Tool, int]],
    chosen: Set[A],
    tools: Sequence[Tool],
    rounds: int,
    earlier: Sequence[GrowthStep[A, Q]],
    existing: Existing[A, Q],
) -> Iterable[AssignmentSpec[A, Q]]:
    """Yield the missing assignments that the rule of an earlier step gives to a free person."""
    open_slots = set(missing)
    met = {query: set(people) for query, people in existing.met.items()}
    for step in earlier:
        most = min(rounds, legal_rounds(len(step.people), len(tools)))
        if not most or {slot[0] for slot in open_slots}.isdisjoint(step.queries):
            continue
        for work in rotation(step.queries, step.people, tools, rounds=most, seed=step.seed):
            slot = work.query, work.tool, work.round
            if slot not in open_slots or work.assessor not in chosen:
                continue
            if work.assessor not in met.get(work.query, ()):
                open_slots.remove(slot)
                met.setdefault(work.query, set()).add(work.assessor)
                yield work


def fill(
    missing: Sequence[tuple[Q, Tool, int]],
    assessors: Sequence[A],
    met: Mapping[Q, Set[A]],
    given: Sequence[AssignmentSpec[A, Q]] = (),
) -> list[AssignmentSpec[A, Q]]:
    """Assign ``missing`` slots to people who have not met the query, as evenly as possible.

    ``given`` are the other assignments of the same step: they count as load and as met.
    """
    barred = {query: set(met.get(query, ())) for query, _, _ in missing}
    for work in given:
        barred.setdefault(work.query, set()).add(work.assessor)
    needed = Counter(query for query, _, _ in missing)
    holdings = Holdings(assessors, barred, Counter(work.assessor for work in given))
    for query, count in needed.items():
        free = holdings.free(query)
        if len(free) < count:
            raise NobodyFree(query, count, len(free))
        for person in free[:count]:
            holdings.give(person, query)
    holdings.level()
    return _labelled(missing, {query: holdings.holders(query) for query in needed})


def _labelled(
    missing: Sequence[tuple[Q, Tool, int]], holders: Mapping[Q, list[A]]
) -> list[AssignmentSpec[A, Q]]:
    """Give each slot one of the people of its query: the one with the fewest of this tool."""
    used: Counter[tuple[A, Tool]] = Counter()
    made = []
    for query, tool, number in missing:
        person = min(holders[query], key=lambda each: used[each, tool])
        holders[query].remove(person)
        used[person, tool] += 1
        made.append(AssignmentSpec(person, query, tool, number))
    return made


@dataclass(frozen=True, slots=True)
class Move(Generic[A, Q]):
    """An assignment that nobody has begun, and the person who takes it over."""

    work: AssignmentSpec[A, Q]
    taker: A


def rebalance(
    waiting: Sequence[AssignmentSpec[A, Q]],
    assessors: Sequence[A],
    met: Mapping[Q, Set[A]],
    begun: Mapping[A, int],
) -> list[Move[A, Q]]:
    """Return the moves that make the unfinished work of ``assessors`` as even as possible.

    ``waiting`` is the work that may be moved, ``begun`` the number of other unfinished assignments.
    """
    mine = [work for work in waiting if work.assessor in set(assessors)]
    holding: dict[Q, dict[A, AssignmentSpec[A, Q]]] = {}
    for work in mine:
        holding.setdefault(work.query, {})[work.assessor] = work
    barred = {query: set(met.get(query, ())) - set(held) for query, held in holding.items()}
    holdings = Holdings(assessors, barred, begun)
    for work in mine:
        holdings.give(work.assessor, work.query)
    holdings.level()
    return [
        move for query, held in holding.items() for move in _moves(held, holdings.holders(query))
    ]


def _moves(held: Mapping[A, AssignmentSpec[A, Q]], now: Sequence[A]) -> list[Move[A, Q]]:
    leaving = [work for person, work in held.items() if person not in now]
    takers = [person for person in now if person not in held]
    return [Move(work, taker) for work, taker in zip(leaving, takers, strict=True)]


def drawn(names: Iterable[str], most: int | None, seed: str) -> list[str]:
    """Return ``most`` names drawn at random, or all; a larger draw holds every smaller one.

    >>> few, more = drawn("abcdef", 2, "tulips"), drawn("fedcba", 4, "tulips")
    >>> more[:2] == few
    True
    """
    if most is None:
        return list(names)
    return sorted(names, key=lambda name: blake2b(f"{seed}/{name}".encode()).digest())[:most]
