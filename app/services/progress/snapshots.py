"""Sums over a study's assignments; those of a large study are cached for some seconds.

A dashboard polls every five seconds, and again with every click. Summing up hundreds of thousands
of assignments takes a second, so the sums of large studies are cached, for a time proportional to
their cost. Those of small ones never are, however long a busy machine took for them. How often
people chose the left page is counted over the whole log, and over a long one once a minute.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Query, Study, User
from topkapi.app.db.queries import progress as queries
from topkapi.app.db.queries.machines import by_people
from topkapi.app.db.queries.progress import Sums, rows_of_study, sum_columns
from topkapi.app.domain.enums import Tool
from topkapi.app.services.promise import Missing, missing_work

SECONDS = 5.0  # polling interval of the dashboard
PATIENCE = 20  # sums take at most 1/PATIENCE of a process's time
LARGE = 20_000  # assignments, about 0.1 s; sums of fewer are not cached
CAPACITY = 32  # studies
LONG, MINUTE = 2_000, 60.0  # answers; seconds
Sides = Mapping[int, tuple[int, int]]  # answers left and right, by person


class Snapshot:
    """Sums over a study by person and tool; sums by query are computed on demand."""

    def __init__(
        self, study_id: int, people: Sequence[tuple[int, Tool, Sums]], kept: "Snapshots"
    ) -> None:
        self.people = people
        self._kept = kept
        self._study_id = study_id
        self._lock = Lock()
        self._queries: Mapping[int, Mapping[Tool, Sums]] | None = None
        self._latest: Sequence[Any] | None = None
        self._missing: Missing | None = None

    def latest(self, session: Session, limit: int) -> Sequence[Any]:
        """Return the latest finished assignments: person, query, tool, answers, time."""
        with self._lock:
            if self._latest is None:
                self._latest = _latest_finished(session, self._study_id, limit)
            return self._latest

    def missing(self, session: Session, study: Study) -> Missing:
        """Return how many promised assignments nobody has, per tool and query."""
        with self._lock:
            if self._missing is None:
                self._missing = missing_work(session, study)
            return self._missing

    def queries(self, session: Session) -> Mapping[int, Mapping[Tool, Sums]]:
        """Return the sums of every query that has assignments, by tool."""
        with self._lock:
            if self._queries is None:
                self._queries = queries.by_query(session, self._study_id)
            return self._queries

    def sides(self, session: Session) -> Sides:
        """Return how often each person chose the left and the right page of a pair."""
        answered = sum(sums.answered for _, _, sums in self.people)
        return self._kept.sides(session, self._study_id, answered)


class Snapshots:
    """The latest snapshots of a process; concurrent requests for the same study share one."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, large: int = LARGE, long: int = LONG
    ) -> None:
        self._clock, self._large, self._long = clock, large, long
        self._sides: OrderedDict[int, tuple[float, Sides]] = OrderedDict()
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
            snapshot = Snapshot(study_id, _by_person(session, study_id), self)
            took = self._clock() - begin
            with self._lock:
                self._kept.pop(study_id, None)
                if sum(sums.assigned for _, _, sums in snapshot.people) >= self._large:
                    self._kept[study_id] = (begin + max(SECONDS, PATIENCE * took), snapshot)
                    while len(self._kept) > CAPACITY:
                        self._kept.popitem(last=False)
            return snapshot

    def sides(self, session: Session, study_id: int, answered: int) -> Sides:
        """Return how often each person chose each side; of a long log, up to a minute ago."""
        kept = self._sides.get(study_id)
        if kept is not None and answered >= self._long and self._clock() < kept[0]:
            return kept[1]
        sides = queries.sides_per_person(session, study_id)
        if answered >= self._long:
            with self._lock:
                self._sides.pop(study_id, None)
                self._sides[study_id] = (self._clock() + MINUTE, sides)
                while len(self._sides) > CAPACITY:
                    self._sides.popitem(last=False)
        return sides


def _by_person(session: Session, study_id: int) -> list[tuple[int, Tool, Sums]]:
    """Aggregate the study's work per person and tool, in one pass over its assignments."""
    keys = Assignment.user_id, Assignment.tool
    statement = rows_of_study(select(*keys, *sum_columns()), study_id).group_by(*keys)
    return [(row[0], row[1], Sums(*row[2:])) for row in session.execute(statement)]


def _latest_finished(
    session: Session, study_id: int, limit: int
) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the work finished last: person, query, tool, answers, finish."""
    statement = (
        select(
            User.name,
            Query.external_id,
            Assignment.tool,
            Assignment.answered,
            Assignment.finished_at,
        )
        .join(Query, Query.id == Assignment.query_id)
        .join(User, User.id == Assignment.user_id)
        .where(Assignment.id.in_(_last_ids(study_id, limit)))
        .order_by(Assignment.finished_at.desc(), Assignment.id.desc())
    )
    return session.execute(statement).all()


def _last_ids(study_id: int, limit: int) -> Select[int]:
    """Select the latest finished ids before any join, so that only finished rows are read."""
    mine = select(Query.id).where(Query.study_id == study_id)
    return (
        select(Assignment.id)
        .where(
            Assignment.query_id.in_(mine),
            Assignment.withdrawn_at.is_(None),
            Assignment.finished_at.is_not(None),
            by_people(),
        )
        .order_by(Assignment.finished_at.desc(), Assignment.id.desc())
        .limit(limit)
    )
