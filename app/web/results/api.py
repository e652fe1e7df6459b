"""API of results: exports, reports, and systems with their scores on labels of people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sqlalchemy.orm import Session
from starlette.requests import Request
from starlette.responses import Response

from topkapi.app.db.engine import Sessions
from topkapi.app.db.queries.results.systems import has_systems
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.results.exports import (
    EXPORTS,
    ExportOptions,
    OfferedExport,
    StudySource,
    listed_exports,
    open_export,
)
from topkapi.app.services.results.reports import ListReports, ReportCache, as_json, is_large
from topkapi.app.services.results.stored import current_result
from topkapi.app.services.results.systems.cache import SystemReports
from topkapi.app.services.results.systems.runs import (
    MOST_BYTES,
    RunsRefused,
    StoredRun,
    add_runs,
    read_runs,
    remove_run,
    runs_of,
)
from topkapi.app.web.access.bodies import limit_body
from topkapi.app.web.access.deps import ApiAdmin, ApiResearcher, RowId, SessionDep, Slug, StudyDep
from topkapi.app.web.access.downloads import (
    ExportSession,
    SharedSession,
    SpooledResponse,
    download,
    note_download,
)
from topkapi.app.web.access.early_auth import EarlyApiAdmin, EarlyApiResearcher
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.results.systems_views import RUNS

if TYPE_CHECKING:  # slow to import
    from topkapi.analysis.report.subjects.systems import SystemReport


exports_router = APIRouter(prefix="/api/v1/studies/{slug}/exports", tags=["exports"])
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The export; `X-Topkapi-Assigned` and `X-Topkapi-Finished` count sessions.",
        "content": {
            media_type: {"schema": {"type": "string"}}
            for media_type in sorted({each.media_type for each in EXPORTS.values()})
        },
    }
}


@exports_router.get("")
def list_exports(session: SessionDep, _user: ApiResearcher, slug: Slug) -> Sequence[OfferedExport]:
    """List the formats and how complete each is now."""
    return listed_exports(StudySource(session, slug))


@exports_router.get("/{format}", response_class=StreamingResponse, responses=_BYTES)
def get_export_file(
    request: Request,
    user: EarlyApiResearcher,
    session: ExportSession,
    slug: Slug,
    format: Annotated[str, Path(max_length=100, description="Such as `topk.jsonl`.")],
    assessor: Annotated[
        str | None, Query(max_length=300, description="E-mail, full name or pseudonym.")
    ] = None,
    pseudonyms: Annotated[bool, Query(description="`assessor-01` instead of e-mails.")] = False,
    license: Annotated[str, Query(max_length=200, description="Of a dataset.")] = "",
    creator: Annotated[tuple[str, ...], Query(max_length=100, description="Of a dataset.")] = (),
    citation: Annotated[str, Query(max_length=2000, description="Of a dataset.")] = "",
) -> SpooledResponse:
    """Download an export, the same bytes as `topkapi export` writes."""
    options = ExportOptions(
        assessor, pseudonyms, license=license, creators=creator, citation=citation
    )
    found = open_export(session, slug, format, options)
    note_download(request, user, slug, format)
    return download(found)


report_router = APIRouter(prefix="/api/v1/studies/{slug}", tags=["reports"])
_JSON: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The same as `topkapi report` writes to report.json: an undefined figure "
        "is null, with its reason beside it.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@report_router.get("/report", response_class=Response, responses=_JSON)
def get_study_report(
    request: Request,
    _user: EarlyApiResearcher,
    session: SharedSession,
    slug: Slug,
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
    wanted = confidence and (current_result(session, slug, "confidence") or True)
    large = is_large(session, required_study(session, slug).id)
    stored = current_result(session, slug, "report") if large and wanted is not True else None
    found = cache.report(session, slug, pseudonyms=pseudonyms, confidence=wanted, stored=stored)
    return Response(as_json(found), media_type="application/json")


_LISTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Systems with their shares of wins, and what `topkapi dcg learn` learns.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@report_router.get("/lists", response_class=Response, responses=_LISTS)
def get_study_lists(
    request: Request, _user: EarlyApiResearcher, session: SharedSession, slug: Slug
) -> Response:
    """Return which systems win, and the gains learned from preferences between their lists."""
    kept: ListReports = request.app.state.list_reports
    return Response(as_json(kept.report(session, slug)), media_type="application/json")


systems_router = APIRouter(prefix="/api/v1/studies/{slug}/systems", tags=["systems"])
Name = Annotated[str, Query(max_length=300)]
RUN_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A TREC run, plain or gzip; each tag in its last column is a system.",
        "content": {
            "text/plain": {
                "schema": {"type": "string"},
                "example": "q1 Q0 page-7 1 12.5 bm25\nq1 Q0 page-2 2 11.0 bm25\n",
            }
        },
    }
}
_SCORES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Scores by every measure with intervals over queries, paired tests against "
        "the baseline, and the leaderboard from preferences between lists.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@systems_router.get("")
def get_api_systems(session: SessionDep, _user: ApiResearcher, study: StudyDep) -> list[StoredRun]:
    """List the runs of a study, at most 500."""
    return runs_of(session, study)


@systems_router.post("", status_code=201, openapi_extra=RUN_BODY)
@limit_body(RUNS)
async def post_api_systems(
    request: Request,
    user: EarlyApiAdmin,
    slug: Slug,
    filename: Annotated[str, Query(max_length=300)] = "run",
) -> list[StoredRun]:
    """Add the systems of a run, all of them or none; problems are listed by line."""
    data = bytearray()
    async for block in request.stream():
        data += block
        if len(data) > MOST_BYTES:
            raise RunsRefused([f"{filename}: larger than {MOST_BYTES // 1024**2} MB. Split it."])
    async with limits_of(request).export.hold():
        sessions = request.app.state.sessions
        return await run_in_threadpool(_add, sessions, slug, filename, bytes(data), user.id)


def _add(
    sessions: Sessions, slug: str, filename: str, data: bytes, actor_id: int
) -> list[StoredRun]:
    runs = read_runs([(filename, data)])
    with sessions.write.begin() as session:
        return add_runs(session, required_study(session, slug), runs, actor_id=actor_id)


@systems_router.get("/scores", response_class=Response, responses=_SCORES)
def get_api_scores(
    request: Request,
    _user: EarlyApiResearcher,
    session: SharedSession,
    slug: Slug,
    truth: Annotated[str, Query(max_length=20, description="`topk` or `graded`.")] = "",
    baseline: Name = "",
    shared: Annotated[bool, Query(description="Only the queries that every system has.")] = False,
) -> Response:
    """Return the scores of all systems, compared with a baseline, and the leaderboard."""
    found = system_report(request, session, slug, truth=truth, baseline=baseline, shared=shared)
    return Response(as_json(found), media_type="application/json")


@systems_router.delete("/{run_id}", status_code=204)
def delete_api_system(session: SessionDep, user: ApiAdmin, study: StudyDep, run_id: RowId) -> None:
    """Remove the run of a system."""
    remove_run(session, study, run_id, actor_id=user.id)


def needs_job(session: Session, study_id: int) -> bool:
    """Return whether scores need labels that take too long to compute within a request."""
    return has_systems(session, study_id) and is_large(session, study_id)


def system_report(
    request: Request, session: Session, slug: str, *, truth: str, baseline: str, shared: bool
) -> "SystemReport":
    """Return the current scores; raise Conflict if a job must compute the labels first."""
    stored = None
    if needs_job(session, required_study(session, slug).id):
        stored = current_result(session, slug, "labels")
        if stored is None:
            raise Conflict(
                "The labels of this large study are not computed yet: choose Compute the "
                "scores on its Systems page, or start the job `labels`, then try again."
            )
    kept: SystemReports = request.app.state.system_reports
    chosen = {"truth": truth or None, "baseline": baseline or None}
    return kept.report(session, slug, **chosen, shared=shared, stored=stored)
