"""Flags: an assessor flags the question, an administrator handles the flag; pages and API."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from topkapi.app.domain.errors import Invalid
from topkapi.app.services import flags
from topkapi.app.services.flags import MAX_REASON, FlagRecord, FlagReport, StudyFlag
from topkapi.app.web.access.deps import (
    ApiAdmin,
    ApiResearcher,
    ApiUser,
    CurrentUser,
    RowId,
    SessionDep,
    StudyDep,
)
from topkapi.app.web.common import htmx
from topkapi.app.web.common.received import Body, Received
from topkapi.app.web.common.templates import render
from topkapi.app.web.judging.views import FlagFormView
from topkapi.app.web.studies.visit import AdminVisit

router = APIRouter(include_in_schema=False)
Name = Annotated[str, Field(max_length=300)]


class FlagForm(Received):
    """The reason, and the question as it was displayed."""

    reason: Annotated[str, Field(max_length=10_000)] = ""
    position: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    left: Name | None = None
    right: Name | None = None
    document: Name | None = None

    def to_report(self) -> FlagReport:
        """Convert the form to a report for the service."""
        names = (self.left, self.right, self.document)
        return FlagReport(self.reason, self.position, tuple(name for name in names if name))


@router.post("/assignments/{assignment_id}/flags")
def post_flag(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    form: Annotated[FlagForm, Form()],
) -> Response:
    """Flag the question for the administrators; nothing is answered."""
    error = None
    try:
        flags.flag_question(
            session,
            request.app.state.live,
            assignment_id=assignment_id,
            user_id=user.id,
            report=form.to_report(),
        )
    except Invalid as refusal:
        error = str(refusal)
    if not htmx.wants_fragment(request):
        address = request.app.url_path_for("get_work", assignment_id=assignment_id)
        return RedirectResponse(str(address), status_code=303)
    view = FlagFormView(assignment_id, form.reason if error else "", error, sent=error is None)
    return render(request, "judging/_flag.html", view)


@router.post("/studies/{slug}/flags/{flag_id}/handle")
def post_handle_flag(
    visit: AdminVisit, flag_id: RowId, reply: Annotated[str, Form(max_length=10_000)] = ""
) -> Response:
    """Mark a flag as handled, and reply to its author."""
    session, study, actor_id = visit.session, visit.study, visit.user.id
    flags.handle_flag(session, study, flag_id, handled=True, actor_id=actor_id, reply=reply)
    return visit.to("get_progress", "#flags")


@router.post("/studies/{slug}/flags/{flag_id}/reopen")
def post_reopen_flag(visit: AdminVisit, flag_id: RowId) -> Response:
    """Reopen a handled flag."""
    flags.handle_flag(visit.session, visit.study, flag_id, handled=False, actor_id=visit.user.id)
    return visit.to("get_progress", "#flags")


api_router = APIRouter(prefix="/api/v1", tags=["flags"])


class FlagIn(Body):
    """Why the question needs an administrator; without a position it is the open one."""

    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON)]
    position: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None


class ReplyIn(Body):
    """An answer to the assessor who flagged the question."""

    reply: Annotated[str, Field(max_length=MAX_REASON)] = ""


@api_router.post("/assignments/{assignment_id}/flags", status_code=201)
def post_api_flag(
    request: Request, session: SessionDep, user: ApiUser, assignment_id: RowId, body: FlagIn
) -> FlagRecord:
    """Flag a question for the administrators; nothing is answered."""
    return flags.flag_question(
        session,
        request.app.state.live,
        assignment_id=assignment_id,
        user_id=user.id,
        report=FlagReport(body.reason, body.position),
    )


@api_router.get("/studies/{slug}/flags")
def get_api_flags(
    session: SessionDep,
    _user: ApiResearcher,
    study: StudyDep,
    state: Literal["", "open", "handled"] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Sequence[StudyFlag]:
    """List the flags of a study: open ones first, then latest."""
    return flags.flags_of_study(session, study.id, limit=limit, state=state)


@api_router.post("/studies/{slug}/flags/{flag_id}/handle", status_code=204)
def post_api_handle(
    session: SessionDep,
    user: ApiAdmin,
    study: StudyDep,
    flag_id: RowId,
    body: ReplyIn | None = None,
) -> None:
    """Mark a flag as handled; the assessor reads the reply."""
    reply = body.reply if body else ""
    flags.handle_flag(session, study, flag_id, handled=True, actor_id=user.id, reply=reply)


@api_router.post("/studies/{slug}/flags/{flag_id}/reopen", status_code=204)
def post_api_reopen(session: SessionDep, user: ApiAdmin, study: StudyDep, flag_id: RowId) -> None:
    """Reopen a handled flag."""
    flags.handle_flag(session, study, flag_id, handled=False, actor_id=user.id)
