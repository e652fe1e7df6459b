"""Assignment of queries to assessors by rotating folds (Niu et al. 2012, section 4.1.1).

With m assessors the queries, in an order drawn from a seed, are split into m folds of nearly equal
size. In round r, assessor i gets fold (i + t r + j) mod m with the j-th of t tools. So no assessor
judges a query with two tools, every query is judged once per tool and round, and m // t rounds are
possible.

Read literally, the rule pairs the same people throughout: with four assessors and two tools only
0 and 2, and 1 and 3, judge a query with the same tool. So the later rounds of some queries use the
same offsets in another order (`offset_orders`). The number of such queries is the same in every
fold, so loads are those of the rule.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Generic, TypeVar

from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid

A = TypeVar("A", bound=Hashable)
Q = TypeVar("Q", bound=Hashable)
ADJUDICATION = -1  # round of adjudications: outside the rounds, but their people have met the query


@dataclass(frozen=True, slots=True)
class AssignmentSpec(Generic[A, Q]):
    """One assignment: who judges which query with which tool in which round."""

    assessor: A
    query: Q
    tool: Tool
    round: int


class RuleBroken(Conflict):
    """The rotation's rule forbids an assignment; the message gives the reason.

    ``share`` is the requested assignment, ``other`` the one that it conflicts with.
    """

    code = "rule_broken"

    def __init__(
        self,
        message: str,
        *,
        share: "AssignmentSpec[Any, Any] | None" = None,
        other: "AssignmentSpec[Any, Any] | None" = None,
    ) -> None:
        super().__init__(message)
        self.share = share
        self.other = other


def ruled_tools(tools: Iterable[Tool], *, lists_in_rotation: bool) -> tuple[Tool, ...]:
    """Return the tools that the rule applies to, in the order T1, T2, T3."""
    chosen = set(tools)
    return tuple(
        tool for tool in Tool if tool in chosen and (lists_in_rotation or tool is not Tool.LISTS)
    )


def legal_rounds(assessors: int, tools: int) -> int:
    """Return how many rounds are possible before an assessor would judge a query twice."""
    return assessors // tools if tools else 0


def folds(queries: Sequence[Q], count: int) -> list[Sequence[Q]]:
    """Split ``queries`` into ``count`` folds whose sizes differ by at most one."""
    n = len(queries)
    return [queries[fold * n // count : (fold + 1) * n // count] for fold in range(count)]


def rotation(
    queries: Sequence[Q],
    assessors: Sequence[A],
    tools: Sequence[Tool],
    *,
    rounds: int,
    seed: str,
) -> list[AssignmentSpec[A, Q]]:
    """Return the assignments of rounds 0 to ``rounds`` - 1; raise if they are impossible."""
    refuse_nonsense(queries, assessors, tools, rounds)
    refuse_too_few(assessors, tools, rounds)
    m, t = len(assessors), len(tools)
    parts = folds(shuffled(queries, seed, "rotation"), m)
    orders = offset_orders(m, t, min(len(part) for part in parts))
    equal = min(len(part) for part in parts) // len(orders)
    slots = [(number, slot) for number in range(rounds) for slot in range(t)]
    return [
        AssignmentSpec(assessors[index], query, tools[slot], number)
        for number, slot in slots
        for fold, part in enumerate(parts)
        for position, query in enumerate(part)
        for index in [(fold - _order(orders, equal, position)[t * number + slot]) % m]
    ]


def offset_orders(assessors: int, tools: int, smallest_fold: int) -> list[list[int]]:
    """Return the orders in which the queries of a fold use the offsets; the rule's comes first.

    Slot x = t r + j of round r and tool j has offset ``order[x]``. Every order starts with the
    rule's first round, so that only later rounds are mixed.
    """
    first, later = list(range(tools)), list(range(tools, assessors))
    if smallest_fold < 2 and tools == 2 and assessors % 2 == 0 and assessors % 3:
        later = [offset ^ 1 if offset & 2 else offset for offset in later]
    count = max(1, min(len(later), smallest_fold))
    return [first + later[shift:] + later[:shift] for shift in range(count)]


def _order(orders: Sequence[Sequence[int]], equal: int, position: int) -> Sequence[int]:
    """Return the order of the query at ``position`` in its fold.

    Every order but the first has ``equal`` queries in every fold, so all loads grow alike.
    """
    number = position // equal + 1 if equal else 0
    return orders[number if number < len(orders) else 0]


def refuse_nonsense(
    queries: Sequence[Q], assessors: Sequence[A], tools: Sequence[Tool], rounds: int
) -> None:
    """Raise if a name repeats, or if there are no tools or no rounds."""
    if not tools or len(set(tools)) != len(tools):
        raise Invalid("Name one or more tools, each once.", field="tools")
    if len(set(assessors)) != len(assessors):
        raise Invalid("An assessor is named twice.", field="assessors")
    if len(set(queries)) != len(queries):
        raise Invalid("A query is named twice.", field="queries")
    if rounds < 1:
        raise Invalid(f"rounds is {rounds}; it must be at least 1.", field="rounds")


def refuse_too_few(assessors: Sequence[A], tools: Sequence[Tool], rounds: int) -> None:
    """Raise if the assessors are too few for the tools and rounds."""
    m, most = len(assessors), legal_rounds(len(assessors), len(tools))
    if most == 0:
        raise Invalid(
            f"{_counted(m, 'assessor')} cannot serve {_counted(len(tools), 'tool')}: no "
            f"assessor may judge a query with two tools. Name at least {len(tools)} assessors.",
            field="assessors",
        )
    if rounds > most:
        raise Invalid(
            f"{_counted(m, 'assessor')} and {_counted(len(tools), 'tool')} allow "
            f"{_counted(most, 'round')}, not {rounds}. For {rounds} rounds name at least "
            f"{rounds * len(tools)} assessors.",
            field="rounds",
        )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def refuse_breach(
    share: AssignmentSpec[A, Q], taken: Iterable[AssignmentSpec[A, Q]], ruled: Sequence[Tool]
) -> None:
    """Raise if ``share`` breaks the rule, given the assignments ``taken``.

    Only the ``ruled`` tools exclude each other.
    """
    for other in taken:
        if other.query != share.query:
            continue
        mine = other.assessor == share.assessor
        if mine and other.tool is share.tool:
            raise RuleBroken(
                f"This assessor already has this query with the tool {share.tool.value!r}.",
                share=share,
                other=other,
            )
        if mine and other.tool in ruled and share.tool in ruled:
            raise RuleBroken(
                f"This assessor has this query with the tool {other.tool.value!r}; no assessor may "
                "judge a query with two tools.",
                share=share,
                other=other,
            )
        if share.round >= 0 and (other.tool, other.round) == (share.tool, share.round):
            raise RuleBroken(
                f"In round {share.round + 1} this query is already judged with the tool "
                f"{share.tool.value!r} by someone else; use another round.",
                share=share,
                other=other,
            )


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
