"""Sums over a study's assignments; those of a large study are cached for some seconds.

A dashboard polls every five seconds, and again with every click. Summing up hundreds of thousands
of assignments takes a second, so the sums of large studies are cached, for a time proportional to
their cost. Those of small ones never are, however long a busy machine took for them.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries import progress as queries
from topkapi.app.db.queries.progress import Sums
from topkapi.app.domain.enums import Tool
from topkapi.app.services.promise import Missing, missing_work

SECONDS = 5.0  # polling interval of the dashboard
PATIENCE = 20  # sums take at most 1/PATIENCE of a process's time
LARGE = 20_000  # assignments, about 0.1 s; sums of fewer are not cached
CAPACITY = 32  # studies


class Snapshot:
    """Sums over a study by person and tool; sums by query are computed on demand."""

    def __init__(self, study_id: int, people: Sequence[tuple[int, Tool, Sums]]) -> None:
        self.people = people
        self._study_id = study_id
        self._lock = Lock()
        self._queries: Mapping[int, Sums] | None = None
        self._latest: Sequence[Any] | None = None
        self._missing: Missing | None = None

    def latest(self, session: Session, limit: int) -> Sequence[Any]:
        """Return the latest finished assignments: person, query, tool, answers, time."""
        with self._lock:
            if self._latest is None:
                self._latest = queries.latest_finished(session, self._study_id, limit)
            return self._latest

    def missing(self, session: Session, study: Study) -> Missing:
        """Return how many promised assignments nobody has, per tool and query."""
        with self._lock:
            if self._missing is None:
                self._missing = missing_work(session, study)
            return self._missing

    def queries(self, session: Session) -> Mapping[int, Sums]:
        """Return the sums of every query that has assignments."""
        with self._lock:
            if self._queries is None:
                self._queries = queries.by_query(session, self._study_id)
            return self._queries


class Snapshots:
    """The latest snapshots of a process; concurrent requests for the same study share one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, large: int = LARGE) -> None:
        self._clock, self._large = clock, large
        self._lock = Lock()
        self._kept: OrderedDict[int, tuple[float, Snapshot]] = OrderedDict()
        self._making: dict[int, Lock] = {}

    def of(self, session: Session, study_id: int) -> Snapshot:
        """Return the current sums, or cached ones from some seconds ago if the study is large."""
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
                if sum(sums.assigned for _, _, sums in found.people) >= self._large:
                    self._kept[study_id] = (begin + max(SECONDS, PATIENCE * took), found)
                    while len(self._kept) > CAPACITY:
                        self._kept.popitem(last=False)
            return found
