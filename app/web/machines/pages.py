"""Machine assessors: estimate a run, start it, watch it, edit its prompts, import its judgments.

Runs that begin here use the server's own endpoint and key: an administrator can neither read the
key nor send it elsewhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, File, Form, Query, UploadFile
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from topkapi.app.config import Settings
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.domain.machines.orders import Contradiction, Orders
from topkapi.app.services.importing.uploads.store import safe_name
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.records import JudgeJob
from topkapi.app.services.jobs.store import runs_of_study
from topkapi.app.services.machines import judging
from topkapi.app.services.machines.judging import Estimate
from topkapi.app.services.machines.prompts import UsedPrompt, prompt_of, prompt_texts, save_prompt
from topkapi.app.services.machines.terms import Terms
from topkapi.app.services.results.systems.runs import MOST_BYTES
from topkapi.app.web.access.bodies import limit_body, upload
from topkapi.app.web.access.deps import Slug
from topkapi.app.web.access.downloads import attachment, note_download
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.importing.uploads import RECEIVING
from topkapi.app.web.studies.visit import AdminVisit, SnapshotVisit, StudyHead, Visit

if TYPE_CHECKING:  # slow to import
    from topkapi.analysis.machines import Certificate


router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
_MOST_RUNS = 20
Machine = Annotated[str, Query(max_length=200)]
Epsilon = Annotated[float, Query(ge=0, le=0.5)]


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
class MachinesView:
    """The page: the form, the estimate, past runs, prompts, and what was imported."""

    head: StudyHead
    form: RunForm
    endpoint: str
    tools: Sequence[Tool]
    runs: Sequence[JudgeJob]
    prompts: Sequence[UsedPrompt]
    versions: Mapping[Tool, Mapping[int, str]]
    estimate: Estimate | None = None
    refusal: Refusal | None = None
    imported: str = ""


@router.get("/machines")
def get_machines(visit: AdminVisit) -> Response:
    """Show the form, past runs and prompts."""
    return _show(visit)


@router.post("/machines")
def post_machines(
    visit: AdminVisit, form: Annotated[RunForm, Form()], start: bool = False
) -> Response:
    """Estimate a run, or start it."""
    session, study, endpoint = visit.session, visit.study, _endpoint(visit.request)
    try:
        if not endpoint:
            raise Conflict("The server has no endpoint: set TOPKAPI_MODEL_ENDPOINT and restart it.")
        terms = form.terms(endpoint)
        with session.begin_nested() as tried:  # an estimate changes nothing
            estimate = judging.estimate(session, study, terms)
            tried.rollback()
        if start:
            judging.refuse_over_cap(estimate, terms)
    except (Invalid, Conflict) as refusal:
        return _show(visit, form, refusal=refusal)
    if not start:
        return _show(visit, form, estimate=estimate)
    job = store.queue_job(session, study, "judge", terms.as_json(), actor_id=visit.user.id)
    return visit.to("get_job", job_id=job.id)


@router.post("/machines/prompts")
def post_prompt(
    visit: AdminVisit,
    tool: Annotated[Tool, Form()],
    text: Annotated[str, Form(max_length=40_000)] = "",
) -> Response:
    """Store a new version of a prompt."""
    session, study, kept = visit.session, visit.study, text.replace("\r\n", "\n")
    try:
        save_prompt(session, study, tool, kept, actor_id=visit.user.id)
    except Invalid as refusal:
        return _show(visit, refusal=refusal, unsaved={tool: text})
    return visit.to("get_machines", "#prompts")


@router.post("/machines/grades", dependencies=RECEIVING)
@limit_body(upload(MOST_BYTES, seconds=600.0))
def post_grades(
    request: Request,
    user: EarlyAdmin,
    slug: Slug,
    machine: Annotated[str, Form(max_length=200)] = "",
    file: Annotated[UploadFile | str, File()] = "",
) -> Response:
    """Import grades that a machine gave elsewhere, all of them or none."""
    from topkapi.app.services.machines.importing import import_grades, read_grades  # loads NumPy

    sessions = request.app.state.sessions
    told: dict[str, Any] = {}
    try:
        if isinstance(file, str) or not file.filename:
            raise Invalid("Choose a file with the grades of the machine.", field="file")
        labels = read_grades(safe_name(file.filename), file.file.read())
        found = import_grades(sessions, slug, machine, labels, actor_id=user.id)
        told["imported"] = str(found)
    except (Invalid, Conflict) as refusal:
        told["refusal"] = refusal
    with sessions.read() as session:
        return _show(Visit(request, session, user, required_study(session, slug)), **told)


def _endpoint(request: Request) -> str:
    settings: Settings = request.app.state.settings
    return settings.model_endpoint


def _show(
    visit: Visit,
    form: RunForm | None = None,
    *,
    estimate: Estimate | None = None,
    refusal: AppError | None = None,
    imported: str = "",
    unsaved: Mapping[Tool, str] | None = None,
) -> Response:
    session, study, kept = visit.session, visit.study, unsaved or {}
    tools = study.settings.tools
    used = [prompt_of(session, study.id, tool) for tool in tools]
    view = MachinesView(
        head=visit.head("machines"),
        form=form or RunForm(tools=tools[:1]),
        endpoint=_endpoint(visit.request),
        tools=tools,
        runs=runs_of_study(session, study.id, _MOST_RUNS),
        prompts=[
            UsedPrompt(each.tool, each.number, kept.get(each.tool, each.text)) for each in used
        ],
        versions={tool: prompt_texts(session, study.id, tool) for tool in tools},
        estimate=estimate,
        refusal=Refusal.of(refusal),
        imported=imported,
    )
    return visit.show("machines/machines.html", view, status=422 if refusal else 200)


@dataclass(frozen=True, slots=True)
class CertificateView:
    """The form, and the certificate of what was chosen or why there is none."""

    head: StudyHead
    choices: Sequence[tuple[str, Tool]]
    machine: str
    tool: Tool
    epsilon: float
    found: "Certificate | None" = None
    refusal: Refusal | None = None


@router.get("/certificate")
def get_certificate(
    visit: SnapshotVisit, machine: Machine = "", tool: Tool = Tool.PAIRS, epsilon: Epsilon = 0.1
) -> Response:
    """Show whether a machine may replace a person; without a choice, of the first machine."""
    from topkapi.app.services.machines.certificates import Certificates

    certificates = Certificates(visit.session, visit.study.slug)
    choices = certificates.choices()
    if not machine and choices:
        machine, tool = choices[0]
    certificate, refusal = None, None
    try:
        certificate = certificates.issue(machine, tool, epsilon) if choices else None
    except (Conflict, Invalid) as error:
        refusal = Refusal.of(error)
    view = CertificateView(
        visit.head("report"), choices, machine, tool, epsilon, certificate, refusal
    )
    return visit.show("machines/certificate.html", view)


@router.get("/certificate.json")
def get_certificate_file(
    visit: SnapshotVisit, machine: Machine, tool: Tool, epsilon: Epsilon = 0.1
) -> Response:
    """Download a certificate."""
    from topkapi.app.services.machines.certificates import Certificates

    slug = visit.study.slug
    found = Certificates(visit.session, slug).issue(machine, tool, epsilon)
    note_download(visit.request, visit.user, slug, "certificate.json")
    return attachment(found.to_json(), "application/json", f"{slug}-{tool}-certificate.json")
