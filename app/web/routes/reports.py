"""The report of a study in the browser: the page, and its files."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from app.domain.errors import Invalid
from app.domain.study import StudySettings
from app.domain.words import Tool
from app.services import studies
from app.services.reports import ListReports, ReportCache, as_markup, lists_as_markup, zipped
from app.web.brief import ResearcherAtDoor
from app.web.downloads import ExportSession
from app.web.pages import render
from app.web.report_views import ListReportView, ReportView
from app.web.routes.admin.studies import study_head

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
Slug = Annotated[str, Path(max_length=100, pattern=r"^[^\x00]+$")]


@router.get("/report")
def get_report(
    request: Request,
    user: ResearcherAtDoor,
    session: ExportSession,
    slug: Slug,
    pseudonyms: bool = False,
    confidence: bool = False,
) -> Response:
    """Agreement, effort and consensus of a study."""
    study = studies.required_study(session, slug)
    found = _cache(request).report(session, slug, pseudonyms=pseudonyms, confidence=confidence)
    view = ReportView(
        head=study_head(session, study, user, "report"),
        body=as_markup(found),
        pseudonyms=pseudonyms,
        confidence=confidence,
        empty=found.empty,
        has_lists=Tool.LISTS in StudySettings.from_json(study.settings).tools,
    )
    return render(request, "reports/page.html", view)


@router.get("/report.zip")
def get_report_files(
    request: Request,
    _user: ResearcherAtDoor,
    session: ExportSession,
    slug: Slug,
    pseudonyms: bool = False,
    confidence: bool = False,
) -> Response:
    """The report as files: a page that needs nothing else, JSON, tables and consensus lists."""
    found = _cache(request).report(session, slug, pseudonyms=pseudonyms, confidence=confidence)
    name = f'attachment; filename="{slug}-report.zip"'
    headers = {"Content-Disposition": name}
    return Response(zipped(found), media_type="application/zip", headers=headers)


@router.get("/lists")
def get_list_report(
    request: Request,
    user: ResearcherAtDoor,
    session: ExportSession,
    slug: Slug,
) -> Response:
    """Which systems win, and what preferences between their lists teach."""
    study = studies.required_study(session, slug)
    kept: ListReports = request.app.state.list_reports
    try:
        body = lists_as_markup(kept.report(session, slug))
    except Invalid:
        body = ""
    head = study_head(session, study, user, "report")
    return render(request, "reports/lists.html", ListReportView(head, body))


def _cache(request: Request) -> ReportCache:
    cache: ReportCache = request.app.state.reports
    return cache
