"""The assessor's queue."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from topkapi.app.services.judging.queue import queue_of_user
from topkapi.app.web.access.deps import CurrentUser, SessionDep
from topkapi.app.web.common.paging import LARGEST_PAGE, Choices, Paging
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import QueueView

router = APIRouter(include_in_schema=False)
SIZE = 100


@router.get("/")
def get_queue(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    page: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 1,
) -> Response:
    """Show the assignments of the person, page by page, with one button to continue."""
    queue = queue_of_user(session, user.id)
    paging = Paging(page, SIZE, len(queue.works))
    return render(request, "judging/queue.html", QueueView(queue, paging, Choices("/", {})))
