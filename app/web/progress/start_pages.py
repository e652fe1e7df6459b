"""Where people start: administrators on a dashboard, researchers on results, assessors on work."""

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import User
from topkapi.app.db.queries.studies.studies import studies_with_counts
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.demo import load_demo
from topkapi.app.services.jobs.refreshing import active_job, is_due, refresh
from topkapi.app.services.results.stored import is_current, stored_result
from topkapi.app.services.state.dashboard import dashboard
from topkapi.app.services.state.study import agreement_of
from topkapi.app.services.studies.records import listed_studies
from topkapi.app.web.access.deps import (
    AdminUser,
    CurrentUser,
    ResearcherUser,
    SessionDep,
    reader_id,
)
from topkapi.app.web.common.paging import PageNumber
from topkapi.app.web.common.templates import render
from topkapi.app.web.judging.queue_pages import show_queue
from topkapi.app.web.progress.views import ToolAgreementView
from topkapi.app.web.studies.views import StudiesView
from topkapi.app.web.studies.visit import ReaderVisit

router = APIRouter(include_in_schema=False)


@router.get("/")
def get_start(
    request: Request, session: SessionDep, user: CurrentUser, page: PageNumber = 1
) -> Response:
    """Show the start page of the person's role."""
    if user.role is Role.ADMIN:
        return _dashboard(request, session)
    if user.role is Role.RESEARCHER:
        return _results(request, session, user)
    return show_queue(request, session, user, page)


@router.get("/results")
def get_results(request: Request, session: SessionDep, user: ResearcherUser) -> Response:
    """List the results of every study that the person may read."""
    return _results(request, session, user)


@router.get("/dashboard/{slug}/agreement")
def get_agreement(visit: ReaderVisit) -> Response:
    """Show the latest agreement that was computed; the dashboard loads it after itself."""
    session, study = visit.session, visit.study
    stored = stored_result(session, study.id, "report", "agreement")
    found = agreement_of(session, study)
    is_active = active_job(session, study.id, "report") is not None
    is_outdated = stored is None or not is_current(session, study.slug, stored)
    view = ToolAgreementView(
        slug=study.slug,
        tools=found.tools,
        why=found.why,
        at=stored.at if stored else None,
        is_computing=is_active,
        is_due=not is_active and is_outdated and is_due(session, study.id, "report"),
    )
    return visit.show("progress/_agreement.html", view)


@router.post("/dashboard/{slug}/agreement")
def post_agreement(visit: ReaderVisit) -> Response:
    """Start to compute the agreement, if it is outdated."""
    refresh(visit.session, visit.study, "report")
    return visit.to("get_agreement")


@router.post("/demo")
def post_demo(request: Request, session: SessionDep, _user: AdminUser) -> Response:
    """Load the demo study on a server without studies."""
    if studies_with_counts(session):
        raise Conflict("You can load the demo here only while there are no studies.")
    load_demo(session)
    return RedirectResponse(str(request.app.url_path_for("get_start")), status_code=303)


def _dashboard(request: Request, session: Session) -> Response:
    seen = dashboard(session, request.app.state.snapshots)
    return render(request, "progress/dashboard.html", seen)


def _results(request: Request, session: Session, user: User) -> Response:
    lines = listed_studies(session, reader_id(user))
    return render(request, "progress/results.html", StudiesView(lines, may_change=False))
