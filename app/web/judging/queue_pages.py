"""The assessor's queue."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from topkapi.app.db.models import User
from topkapi.app.services.judging.queue import queue_of_user
from topkapi.app.web.access.deps import CurrentUser, SessionDep
from topkapi.app.web.common.paging import LARGEST_PAGE, Choices, Paging
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import QueueView

router = APIRouter(include_in_schema=False)
SIZE = 100
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]


@router.get("/queue")
def get_queue(
    request: Request, session: SessionDep, user: CurrentUser, page: PageNumber = 1
) -> Response:
    """Show the assignments of the person, page by page, with one button to continue."""
    return show_queue(request, session, user, page)


def show_queue(request: Request, session: Session, user: User, page: int) -> Response:
    """Render the queue of ``user``."""
    queue = queue_of_user(session, user.id)
    paging = Paging(page, SIZE, len(queue.works))
    view = QueueView(queue, paging, Choices(request.url.path, {}))
    return render(request, "judging/queue.html", view)
