"""Steering a running study: fill gaps, and rebalance unfinished work."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from topkapi.app.db.models import User
from topkapi.app.domain.errors import AppError, Conflict, Invalid, NotFound
from topkapi.app.services.assignments.gaps import fill_gaps
from topkapi.app.services.assignments.rebalancing import apply_rebalancing
from topkapi.app.web.access.deps import AdminUser, SessionDep, StudyDep
from topkapi.app.web.assignments.forms import PeopleForm, RebalanceForm
from topkapi.app.web.assignments.pages import done, view_after_refusal
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal

router = APIRouter(prefix="/studies/{slug}/assign", include_in_schema=False)
_REFUSALS = (Invalid, Conflict, NotFound)


@router.post("/gaps")
def post_gaps(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[PeopleForm, Form()],
) -> Response:
    """Assign the work that was withdrawn to those of these people who may take it."""
    try:
        with session.begin_nested():
            made = fill_gaps(session, study, form.people, actor_id=user.id)
    except _REFUSALS as refusal:
        return _refused(request, session, user, study.slug, form, refusal)
    return done(request, study.slug, len(made))


@router.post("/rebalance")
def post_rebalance(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[RebalanceForm, Form()],
) -> Response:
    """Move unfinished work as the plan that was shown says."""
    try:
        with session.begin_nested():
            made = apply_rebalancing(
                session, study, form.people, digest=form.digest, actor_id=user.id
            )
    except _REFUSALS as refusal:
        return _refused(request, session, user, study.slug, form, refusal)
    return done(request, study.slug, len(made))


def _refused(
    request: Request,
    session: Session,
    user: User,
    slug: str,
    form: PeopleForm,
    refusal: AppError,
) -> Response:
    view = view_after_refusal(session, slug, user, people=form.people)
    view = replace(view, refusal=Refusal.of(refusal))
    return render(request, "assignments/page.html", view, status=status_of(refusal))
