"""Adjudication: queries whose lists disagree, and who judges the pairs that decide."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from topkapi.app.domain.errors import AppError, Conflict, Invalid, NotFound
from topkapi.app.services.assignments.adjudication import (
    assign_adjudication,
    assign_proposals,
    disagreements,
)
from topkapi.app.services.studies.lifecycle import required_study
from topkapi.app.web.access.deps import Slug
from topkapi.app.web.access.downloads import ExportSession
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.assignments.forms import AdjudicationForm
from topkapi.app.web.assignments.views import AdjudicationView
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.visit import AdminVisit, Visit

router = APIRouter(prefix="/studies/{slug}/adjudication", include_in_schema=False)


@router.get("")
def get_adjudication(
    request: Request,
    user: EarlyAdmin,
    session: ExportSession,
    slug: Slug,
    done: Annotated[int, Query(ge=0, le=10_000)] = 0,
) -> Response:
    """List the queries whose finished lists disagree, most disagreeing first."""
    return _page(Visit(request, session, user, required_study(session, slug)), done=done)


@router.post("")
def post_adjudication(visit: AdminVisit, form: Annotated[AdjudicationForm, Form()]) -> Response:
    """Assign the open pairs of a query to one more person."""
    session, study = visit.session, visit.study
    try:
        with session.begin_nested():
            assign_adjudication(
                session, study, query=form.query, email=form.email, actor_id=visit.user.id
            )
    except (Invalid, Conflict, NotFound) as refusal:
        return _page(visit, refusal)
    return visit.to("get_adjudication", "?done=1")


@router.post("/all")
def post_adjudications(visit: AdminVisit) -> Response:
    """Assign all listed queries to the people proposed for them."""
    try:
        with visit.session.begin_nested():
            made = assign_proposals(visit.session, visit.study, actor_id=visit.user.id)
    except (Invalid, Conflict, NotFound) as refusal:
        return _page(visit, refusal)
    return visit.to("get_adjudication", f"?done={made}")


def _page(visit: Visit, refusal: AppError | None = None, *, done: int = 0) -> Response:
    found = disagreements(visit.session, visit.study)
    view = AdjudicationView(
        head=visit.head("adjudication"),
        queries=found.queries,
        total=found.total,
        done=done,
        refusal=Refusal.of(refusal),
    )
    return visit.show("assignments/adjudication.html", view, refusal)
