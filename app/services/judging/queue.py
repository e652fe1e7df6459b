"""The assessor's queue: begun, waiting and finished assignments, and the one to continue with."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import queue as queries
from topkapi.app.domain.enums import Tool


class WorkState(StrEnum):
    """How far an assignment is."""

    BEGUN = "begun"
    WAITING = "waiting"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One assignment as the queue shows it."""

    assignment_id: int
    study: str
    query: str
    description: str
    tool: Tool
    state: WorkState
    answered: int
    expected_left: int | None
    active_ms: int
    last_entry_at: datetime | None

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
        if self.expected_left is None or self.answered < 5 or self.active_ms == 0:
            return None
        return round(self.active_ms / self.answered * self.expected_left)


@dataclass(frozen=True, slots=True)
class Queue:
    """All assignments of a person: begun (latest first), then waiting, then finished."""

    works: tuple[QueueItem, ...]

    @property
    def now(self) -> QueueItem | None:
        """The assignment to continue with: the latest begun one, or the first waiting one."""
        open_works = (work for work in self.works if work.state is not WorkState.FINISHED)
        return next(open_works, None)

    @property
    def finished(self) -> int:
        """Number of finished assignments."""
        return sum(work.state is WorkState.FINISHED for work in self.works)


_ORDER = {WorkState.BEGUN: 0, WorkState.WAITING: 1, WorkState.FINISHED: 2}


def queue_of_user(session: Session, user_id: int) -> Queue:
    """Return the queue, from the summary columns of each assignment; no log is read."""
    works = [_item(*row) for row in queries.work_of_user(session, user_id)]
    works.sort(key=lambda work: (_ORDER[work.state], -_last_activity(work)))
    return Queue(tuple(works))


def _last_activity(work: QueueItem) -> float:
    return work.last_entry_at.timestamp() if work.last_entry_at else 0.0


def _item(
    number: int,
    study: str,
    query: str,
    description: str,
    tool: Tool,
    answered: int,
    expected_left: int | None,
    active_ms: int,
    last_entry_at: datetime | None,
    finished_at: datetime | None,
) -> QueueItem:
    if finished_at is not None:
        state = WorkState.FINISHED
    else:
        state = WorkState.BEGUN if last_entry_at is not None else WorkState.WAITING
    return QueueItem(
        assignment_id=number,
        study=study,
        query=query,
        description=description,
        tool=tool,
        state=state,
        answered=answered,
        expected_left=expected_left,
        active_ms=active_ms,
        last_entry_at=last_entry_at,
    )
