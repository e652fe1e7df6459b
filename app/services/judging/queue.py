"""The assessor's queue: begun, waiting and finished assignments, and the one to continue with."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Row
from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import queue as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.workload import TimeLeft, Work, time_left


class WorkState(StrEnum):
    """How far an assignment is, in the order of the queue: what is to be done comes first."""

    BEGUN = "begun"
    WAITING = "waiting"  # not begun
    WAITS_FOR_TEAM = "waits_for_team"
    FINISHED = "finished"

    @classmethod
    def of(
        cls, finished_at: datetime | None, last_entry_at: datetime | None, *, waits: bool
    ) -> "WorkState":
        """Return the state of an assignment; ``waits``: the others of its team have the rest."""
        if finished_at is not None:
            return cls.FINISHED
        if waits:
            return cls.WAITS_FOR_TEAM
        return cls.BEGUN if last_entry_at is not None else cls.WAITING


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One assignment as the queue shows it.

    ``team``: others judge the query, too, for one list. ``added`` pages have come since the last
    answer; until the next one the number of questions left is unknown.
    """

    assignment_id: int
    slug: str
    study: str
    query: str
    description: str
    tool: Tool
    state: WorkState
    answered: int
    expected_left: int | None
    active_ms: int
    last_entry_at: datetime | None
    team: bool
    added: int

    @property
    def share(self) -> float | None:
        """Fraction of the expected questions that are answered; None while it is unknown."""
        if self.state is WorkState.FINISHED:
            return 1.0
        if self.expected_left is None or self.answered + self.expected_left == 0:
            return 0.0 if self.answered == 0 else None
        return self.answered / (self.answered + self.expected_left)

    @property
    def ms_left(self) -> int | None:
        """Estimated time left at the current pace; None before five answers."""
        if self.expected_left is None or self.added or self.answered < 5 or self.active_ms == 0:
            return None
        return round(self.active_ms / self.answered * self.expected_left)


@dataclass(frozen=True, slots=True)
class Queue:
    """All assignments of a person, in the order of their states; begun ones latest first."""

    works: tuple[QueueItem, ...]

    @property
    def now(self) -> QueueItem | None:
        """The assignment to continue with: the latest begun one, or the first waiting one."""
        return self.next_after(None)

    @property
    def by_study(self) -> tuple[QueueItem, ...]:
        """The assignments, those of one study together; the study to continue with is first."""
        studies = list(dict.fromkeys(work.slug for work in self.works))
        return tuple(sorted(self.works, key=lambda work: studies.index(work.slug)))

    def next_after(self, assignment_id: int | None) -> QueueItem | None:
        """Return the assignment to continue with after this one."""
        todo = (work for work in self.works if work.state in (WorkState.BEGUN, WorkState.WAITING))
        return next((work for work in todo if work.assignment_id != assignment_id), None)

    @property
    def waits(self) -> QueueItem | None:
        """The first assignment whose last questions teammates have."""
        waiting = (work for work in self.works if work.state is WorkState.WAITS_FOR_TEAM)
        return next(waiting, None)

    @property
    def grown(self) -> int:
        """Number of assignments that got further pages since the last answer."""
        return sum(work.added > 0 for work in self.works)

    @property
    def time_left(self) -> TimeLeft:
        """Estimated time for all open work, at the person's pace."""
        return time_left(
            [
                Work(
                    tool=work.tool,
                    finished=work.state in (WorkState.FINISHED, WorkState.WAITS_FOR_TEAM),
                    answered=work.answered,
                    expected_left=work.expected_left,
                    active_ms=work.active_ms,
                )
                for work in self.works
            ]
        )

    @property
    def finished(self) -> int:
        """Number of finished assignments."""
        return sum(work.state is WorkState.FINISHED for work in self.works)


@dataclass(frozen=True, slots=True)
class DoneToday:
    """A person's work since midnight: answers that were not undone, active time, finished work."""

    answers: int
    active_ms: int
    finished: int


def done_today(session: Session, user_id: int, *, zone_minutes: int, at: datetime) -> DoneToday:
    """Return the person's work since midnight, ``zone_minutes`` east of Greenwich."""
    local = at + timedelta(minutes=zone_minutes)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight - timedelta(minutes=zone_minutes)
    return DoneToday(*queries.work_since(session, user_id, since))


_ORDER = {state: place for place, state in enumerate(WorkState)}


def queue_of_user(session: Session, user_id: int) -> Queue:
    """Return the queue, from the summary columns of each assignment; no log is read."""
    works = [_item(row) for row in queries.work_of_user(session, user_id)]
    works.sort(key=lambda work: (_ORDER[work.state], -_last_activity(work)))
    return Queue(tuple(works))


def _last_activity(work: QueueItem) -> float:
    return work.last_entry_at.timestamp() if work.last_entry_at else 0.0


def _item(row: Row[*tuple[Any, ...]]) -> QueueItem:
    return QueueItem(
        assignment_id=row.id,
        slug=row.slug,
        study=row.name,
        query=row.text,
        description=row.description,
        tool=row.tool,
        state=WorkState.of(row.finished_at, row.last_entry_at, waits=row.waits),
        answered=row.answered,
        expected_left=row.expected_left,
        active_ms=row.active_ms,
        last_entry_at=row.last_entry_at,
        team=row.team_waits is not None,
        added=row.added_pages,
    )
