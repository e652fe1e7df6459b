"""API of a study's systems: their runs, and their scores on people's labels."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import SystemRun
from topkapi.app.db.queries.results.systems import has_systems
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.jobs.stored import current_result
from topkapi.app.services.results.reports import as_json, is_large
from topkapi.app.services.results.systems import (
    MOST_BYTES,
    RunsRefused,
    SystemReports,
    add_runs,
    read_runs,
    remove_run,
    runs_of,
)
from topkapi.app.services.studies import lifecycle
from topkapi.app.web.access.deps import ApiAdmin, ApiResearcher, RowId, SessionDep, Slug, StudyDep
from topkapi.app.web.access.downloads import SharedSession
from topkapi.app.web.access.early_auth import EarlyApiAdmin, EarlyApiResearcher

if TYPE_CHECKING:  # slow to import
    from topkapi.analysis.report.schema import SystemReport

router = APIRouter(prefix="/api/v1/studies/{slug}/systems", tags=["systems"])
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


class RunOut(BaseModel):
    """The run of a system."""

    id: int
    system: str
    file: str
    queries: int
    lines: int
    added_at: datetime

    @classmethod
    def of(cls, run: SystemRun) -> "RunOut":
        """Return the response for ``run``."""
        return cls(
            id=run.id,
            system=run.system,
            file=run.filename,
            queries=run.queries,
            lines=run.lines,
            added_at=run.created_at,
        )


@router.get("")
def get_api_systems(session: SessionDep, _user: ApiResearcher, study: StudyDep) -> list[RunOut]:
    """List the runs of a study, at most 500."""
    return [RunOut.of(run) for run in runs_of(session, study)]


@router.post("", status_code=201, openapi_extra=RUN_BODY)
async def post_api_systems(
    request: Request,
    user: EarlyApiAdmin,
    slug: Slug,
    filename: Annotated[str, Query(max_length=300)] = "run",
) -> list[RunOut]:
    """Add the systems of a run, all of them or none; problems are listed by line."""
    data = bytearray()
    async for block in request.stream():
        data += block
        if len(data) > MOST_BYTES:
            raise RunsRefused([f"{filename}: larger than {MOST_BYTES // 1024**2} MB. Split it."])
    sessions, limits = request.app.state.sessions, request.app.state.transaction_limits
    async with limits.export.hold():
        return await run_in_threadpool(_add, sessions, slug, filename, bytes(data), user.id)


def _add(sessions: Sessions, slug: str, filename: str, data: bytes, actor_id: int) -> list[RunOut]:
    runs = read_runs([(filename, data)])
    with sessions.write.begin() as session:
        study = lifecycle.required_study(session, slug)
        added = add_runs(session, study, runs, actor_id=actor_id)
        return [RunOut.of(run) for run in added]


@router.get("/scores", response_class=Response, responses=_SCORES)
def get_api_scores(
    request: Request,
    _user: EarlyApiResearcher,
    session: SharedSession,
    slug: Slug,
    truth: Annotated[str, Query(max_length=20, description="`topk` or `graded`.")] = "",
    baseline: Name = "",
) -> Response:
    """Return the scores of all systems, compared with a baseline, and the leaderboard."""
    found = system_report(request, session, slug, truth=truth, baseline=baseline)
    return Response(as_json(found), media_type="application/json")


@router.delete("/{run_id}", status_code=204)
def delete_api_system(session: SessionDep, user: ApiAdmin, study: StudyDep, run_id: RowId) -> None:
    """Remove the run of a system."""
    remove_run(session, study, run_id, actor_id=user.id)


def needs_job(session: Session, study_id: int) -> bool:
    """Return whether scores need labels that take too long to compute within a request."""
    return has_systems(session, study_id) and is_large(session, study_id)


def system_report(
    request: Request, session: Session, slug: str, *, truth: str, baseline: str
) -> "SystemReport":
    """Return the current scores; raise Conflict if a job must compute the labels first."""
    stored = None
    if needs_job(session, lifecycle.required_study(session, slug).id):
        stored = current_result(session, slug, "labels")
        if stored is None:
            raise Conflict(
                "The labels of this study are many and not computed yet: choose Compute the scores "
                "on the page of its systems, or start the job `labels`, and try again afterwards."
            )
    kept: SystemReports = request.app.state.system_reports
    return kept.report(session, slug, truth=truth or None, baseline=baseline or None, stored=stored)
