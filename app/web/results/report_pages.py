"""The report and the exports of a study in the browser: the pages, and their files."""

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services.results.exports import (
    ExportOptions,
    StudySource,
    listed_exports,
    open_export,
)
from topkapi.app.services.results.reports import (
    ListReports,
    ReportCache,
    as_markup,
    is_large,
    lists_as_markup,
    zipped,
)
from topkapi.app.services.results.reports.notes import StoredResult
from topkapi.app.services.results.stored import outdated_at, stored_result
from topkapi.app.web.access.deps import Slug
from topkapi.app.web.access.downloads import ExportSession, attachment, download, note_download
from topkapi.app.web.access.early_auth import EarlyResearcher
from topkapi.app.web.jobs.views import Computed
from topkapi.app.web.pages.open_pages import page_link
from topkapi.app.web.results.views import ExportsView, ListReportView, ReportView
from topkapi.app.web.studies.visit import ReaderVisit, SnapshotVisit, Visit

if TYPE_CHECKING:  # slow to import
    from topkapi.analysis.report import Report


router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
Assessor = Annotated[str, Query(max_length=300)]


@router.get("/report")
def get_report(
    visit: SnapshotVisit, pseudonyms: bool = False, confidence: bool = False
) -> Response:
    """Show agreement, effort and consensus of a study; confidence only if a job computed it."""
    session, study = visit.session, visit.study
    large = is_large(session, study.id)
    computed = stored_result(session, study.id, "report") if large else None
    stored = stored_result(session, study.id, "confidence") if confidence else None
    report = None
    if computed is not None or not large:
        report = _report(visit, pseudonyms, stored, computed)
    body = None
    if report is not None:
        page = page_link(visit.request, study.id)
        body = as_markup(
            session,
            study.id,
            report,
            page,
            lambda query_id: visit.url("get_query_results", query_id=query_id),
        )
    view = ReportView(
        head=visit.head("report"),
        body=body,
        pseudonyms=pseudonyms,
        confidence=stored is not None,
        confidence_missing=confidence and stored is None,
        confidence_at=outdated_at(session, study.slug, stored),
        empty=report is not None and report.empty,
        has_lists=Tool.LISTS in study.settings.tools,
        machines=report is not None and report.machines is not None,
        computed=Computed.of(visit, "report", "report", computed) if large else None,
    )
    return visit.show("results/report.html", view)


@router.get("/report.zip")
def get_report_files(
    visit: SnapshotVisit, pseudonyms: bool = False, confidence: bool = False
) -> Response:
    """Download the report: a self-contained page, JSON, tables and consensus lists."""
    session, study = visit.session, visit.study
    stored = stored_result(session, study.id, "confidence") if confidence else None
    if confidence and stored is None:
        raise Conflict(
            "The confidence of the lists is not computed yet: choose Show confidence of the "
            "lists on the report page, then download it again."
        )
    large = is_large(session, study.id)
    computed = stored_result(session, study.id, "report") if large else None
    if large and computed is None:
        raise Conflict(
            "This large report is not computed yet: choose Compute the report on its page, "
            "then download it."
        )
    found = _report(visit, pseudonyms, stored, computed)
    note_download(visit.request, visit.user, study.slug, "report.zip")
    return attachment(zipped(found), "application/zip", f"{study.slug}-report.zip")


@router.get("/lists")
def get_list_report(visit: SnapshotVisit) -> Response:
    """Show which systems win, and the gains learned from preferences between their lists."""
    kept: ListReports = visit.request.app.state.list_reports
    try:
        body = lists_as_markup(kept.report(visit.session, visit.study.slug))
    except Invalid:
        body = ""
    return visit.show("results/lists.html", ListReportView(visit.head("report"), body))


def _report(
    visit: Visit,
    pseudonyms: bool,
    confidence: StoredResult | None,
    computed: StoredResult | None,
) -> "Report":
    cache: ReportCache = visit.request.app.state.reports
    return cache.report(
        visit.session,
        visit.study.slug,
        pseudonyms=pseudonyms,
        confidence=confidence or False,
        stored=computed,
    )


@router.get("/exports")
def get_exports(visit: ReaderVisit, assessor: Assessor = "", pseudonyms: bool = False) -> Response:
    """List the formats with their links, filtered by assessor and with or without pseudonyms."""
    options = ExportOptions(assessor or None, pseudonyms)
    source = StudySource(visit.session, visit.study.slug, options)
    shown = "" if source.only is None else source.assessors.name(source.only)
    chosen = {"assessor": shown} if shown else {}
    chosen |= {"pseudonyms": "true"} if pseudonyms else {}
    query = f"?{urlencode(chosen)}" if chosen else ""
    view = ExportsView(
        head=visit.head("exports"),
        exports=listed_exports(source),
        chosen=query,
        assessors=source.assessors.names,
        assessor=shown,
        pseudonyms=pseudonyms,
    )
    return visit.show("results/exports.html", view)


@router.get("/exports/{format}")
def get_export(
    request: Request,
    user: EarlyResearcher,
    session: ExportSession,
    slug: Slug,
    format: Annotated[str, Path(max_length=100)],
    assessor: Assessor = "",
    pseudonyms: bool = False,
) -> Response:
    """Download an export, the same bytes as the API and the command line write."""
    options = ExportOptions(assessor or None, pseudonyms)
    found = open_export(session, slug, format, options)
    note_download(request, user, slug, format)
    return download(found)
