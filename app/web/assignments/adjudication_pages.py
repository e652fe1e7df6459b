"""Adjudication: queries whose lists disagree, and who judges the pairs that decide."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import User
from topkapi.app.domain.errors import AppError, Conflict, Invalid, NotFound
from topkapi.app.services.assignments.adjudication import (
    assign_adjudication,
    assign_proposals,
    disagreements,
)
from topkapi.app.services.studies import lifecycle
from topkapi.app.web.access.deps import AdminUser, SessionDep, Slug, StudyDep
from topkapi.app.web.access.downloads import ExportSession
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.assignments.forms import AdjudicationForm
from topkapi.app.web.assignments.views import AdjudicationView
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import PersonView, Refusal
from topkapi.app.web.studies.pages import study_head

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
    return _page(request, session, user, slug, done=done)


@router.post("")
def post_adjudication(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[AdjudicationForm, Form()],
) -> Response:
    """Assign the open pairs of a query to one more person."""
    try:
        with session.begin_nested():
            assign_adjudication(
                session, study, query=form.query, email=form.email, actor_id=user.id
            )
    except (Invalid, Conflict, NotFound) as refusal:
        return _page(request, session, user, study.slug, refusal=refusal)
    url = request.app.url_path_for("get_adjudication", slug=study.slug)
    return RedirectResponse(f"{url}?done=1", status_code=303)


@router.post("/all")
def post_adjudications(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep
) -> Response:
    """Assign all listed queries to the people proposed for them."""
    try:
        with session.begin_nested():
            made = assign_proposals(session, study, actor_id=user.id)
    except (Invalid, Conflict, NotFound) as refusal:
        return _page(request, session, user, study.slug, refusal=refusal)
    url = request.app.url_path_for("get_adjudication", slug=study.slug)
    return RedirectResponse(f"{url}?done={made}", status_code=303)


def _page(
    request: Request,
    session: Session,
    user: User | PersonView,
    slug: str,
    *,
    refusal: AppError | None = None,
    done: int = 0,
) -> Response:
    study = lifecycle.required_study(session, slug)
    found = disagreements(session, study)
    view = AdjudicationView(
        head=study_head(session, study, user, "adjudication"),
        queries=found.queries,
        total=found.total,
        done=done,
        refusal=Refusal.of(refusal) if refusal else None,
    )
    status = status_of(refusal) if refusal else 200
    return render(request, "assignments/adjudication.html", view, status=status)
