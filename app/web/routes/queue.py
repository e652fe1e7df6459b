"""The assessor's queue."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.services.queue import queue_of_user
from app.web.deps import CurrentUser, SessionDep
from app.web.pages import render
from app.web.views import QueueView

router = APIRouter(include_in_schema=False)


@router.get("/")
def get_queue(request: Request, session: SessionDep, user: CurrentUser) -> Response:
    """All work of the person, and one button to go on."""
    return render(request, "queue/page.html", QueueView(queue_of_user(session, user.id)))
