"""Work for people who come one by one through an entry link and take a few queries each."""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence, Set
from typing import TypeVar

from topkapi.app.domain.draws import draw_integer
from topkapi.app.domain.enums import Tool

Q = TypeVar("Q", bound=Hashable)
Slot = tuple[Q, Tool, int]


def next_work(
    queries: Sequence[Q],
    tools: Sequence[Tool],
    *,
    rounds: int,
    taken: Collection[Slot[Q]],
    met: Set[Q],
    count: int,
    seed: str,
) -> list[Slot[Q]]:
    """Return up to ``count`` free slots for one person, each of another query.

    Earlier rounds come first, so that every query is judged once before it is judged twice; the
    person's tools alternate. The order of queries differs between rounds, so that different people
    share queries. ``met`` are queries that the person has met already.
    """
    held = set(taken)
    free = [slot for slot in _slots(queries, tools, rounds) if slot not in held]
    ranks = {slot: draw_integer(seed, "crowd", slot[2], slot[0]) for slot in free}
    seen, used = set(met), Counter[Tool]()
    chosen: list[Slot[Q]] = []
    while len(chosen) < count:
        open_slots = [slot for slot in free if slot[0] not in seen]
        if not open_slots:
            break
        best = min(open_slots, key=lambda slot: (slot[2], used[slot[1]], ranks[slot]))
        chosen.append(best)
        seen.add(best[0])
        used[best[1]] += 1
    return chosen


def _slots(queries: Sequence[Q], tools: Sequence[Tool], rounds: int) -> list[Slot[Q]]:
    return [
        (query, tool, number) for number in range(rounds) for query in queries for tool in tools
    ]
