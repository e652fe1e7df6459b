"""The assessor's queue."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from topkapi.app.db.base import now
from topkapi.app.db.models import User
from topkapi.app.services.judging.queue import (
    DoneToday,
    Queue,
    QueueItem,
    done_today,
    queue_of_user,
)
from topkapi.app.services.judging.session_summary import Completion, completion_of
from topkapi.app.services.training.trainings import OpenTraining, open_trainings
from topkapi.app.web.access.deps import CurrentUser, SessionDep
from topkapi.app.web.common.paging import Choices, PageNumber, Paging, offset_of
from topkapi.app.web.common.templates import render

SIZE = 100
ZONE_COOKIE = "topkapi_zone"
_ZONE = re.compile(r"-?\d{1,3}")
_FARTHEST = 14 * 60


@dataclass(frozen=True, slots=True)
class QueueView:
    """The assessor's queue; the table shows one page of what is not shown above it.

    ``completion`` ends the part of a crowd worker who has finished everything; ``trainings`` has
    by slug the trainings that come first.
    """

    queue: Queue
    paging: Paging
    choices: Choices
    today: DoneToday
    completion: Completion | None = None
    trainings: Mapping[str, OpenTraining] = field(default_factory=dict)

    @property
    def studies(self) -> list[list[QueueItem]]:
        """The assignments on this page of the table, by study."""
        rows = [work for work in self.queue.by_study if work != self.queue.now]
        shown = rows[offset_of(self.paging.number, self.paging.size) : self.paging.last]
        return [list(works) for _, works in groupby(shown, key=lambda work: work.slug)]


router = APIRouter(include_in_schema=False)


@router.get("/queue")
def get_queue(
    request: Request, session: SessionDep, user: CurrentUser, page: PageNumber = 1
) -> Response:
    """Show the assignments of the person, page by page, with one button to continue."""
    return show_queue(request, session, user, page)


def show_queue(request: Request, session: Session, user: User, page: int) -> Response:
    """Render the queue of ``user``."""
    queue = queue_of_user(session, user.id)
    paging = Paging(page, SIZE, len(queue.works) - (queue.now is not None))
    today = done_today(session, user.id, zone_minutes=_zone_minutes(request), at=now())
    completion = None if queue.now else completion_of(session, user.id)
    trainings = open_trainings(session, user.id)
    choices = Choices(request.url.path, {})
    view = QueueView(queue, paging, choices, today, completion, trainings)
    return render(request, "judging/queue.html", view)


def _zone_minutes(request: Request) -> int:
    """Return the minutes east of Greenwich that the browser stored in a cookie, 0 at first."""
    found = _ZONE.fullmatch(request.cookies.get(ZONE_COOKIE, ""))
    minutes = int(found[0]) if found else 0
    return minutes if abs(minutes) <= _FARTHEST else 0
