"""Models, plans and jobs in the browser: start a job, watch it, stop it, read its result."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.base import Json
from topkapi.app.db.models import Job
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
from topkapi.app.services.jobs.records import shown_job
from topkapi.app.services.jobs.refreshing import active_job, refresh
from topkapi.app.services.jobs.store import jobs_of_study
from topkapi.app.services.results.reports import is_large
from topkapi.app.services.results.stored import current_result, stored_result
from topkapi.app.services.simulation.plan_records import PlanOptions, stored_options
from topkapi.app.web.access.deps import RowId
from topkapi.app.web.access.downloads import attachment
from topkapi.app.web.common import htmx
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.jobs.api import Name
from topkapi.app.web.jobs.comparison_views import ComparisonView, NumberedQuery, comparison_view
from topkapi.app.web.jobs.views import (
    CHOICES,
    FIELDS,
    PLAN_OPTIONS,
    USUAL,
    JobPageView,
    ModelsView,
    PlanView,
    planned_view,
)
from topkapi.app.web.studies.visit import ReaderVisit, Visit

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
Model = Annotated[str, Path(max_length=50)]
_MOST_JOBS = 20
_RESULTS = {"labels": "get_systems", "judge": "get_machines"}
_TABS = {"models": "models", "labels": "systems", "judge": "machines", "plan": "plan"}
_LABELS = {each.name: each.label for each in FIELDS}
_MOST = 100  # characters of a field


@router.get("/models")
def get_models(visit: ReaderVisit) -> Response:
    """Show what can be compared, and past jobs."""
    offer = model_offer(visit.session, visit.study.id)
    return _form(visit, ModelChoice(features=tuple(offer.features)))


@router.post("/models")
def post_models(
    visit: ReaderVisit,
    truth: Annotated[str, Form(max_length=20)] = "",
    consensus: Annotated[str, Form(max_length=20)] = CONSENSUS[0],
    models: Annotated[tuple[Name, ...], Form(max_length=100)] = (),
    features: Annotated[tuple[Name, ...], Form(max_length=5000)] = (),
) -> Response:
    """Start a comparison of models."""
    choice = ModelChoice(truth, models, features, consensus)
    try:
        parameters = job_parameters(model_offer(visit.session, visit.study.id), choice)
    except Invalid as refusal:
        return _form(visit, choice, Refusal.of(refusal))
    return _start(visit, "models", parameters)


@router.post("/confidence")
def post_confidence(visit: ReaderVisit) -> Response:
    """Start to compute the confidence of the lists; show it if it is computed and current."""
    if current_result(visit.session, visit.study.slug, "confidence") is not None:
        return _to_result(visit, "confidence")
    return _start(visit, "confidence")


@router.post("/report")
def post_report(visit: ReaderVisit, auto: bool = False) -> Response:
    """Start to compute the report of a large study; show it if it is computed and current."""
    return _computed(visit, "report", auto=auto)


@router.post("/systems/labels")
def post_labels(visit: ReaderVisit, auto: bool = False) -> Response:
    """Start to compute the labels of a large study; show the scores if these are current."""
    return _computed(visit, "labels", auto=auto)


@router.get("/jobs/{job_id}")
def get_job(
    visit: ReaderVisit,
    job_id: RowId,
    baseline: Annotated[str, Query(max_length=50)] = "",
    stay: bool = False,
) -> Response:
    """Show the progress of a job, or its result; ``baseline`` is a model of a comparison.

    A page that waits for the result is loaded again, unless it shows an earlier one (``stay``).
    """
    job = store.required_job(visit.session, visit.study, job_id)
    view = JobPageView(
        head=visit.head(_TABS.get(job.kind, "report")),
        job=shown_job(job),
        comparison=_comparison(visit, job, baseline),
        plan=planned_view(job),
        stay=stay,
    )
    response = render(visit.request, "jobs/job.html", view, fragment="jobs/_job.html")
    leads_on = job.kind not in ("models", "plan") and not stay
    if leads_on and job.state is JobState.DONE and htmx.wants_fragment(visit.request):
        here, adjudication = htmx.current_path(visit.request), visit.url("get_adjudication")
        url = adjudication if here == adjudication else _result_url(visit, job.kind)
        return htmx.redirect(response, url)
    return response


@router.post("/jobs/{job_id}/stop")
def post_stop_job(visit: ReaderVisit, job_id: RowId) -> Response:
    """Ask to stop a job."""
    job = store.required_job(visit.session, visit.study, job_id)
    store.request_stop(visit.session, job, visit.study.slug, actor_id=visit.user.id)
    return visit.to("get_job", job_id=job_id)


@router.get("/jobs/{job_id}/models/{model}.json")
def get_job_model(visit: ReaderVisit, job_id: RowId, model: Model) -> Response:
    """Download a trained model, as `topkapi rank train` writes it."""
    job = store.required_job(visit.session, visit.study, job_id)
    return _file(visit, model_file(job, model), "application/json", f"{model}.json")


@router.get("/jobs/{job_id}/runs/{model}.txt")
def get_job_run(visit: ReaderVisit, job_id: RowId, model: Model) -> Response:
    """Download the rankings of a model as a TREC run."""
    job = store.required_job(visit.session, visit.study, job_id)
    return _file(visit, run_file(job, model), "text/plain", f"{model}.run.txt")


@router.get("/jobs/{job_id}/tables/{table}.csv")
def get_job_table(visit: ReaderVisit, job_id: RowId, table: Model) -> Response:
    """Download a table of a comparison."""
    job = store.required_job(visit.session, visit.study, job_id)
    return _file(visit, table_file(job, table), "text/csv", f"{table}.csv")


def _computed(visit: Visit, kind: str, *, auto: bool) -> Response:
    """Start a job of a large study; go to the result if it is current or needs no job.

    With ``auto`` a page asks by itself, and is answered with the progress of the job, if any.
    """
    session, study = visit.session, visit.study
    if auto:
        stay = stored_result(session, study.id, kind) is not None
        refresh(session, study, kind)
        job = active_job(session, study.id, kind)
        rest = "?stay=true" if stay else ""
        return visit.to("get_job", rest, job_id=job.id) if job else Response(status_code=204)
    if not is_large(session, study.id) or current_result(session, study.slug, kind) is not None:
        return _to_result(visit, kind)
    return _start(visit, kind)


def _start(visit: Visit, kind: str, parameters: Json | None = None) -> Response:
    sent = parameters or {}
    job = store.queue_job(visit.session, visit.study, kind, sent, actor_id=visit.user.id)
    return visit.to("get_job", job_id=job.id)


def _form(visit: Visit, choice: ModelChoice, refusal: Refusal | None = None) -> Response:
    view = ModelsView(
        head=visit.head("models"),
        offer=model_offer(visit.session, visit.study.id),
        choice=choice,
        jobs=jobs_of_study(visit.session, visit.study.id, limit=_MOST_JOBS),
        refusal=refusal,
    )
    return visit.show("jobs/models.html", view, status=422 if refusal else 200)


def _comparison(visit: Visit, job: Job, baseline: str) -> ComparisonView | None:
    if job.kind != "models" or job.state is not JobState.DONE or job.result is None:
        return None
    rows = queries_in_order(visit.session, visit.study.id)
    links = {name: NumberedQuery(number, text) for number, name, text in rows}
    return comparison_view(result_of(job), links, baseline)


def _file(visit: Visit, text: str, media_type: str, name: str) -> Response:
    return attachment(text, media_type, f"{visit.study.slug}.{name}")


def _to_result(visit: Visit, kind: str) -> Response:
    return RedirectResponse(_result_url(visit, kind), status_code=303)


def _result_url(visit: Visit, kind: str) -> str:
    shown = "?confidence=true#confidence" if kind == "confidence" else ""
    return visit.url(_RESULTS.get(kind, "get_report")) + shown


async def _typed(request: Request) -> Mapping[str, str]:
    sent = await request.form()
    return {name: str(sent.get(name, ""))[:_MOST].strip() for name in (*_LABELS, *CHOICES)}


@router.get("/plan")
def get_plan(visit: ReaderVisit) -> Response:
    """Show the form of a plan."""
    return visit.show("jobs/plan.html", PlanView(visit.head("plan"), USUAL))


@router.post("/plan")
def post_plan(visit: ReaderVisit, typed: Annotated[Mapping[str, str], Depends(_typed)]) -> Response:
    """Start to simulate the study."""
    try:
        options = stored_options(_options(typed))
    except Invalid as refused:
        label = _LABELS.get(refused.field or "", refused.field)
        refusal = Refusal(f"{label}: {refused}", refused.field)
        view = PlanView(visit.head("plan"), typed, refusal)
        return visit.show("jobs/plan.html", view, status=422)
    job = store.queue_job(visit.session, visit.study, "plan", options, actor_id=visit.user.id)
    return visit.to("get_job", job_id=job.id)


def _options(typed: Mapping[str, str]) -> PlanOptions:
    try:
        return PLAN_OPTIONS.validate_python({name: text for name, text in typed.items() if text})
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        raise Invalid(f"{typed.get(field, '')!r} is not a number.", field=field) from None
