"""API of a study's report."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from topkapi.app.services.jobs.stored import current_confidence, current_result
from topkapi.app.services.results.reports import ListReports, ReportCache, as_json, is_large
from topkapi.app.web.access.deps import Slug, StudyDep
from topkapi.app.web.access.downloads import SharedSession
from topkapi.app.web.access.early_auth import EarlyApiResearcher

router = APIRouter(prefix="/api/v1/studies/{slug}", tags=["reports"])
_JSON: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The same as `topkapi report` writes to report.json: an undefined figure "
        "is null, with its reason beside it.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@router.get("/report", response_class=Response, responses=_JSON)
def get_study_report(
    request: Request,
    _user: EarlyApiResearcher,
    session: SharedSession,
    study: StudyDep,
    pseudonyms: Annotated[bool, Query(description="`assessor-01` instead of names.")] = False,
    confidence: Annotated[
        bool,
        Query(
            description="Also each list's confidence; adds a third of a second per session, unless "
            "a background job has computed it since the last answer."
        ),
    ] = False,
) -> Response:
    """Return agreement between assessors, effort, and the consensus of every query."""
    cache: ReportCache = request.app.state.reports
    wanted = confidence and (current_confidence(session, study.slug) or True)
    large = is_large(session, study.id)
    stored = current_result(session, study.slug, "report") if large and wanted is not True else None
    found = cache.report(
        session, study.slug, pseudonyms=pseudonyms, confidence=wanted, stored=stored
    )
    return Response(as_json(found), media_type="application/json")


_LISTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Systems with their shares of wins, and what `topkapi dcg learn` learns.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@router.get("/lists", response_class=Response, responses=_LISTS)
def get_study_lists(
    request: Request, _user: EarlyApiResearcher, session: SharedSession, slug: Slug
) -> Response:
    """Return which systems win, and the gains learned from preferences between their lists."""
    kept: ListReports = request.app.state.list_reports
    return Response(as_json(kept.report(session, slug)), media_type="application/json")
