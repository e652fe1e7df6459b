"""API of background jobs: start one, watch it, stop it, read its result."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from sqlalchemy.orm import Session

from topkapi.app.db.base import Json
from topkapi.app.db.models import Job, Study
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.model_choice import (
    CONSENSUS,
    USUAL,
    ModelChoice,
    job_parameters,
    model_offer,
)
from topkapi.app.services.jobs.records import JobRecord
from topkapi.app.services.jobs.store import jobs_of_study
from topkapi.app.services.simulation.plan_records import PlanOptions, stored_options
from topkapi.app.web.access.deps import ApiResearcher, RowId, SessionDep, StudyDep
from topkapi.app.web.common.received import Body

router = APIRouter(prefix="/api/v1/studies/{slug}/jobs", tags=["jobs"])
Name = Annotated[str, Field(max_length=300)]


class JobIn(Body):
    """What to compute: `plan` has the options of a plan, the other fields are for `models`."""

    kind: Literal["models", "confidence", "report", "labels", "plan"]
    truth: Annotated[str, Field(max_length=20, description="`topk` or `graded`.")] = "topk"
    models: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=lambda: [*USUAL])
    features: Annotated[
        list[Name] | None, Field(max_length=5000, description="All of them if null.")
    ] = None
    consensus: Annotated[str, Field(max_length=20)] = CONSENSUS[0]
    plan: PlanOptions = Field(default_factory=PlanOptions)


@dataclass(frozen=True, slots=True)
class JobDetail(JobRecord):
    """A job with its result, which is null until it is done; people have pseudonyms in it."""

    result: Json | None


@router.get("")
def get_api_jobs(
    session: SessionDep,
    _user: ApiResearcher,
    study: StudyDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Sequence[JobRecord]:
    """List the jobs of a study, latest first."""
    return jobs_of_study(session, study.id, limit=limit)


@router.post("", status_code=201)
def post_api_jobs(
    session: SessionDep, user: ApiResearcher, study: StudyDep, body: JobIn
) -> JobRecord:
    """Start a job, or return the same job if it is already waiting or running."""
    parameters = _parameters(session, study, body)
    job = store.queue_job(session, study, body.kind, parameters, actor_id=user.id)
    return JobRecord.of(job)


@router.get("/{job_id}")
def get_api_job(
    session: SessionDep, _user: ApiResearcher, study: StudyDep, job_id: RowId
) -> JobDetail:
    """Return a job with its result."""
    job = store.required_job(session, study, job_id)
    return JobDetail.of(job, result=_result(job))


@router.post("/{job_id}/stop")
def post_api_stop_job(
    session: SessionDep, user: ApiResearcher, study: StudyDep, job_id: RowId
) -> JobRecord:
    """Stop a job: a waiting one ends at once, a running one at its next step."""
    job = store.required_job(session, study, job_id)
    store.request_stop(session, job, study.slug, actor_id=user.id)
    return JobRecord.of(job)


def _parameters(session: Session, study: Study, body: JobIn) -> Json:
    if body.kind != "models":
        return stored_options(body.plan) if body.kind == "plan" else {}
    offer = model_offer(session, study.id)
    features = offer.features if body.features is None else body.features
    choice = ModelChoice(body.truth, tuple(body.models), tuple(features), body.consensus)
    return job_parameters(offer, choice)


def _result(job: Job) -> Json | None:
    """Return the result; a report as `topkapi report` writes it."""
    if job.result is None:
        return None
    result: Json = json.loads(job.result)
    if job.kind == "report":
        from topkapi.analysis.report.serialise import record_of, restored

        return record_of(restored(result["report"]))
    return result
