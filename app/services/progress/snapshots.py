"""Sums of a study's work; those of a large one are kept for some seconds.

A dashboard asks every five seconds, and again with every click. To sum up hundreds of thousands of
pieces of work takes a second, so what took long is shared meanwhile, the longer the longer it took.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.queries import progress as queries
from topkapi.app.db.queries.progress import Sums
from topkapi.app.domain.enums import Tool

SECONDS = 5.0  # the pace of the dashboard
PATIENCE = 20  # at most one part in so many of a process's time goes into sums
WORTH = 0.1  # seconds that it took: what is quicker is looked at anew each time
CAPACITY = 32  # studies


class Snapshot:
    """The work of a study by person and tool, and by query if anybody wants that too."""

    def __init__(self, study_id: int, people: Sequence[tuple[int, Tool, Sums]]) -> None:
        self.people = people
        self._study_id = study_id
        self._lock = Lock()
        self._queries: Mapping[int, Sums] | None = None
        self._latest: Sequence[Any] | None = None

    def latest(self, session: Session, limit: int) -> Sequence[Any]:
        """What was finished last: person, query, tool, answers, when."""
        with self._lock:
            if self._latest is None:
                self._latest = queries.latest_finished(session, self._study_id, limit)
            return self._latest

    def queries(self, session: Session) -> Mapping[int, Sums]:
        """The sums of every query that has work."""
        with self._lock:
            if self._queries is None:
                self._queries = queries.by_query(session, self._study_id)
            return self._queries


class Snapshots:
    """The latest snapshots of a process; several who want the same wait for the first."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, worth: float = WORTH
    ) -> None:
        self._clock, self._worth = clock, worth
        self._lock = Lock()
        self._kept: OrderedDict[int, tuple[float, Snapshot]] = OrderedDict()
        self._making: dict[int, Lock] = {}

    def of(self, session: Session, study_id: int) -> Snapshot:
        """The study's work now, or as of a few seconds ago where it took long to sum up."""
        with self._lock:
            making = self._making.setdefault(study_id, Lock())
        with making:
            kept = self._kept.get(study_id)
            if kept is not None and self._clock() < kept[0]:
                return kept[1]
            begin = self._clock()
            found = Snapshot(study_id, queries.by_person(session, study_id))
            took = self._clock() - begin
            with self._lock:
                self._kept.pop(study_id, None)
                if took >= self._worth:
                    self._kept[study_id] = (begin + max(SECONDS, PATIENCE * took), found)
                    while len(self._kept) > CAPACITY:
                        self._kept.popitem(last=False)
            return found
