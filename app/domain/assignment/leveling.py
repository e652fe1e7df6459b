"""Even loads: move queries between people until no exchange makes the loads more even.

People hold queries; a person may not take a query they hold or are barred from. A path passes one
query from each person on it to the next, so only the load of its two ends changes. If no path leads
from a person to one with at least two queries less, the loads are as even as possible: a smaller
maximum or a larger minimum does not exist (the loads form an M-convex set).
"""

from collections import deque
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import Generic, NamedTuple, TypeVar

A = TypeVar("A", bound=Hashable)
Q = TypeVar("Q", bound=Hashable)


class Handover(NamedTuple, Generic[A, Q]):
    """A query that passes from one person to another."""

    giver: A
    query: Q
    taker: A


class Holdings(Generic[A, Q]):
    """Who holds which query, who may not take it, and the load of each person.

    ``fixed`` is the load that cannot be moved. People outside ``people`` hold nothing.
    """

    def __init__(
        self, people: Sequence[A], barred: Mapping[Q, Set[A]], fixed: Mapping[A, int]
    ) -> None:
        self.people = tuple(people)
        self.loads = {person: fixed.get(person, 0) for person in people}
        self._barred = barred
        self._holders: dict[Q, set[A]] = {}
        self._held: dict[A, dict[Q, None]] = {person: {} for person in people}

    def may_take(self, person: A, query: Q) -> bool:
        """Whether ``person`` neither holds ``query`` nor is barred from it."""
        holders, barred = self._holders.get(query, ()), self._barred.get(query, ())
        return person not in holders and person not in barred

    def free(self, query: Q) -> list[A]:
        """Return the people who may take ``query``, least load first."""
        found = [person for person in self.people if self.may_take(person, query)]
        return sorted(found, key=self.loads.__getitem__)

    def holders(self, query: Q) -> list[A]:
        """Return the people who hold ``query``, in the order of `people`."""
        holding = self._holders.get(query, set())
        return [person for person in self.people if person in holding]

    def give(self, person: A, query: Q) -> None:
        """Let ``person`` hold ``query``."""
        self._holders.setdefault(query, set()).add(person)
        self._held[person][query] = None
        self.loads[person] += 1

    def level(self) -> None:
        """Make the loads as even as possible."""
        while path := self._improvement():
            for giver, query, taker in path:
                self._holders[query].remove(giver)
                del self._held[giver][query]
                self.loads[giver] -= 1
                self.give(taker, query)

    def _improvement(self) -> list[Handover[A, Q]] | None:
        least = min(self.loads.values(), default=0)
        for person in sorted(self.people, key=self.loads.__getitem__, reverse=True):
            if self.loads[person] < least + 2:
                return None
            if path := self._path(person):
                return path
        return None

    def _path(self, start: A) -> list[Handover[A, Q]] | None:
        """Return the shortest path from ``start`` to a person with at least two queries less.

        A shortest path hands no query over twice: the first giver could hand it to the last taker.
        """
        reached: dict[A, Handover[A, Q]] = {}
        waiting = deque([start])
        unseen = [each for each in sorted(self.people, key=self.loads.__getitem__) if each != start]
        while waiting and unseen:
            giver = waiting.popleft()
            for query in self._held[giver]:
                found = [taker for taker in unseen if self.may_take(taker, query)]
                for taker in found:
                    reached[taker] = Handover(giver, query, taker)
                    if self.loads[taker] <= self.loads[start] - 2:
                        return self._back(reached, start, taker)
                waiting.extend(found)
                unseen = [each for each in unseen if each not in reached]
        return None

    @staticmethod
    def _back(reached: Mapping[A, Handover[A, Q]], start: A, end: A) -> list[Handover[A, Q]]:
        path = [reached[end]]
        while path[-1].giver != start:
            path.append(reached[path[-1].giver])
        return path[::-1]
