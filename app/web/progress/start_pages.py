"""Where people start: administrators on a dashboard, researchers on results, assessors on work."""

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from topkapi.app.db.models import User
from topkapi.app.db.queries.studies.studies import studies_with_counts
from topkapi.app.domain.enums import Role
from topkapi.app.services.progress.dashboard import dashboard
from topkapi.app.services.results.reports import ReportCache
from topkapi.app.web.access.deps import CurrentUser, ResearcherUser, SessionDep, StudyDep, reader_id
from topkapi.app.web.access.downloads import ExportSession
from topkapi.app.web.access.early_auth import EarlyResearcher
from topkapi.app.web.common.templates import render
from topkapi.app.web.judging.queue_pages import PageNumber, show_queue
from topkapi.app.web.progress.views import DashboardView, ResultsView, ToolAgreementView
from topkapi.app.web.studies.pages import study_line

router = APIRouter(include_in_schema=False)
LARGEST_REPORT = 500  # finished assignments; the agreement of a larger study is in its report


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
def get_agreement(
    request: Request, _user: EarlyResearcher, session: ExportSession, study: StudyDep
) -> Response:
    """Show the agreement of a study so far; the dashboard loads it after itself."""
    cache: ReportCache = request.app.state.reports
    found = cache.report(session, study.slug)
    tools = [
        (each.title, each.agreement.overall.value)
        for each in found.tools
        if each.agreement.overall.value is not None
    ]
    return render(request, "progress/_agreement.html", ToolAgreementView(study.slug, tools))


def _dashboard(request: Request, session: Session) -> Response:
    seen = dashboard(session, request.app.state.snapshots)
    return render(request, "progress/dashboard.html", DashboardView(seen, LARGEST_REPORT))


def _results(request: Request, session: Session, user: User) -> Response:
    rows = studies_with_counts(session, reader_id=reader_id(user))
    lines = [study_line(*row) for row in rows]
    return render(request, "progress/results.html", ResultsView(lines))
