"""Machine assessors: estimate a run, start it, watch it, edit its prompts, import its judgments.

Runs that begin here use the server's own endpoint and key: an administrator can neither read the
key nor send it elsewhere.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.config import Settings
from topkapi.app.db.models import Job, Study, User
from topkapi.app.db.queries import machines as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.domain.machines.orders import Contradiction, Orders
from topkapi.app.services.importing.uploads.store import safe_name
from topkapi.app.services.jobs import store
from topkapi.app.services.machines import judging
from topkapi.app.services.machines.judging import Estimate
from topkapi.app.services.machines.prompts import UsedPrompt, prompt_of, save_prompt
from topkapi.app.services.machines.terms import Terms
from topkapi.app.services.results.systems.runs import MOST_BYTES
from topkapi.app.services.studies.lifecycle import required_study
from topkapi.app.web.access.deps import AdminUser, SessionDep, Slug, StudyDep
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import PersonView, Refusal
from topkapi.app.web.importing.uploads import RECEIVING
from topkapi.app.web.jobs.views import JobView
from topkapi.app.web.studies.pages import study_head
from topkapi.app.web.studies.views import StudyHead

router = APIRouter(prefix="/studies/{slug}/machines", include_in_schema=False)
_MOST_RUNS = 20


class RunForm(BaseModel):
    """The form as it was typed; `Terms` checks it."""

    model: str = ""
    tools: tuple[Tool, ...] = ()
    orders: Orders = Orders.BOTH
    contradiction: Contradiction = Contradiction.TIE
    price_in: str = ""
    price_out: str = ""
    most_cost: str = ""
    most_requests: str = ""

    def terms(self, endpoint: str) -> Terms:
        """Return the terms; what was left empty has its default."""
        typed = {name: value for name, value in self.model_dump().items() if value not in ("", ())}
        return Terms.read({**typed, "endpoint": endpoint})


@dataclass(frozen=True, slots=True)
class RunView:
    """A run in the table of runs; ``result`` is empty until it has ended well."""

    job: JobView
    model: str
    tools: Sequence[str]
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MachinesView:
    """The page: the form, the estimate, past runs, prompts, and what was imported."""

    head: StudyHead
    form: RunForm
    endpoint: str
    tools: Sequence[Tool]
    runs: Sequence[RunView]
    prompts: Sequence[UsedPrompt]
    versions: Mapping[Tool, Mapping[int, str]]
    estimate: Estimate | None = None
    refusal: Refusal | None = None
    imported: str = ""


@router.get("")
def get_machines(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep
) -> Response:
    """Show the form, past runs and prompts."""
    return _show(request, session, user, study, RunForm(tools=study.settings.tools[:1]))


@router.post("")
def post_machines(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[RunForm, Form()],
    start: bool = False,
) -> Response:
    """Estimate a run, or start it."""
    endpoint = _endpoint(request)
    try:
        if not endpoint:
            raise Conflict("The server has no endpoint: set TOPKAPI_MODEL_ENDPOINT and restart it.")
        terms = form.terms(endpoint)
        with session.begin_nested() as tried:  # an estimate changes nothing
            found = judging.estimate(session, study, terms)
            tried.rollback()
        if start:
            judging.refuse_over_cap(found, terms)
    except (Invalid, Conflict) as refusal:
        return _show(request, session, user, study, form, refusal=refusal)
    if not start:
        return _show(request, session, user, study, form, estimate=found)
    job = store.queue_job(session, study, "judge", terms.as_json(), actor_id=user.id)
    url = request.app.url_path_for("get_job", slug=study.slug, job_id=job.id)
    return RedirectResponse(str(url), status_code=303)


@router.post("/prompts")
def post_prompt(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    tool: Annotated[Tool, Form()],
    text: Annotated[str, Form(max_length=40_000)] = "",
) -> Response:
    """Store a new version of a prompt."""
    try:
        save_prompt(session, study, tool, text.replace("\r\n", "\n"), actor_id=user.id)
    except Invalid as refusal:
        form = RunForm(tools=study.settings.tools[:1])
        return _show(request, session, user, study, form, refusal=refusal, unsaved={tool: text})
    url = request.app.url_path_for("get_machines", slug=study.slug)
    return RedirectResponse(f"{url}#prompts", status_code=303)


@router.post("/grades", dependencies=RECEIVING)
def post_grades(
    request: Request,
    user: EarlyAdmin,
    slug: Slug,
    machine: Annotated[str, Form(max_length=200)] = "",
    file: Annotated[UploadFile | str, File()] = "",
) -> Response:
    """Import grades that a machine gave elsewhere, all of them or none."""
    from topkapi.app.services.machines.importing import import_grades, read_sent  # loads NumPy

    sessions = request.app.state.sessions
    told: dict[str, Any] = {}
    try:
        if isinstance(file, str) or not file.filename:
            raise Invalid("Choose a file with the grades of the machine.", field="file")
        labels = read_sent(safe_name(file.filename), file.file.read(MOST_BYTES + 1))
        with sessions.write.begin() as session:
            study = required_study(session, slug)
            found = import_grades(session, study, machine, labels, actor_id=user.id)
        told["imported"] = str(found)
    except (Invalid, Conflict) as refusal:
        told["refusal"] = refusal
    with sessions.read() as session:
        study = required_study(session, slug)
        return _show(request, session, user, study, RunForm(tools=study.settings.tools[:1]), **told)


def _endpoint(request: Request) -> str:
    settings: Settings = request.app.state.settings
    return settings.model_endpoint


def _show(
    request: Request,
    session: Session,
    user: User | PersonView,
    study: Study,
    form: RunForm,
    *,
    estimate: Estimate | None = None,
    refusal: AppError | None = None,
    imported: str = "",
    unsaved: Mapping[Tool, str] | None = None,
) -> Response:
    tools = study.settings.tools
    used = [prompt_of(session, study.id, tool) for tool in tools]
    kept = unsaved or {}
    view = MachinesView(
        head=study_head(session, study, user, "machines"),
        form=form,
        endpoint=_endpoint(request),
        tools=tools,
        runs=[_run(job) for job in queries.runs_of_study(session, study.id, _MOST_RUNS)],
        prompts=[
            UsedPrompt(each.tool, each.number, kept.get(each.tool, each.text)) for each in used
        ],
        versions={tool: queries.prompt_texts(session, study.id, tool) for tool in tools},
        estimate=estimate,
        refusal=None if refusal is None else Refusal.of(refusal),
        imported=imported,
    )
    return render(request, "machines/machines.html", view, status=422 if refusal else 200)


def _run(job: Job) -> RunView:
    told = job.parameters
    result = {} if job.result is None else json.loads(job.result)
    return RunView(JobView.of(job), told["model"], told["tools"], result)
