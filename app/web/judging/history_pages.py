"""The person's own past answers of a query, as a page and through the API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.sessions import answer_name
from topkapi.app.services.judging.history import History, PastAnswer, history_of
from topkapi.app.web.access.deps import ApiUser, CurrentUser, RowId, SessionDep
from topkapi.app.web.common.paging import Choices, PageNumber, Paging, offset_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.pages.open_pages import Opener, OpenPage, opener_of

router = APIRouter(include_in_schema=False)
api_router = APIRouter(prefix="/api/v1/assignments/{assignment_id}", tags=["judging"])
SIZE = 200
_CHOSEN = {"left": "left", "left_much": "left", "right": "right", "right_much": "right"}


@dataclass(frozen=True, slots=True)
class PastAnswerView:
    """A past answer; ``chosen`` is the side that it prefers, if any."""

    past: PastAnswer
    name: str
    chosen: str
    left: Sequence[OpenPage]
    right: Sequence[OpenPage]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """A page of the past answers of a query, newest first."""

    history: History
    answers: Sequence[PastAnswerView]
    paging: Paging
    choices: Choices


class PastAnswerOut(BaseModel):
    """An effective answer; ``left`` and ``right`` are ids of pages, best first in lists."""

    number: int
    position: int
    answer: str
    left: list[str]
    right: list[str]
    note: str
    active_ms: int
    at: datetime
    check: bool


@router.get("/assignments/{assignment_id}/history")
def get_history(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    page: PageNumber = 1,
) -> Response:
    """Show the person's own answers so far, as a page or in a dialog; they open read-only."""
    live = request.app.state.live
    history = history_of(session, live, assignment_id=assignment_id, user_id=user.id)
    opened = opener_of(request, history.state)
    paging = Paging(page, SIZE, len(history.answers))
    shown = history.answers[offset_of(paging.number, SIZE) : paging.last]
    answers = [_view(past, history.state.tool, opened) for past in shown]
    view = HistoryView(history, answers, paging, Choices(request.url.path, {}))
    return render(request, "judging/history.html", view, fragment="judging/_history.html")


def _view(past: PastAnswer, tool: Tool, opened: Opener) -> PastAnswerView:
    return PastAnswerView(
        past=past,
        name=answer_name(tool, past.answer),
        chosen="" if tool is Tool.GRADES else _CHOSEN.get(past.answer, ""),
        left=[opened(number) for number in past.left],
        right=[opened(number) for number in past.right],
    )


@api_router.get("/history")
def get_api_history(
    request: Request, session: SessionDep, user: ApiUser, assignment_id: RowId
) -> list[PastAnswerOut]:
    """List my effective answers to a query, newest first."""
    live = request.app.state.live
    history = history_of(session, live, assignment_id=assignment_id, user_id=user.id)
    names = {number: head.name for number, head in history.state.documents.items()}
    return [
        PastAnswerOut(
            number=past.number,
            position=past.position,
            answer=past.answer,
            left=[names[number] for number in past.left],
            right=[names[number] for number in past.right],
            note=past.note,
            active_ms=past.active_ms,
            at=past.at,
            check=past.is_check,
        )
        for past in history.answers
    ]
