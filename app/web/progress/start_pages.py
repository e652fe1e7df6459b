"""Where people start: administrators on a dashboard, researchers on results, assessors on work."""

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from topkapi.app.db.models import User
from topkapi.app.db.queries.studies.studies import studies_with_counts
from topkapi.app.domain.enums import Role
from topkapi.app.services.jobs.stored import active_job, is_current, is_due, refresh, stored_result
from topkapi.app.services.progress.dashboard import dashboard
from topkapi.app.web.access.deps import CurrentUser, ResearcherUser, SessionDep, reader_id
from topkapi.app.web.common.templates import render
from topkapi.app.web.judging.queue_pages import PageNumber, show_queue
from topkapi.app.web.progress.views import DashboardView, ResultsView, ToolAgreementView
from topkapi.app.web.studies.pages import study_line
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
    is_active = active_job(session, study.id, "report") is not None
    is_outdated = stored is None or not is_current(session, study.slug, stored)
    view = ToolAgreementView(
        slug=study.slug,
        tools=stored.content if stored else (),
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


def _dashboard(request: Request, session: Session) -> Response:
    seen = dashboard(session, request.app.state.snapshots)
    return render(request, "progress/dashboard.html", DashboardView(seen))


def _results(request: Request, session: Session, user: User) -> Response:
    rows = studies_with_counts(session, reader_id=reader_id(user))
    lines = [study_line(session, *row) for row in rows]
    return render(request, "progress/results.html", ResultsView(lines))
