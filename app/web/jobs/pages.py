"""Models and background jobs in the browser: start a job, watch it, stop it, read its result."""

from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Job, Study, User
from topkapi.app.db.queries import jobs as queries
from topkapi.app.db.queries.results.exports import queries_in_order
from topkapi.app.domain.enums import JobState
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.comparison_result import model_file, result_of, run_file, table_file
from topkapi.app.services.jobs.model_choice import (
    CONSENSUS,
    ModelChoice,
    job_parameters,
    model_offer,
)
from topkapi.app.services.jobs.stored import current_confidence, current_result
from topkapi.app.services.results.reports import is_large
from topkapi.app.services.studies import lifecycle
from topkapi.app.web.access.deps import ResearcherUser, RowId, SessionDep, Slug, StudyDep
from topkapi.app.web.common import htmx
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.jobs.api import Name
from topkapi.app.web.jobs.comparison_views import ComparisonView, NumberedQuery, comparison_view
from topkapi.app.web.jobs.plan_views import planned_view
from topkapi.app.web.jobs.views import JobPageView, JobView, ModelsView
from topkapi.app.web.studies.pages import study_head

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
Model = Annotated[str, Path(max_length=50)]
_MOST_JOBS = 20
_TABS = {"models": "models", "labels": "systems", "judge": "machines", "plan": "plan"}


@router.get("/models")
def get_models(
    request: Request, session: SessionDep, user: ResearcherUser, study: StudyDep
) -> Response:
    """Show what can be compared, and past jobs."""
    offer = model_offer(session, study.id)
    return _form(request, session, study, user, ModelChoice(features=tuple(offer.features)))


@router.post("/models")
def post_models(
    request: Request,
    session: SessionDep,
    user: ResearcherUser,
    study: StudyDep,
    truth: Annotated[str, Form(max_length=20)] = "",
    consensus: Annotated[str, Form(max_length=20)] = CONSENSUS[0],
    models: Annotated[tuple[Name, ...], Form(max_length=100)] = (),
    features: Annotated[tuple[Name, ...], Form(max_length=5000)] = (),
) -> Response:
    """Start a comparison of models."""
    choice = ModelChoice(truth, models, features, consensus)
    try:
        parameters = job_parameters(model_offer(session, study.id), choice)
    except Invalid as refusal:
        return _form(request, session, study, user, choice, Refusal.of(refusal))
    job = store.queue_job(session, study, "models", parameters, actor_id=user.id)
    return _to_job(request, study.slug, job.id)


@router.post("/confidence")
def post_confidence(
    request: Request, session: SessionDep, user: ResearcherUser, study: StudyDep
) -> Response:
    """Start to compute the confidence of the lists; show it if it is computed and current."""
    if current_confidence(session, study.slug) is not None:
        return RedirectResponse(_result_url(request, study.slug, "confidence"), status_code=303)
    job = store.queue_job(session, study, "confidence", {}, actor_id=user.id)
    return _to_job(request, study.slug, job.id)


@router.post("/report")
def post_report(
    request: Request, session: SessionDep, user: ResearcherUser, slug: Slug
) -> Response:
    """Start to compute the report of a large study; show it if it is computed and current."""
    return _computed(request, session, user, slug, "report")


@router.post("/systems/labels")
def post_labels(
    request: Request, session: SessionDep, user: ResearcherUser, slug: Slug
) -> Response:
    """Start to compute the labels of a large study; show the scores if these are current."""
    return _computed(request, session, user, slug, "labels")


@router.get("/jobs/{job_id}")
def get_job(
    request: Request,
    session: SessionDep,
    user: ResearcherUser,
    study: StudyDep,
    job_id: RowId,
    baseline: Annotated[str, Query(max_length=50)] = "",
) -> Response:
    """Show the progress of a job, or its result; ``baseline`` is a model of a comparison."""
    job = store.required_job(session, study, job_id)
    view = JobPageView(
        head=study_head(session, study, user, _TABS.get(job.kind, "report")),
        job=JobView.of(job),
        comparison=_comparison(session, study, job, baseline),
        plan=planned_view(job),
    )
    response = render(request, "jobs/job.html", view, fragment="jobs/_job.html")
    if (
        job.kind not in ("models", "plan")
        and job.state is JobState.DONE
        and htmx.wants_fragment(request)
    ):
        return htmx.redirect(response, _result_url(request, study.slug, job.kind))
    return response


@router.post("/jobs/{job_id}/stop")
def post_stop_job(
    request: Request, session: SessionDep, user: ResearcherUser, study: StudyDep, job_id: RowId
) -> Response:
    """Ask to stop a job."""
    store.request_stop(
        session, store.required_job(session, study, job_id), study.slug, actor_id=user.id
    )
    return _to_job(request, study.slug, job_id)


@router.get("/jobs/{job_id}/models/{model}.json")
def get_job_model(
    session: SessionDep, _user: ResearcherUser, study: StudyDep, job_id: RowId, model: Model
) -> Response:
    """Download a trained model, as `topkapi rank train` writes it."""
    job = store.required_job(session, study, job_id)
    return _file(model_file(job, model), "application/json", f"{study.slug}.{model}.json")


@router.get("/jobs/{job_id}/runs/{model}.txt")
def get_job_run(
    session: SessionDep, _user: ResearcherUser, study: StudyDep, job_id: RowId, model: Model
) -> Response:
    """Download the rankings of a model as a TREC run."""
    job = store.required_job(session, study, job_id)
    return _file(run_file(job, model), "text/plain", f"{study.slug}.{model}.run.txt")


@router.get("/jobs/{job_id}/tables/{table}.csv")
def get_job_table(
    session: SessionDep, _user: ResearcherUser, study: StudyDep, job_id: RowId, table: Model
) -> Response:
    """Download a table of a comparison."""
    job = store.required_job(session, study, job_id)
    return _file(table_file(job, table), "text/csv", f"{study.slug}.{table}.csv")


def _computed(request: Request, session: Session, user: User, slug: str, kind: str) -> Response:
    """Start a job of a large study; go to the result if it is current or needs no job."""
    study = lifecycle.required_study(session, slug)
    if not is_large(session, study.id) or current_result(session, slug, kind) is not None:
        return RedirectResponse(_result_url(request, slug, kind), status_code=303)
    return _to_job(request, slug, store.queue_job(session, study, kind, {}, actor_id=user.id).id)


def _form(
    request: Request,
    session: Session,
    study: Study,
    user: User,
    choice: ModelChoice,
    refusal: Refusal | None = None,
) -> Response:
    found = queries.jobs_of_study(session, study.id, limit=_MOST_JOBS)
    view = ModelsView(
        head=study_head(session, study, user, "models"),
        offer=model_offer(session, study.id),
        choice=choice,
        jobs=[JobView.of(job, name) for job, name in found],
        refusal=refusal,
    )
    return render(request, "jobs/models.html", view, status=422 if refusal else 200)


def _comparison(session: Session, study: Study, job: Job, baseline: str) -> ComparisonView | None:
    if job.kind != "models" or job.state is not JobState.DONE or job.result is None:
        return None
    rows = queries_in_order(session, study.id)
    links = {name: NumberedQuery(number, text) for number, name, text in rows}
    return comparison_view(result_of(job), links, baseline)


def _file(text: str, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=media_type, headers=headers)


def _to_job(request: Request, slug: str, job_id: int) -> Response:
    url = request.app.url_path_for("get_job", slug=slug, job_id=job_id)
    return RedirectResponse(str(url), status_code=303)


def _result_url(request: Request, slug: str, kind: str) -> str:
    if kind in ("labels", "judge"):
        page = "get_systems" if kind == "labels" else "get_machines"
        return str(request.app.url_path_for(page, slug=slug))
    shown = "?confidence=true#confidence" if kind == "confidence" else ""
    return f"{request.app.url_path_for('get_report', slug=slug)}{shown}"
