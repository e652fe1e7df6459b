"""Certificates of machines: a page, and the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.web.access.deps import StudyDep
from topkapi.app.web.access.downloads import SharedSession, note_download
from topkapi.app.web.access.early_auth import EarlyResearcher
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.pages import study_head
from topkapi.app.web.studies.views import StudyHead

if TYPE_CHECKING:  # slow to import
    from topkapi.analysis.machines import Certificate

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
Machine = Annotated[str, Query(max_length=200)]
Epsilon = Annotated[float, Query(ge=0, le=0.5)]


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
    request: Request,
    user: EarlyResearcher,
    session: SharedSession,
    study: StudyDep,
    machine: Machine = "",
    tool: Tool = Tool.PAIRS,
    epsilon: Epsilon = 0.1,
) -> Response:
    """Show whether a machine may replace a person; without a choice, of the first machine."""
    from topkapi.app.services.machines.certificates import Certificates

    certificates = Certificates(session, study.slug)
    choices = certificates.choices()
    if not machine and choices:
        machine, tool = choices[0]
    found, refusal = None, None
    try:
        found = certificates.issue(machine, tool, epsilon) if choices else None
    except (Conflict, Invalid) as error:
        refusal = Refusal.of(error)
    head = study_head(session, study, user, "report")
    view = CertificateView(head, choices, machine, tool, epsilon, found, refusal)
    return render(request, "machines/certificate.html", view)


@router.get("/certificate.json")
def get_certificate_file(
    request: Request,
    user: EarlyResearcher,
    session: SharedSession,
    study: StudyDep,
    machine: Machine,
    tool: Tool,
    epsilon: Epsilon = 0.1,
) -> Response:
    """Download a certificate."""
    from topkapi.app.services.machines.certificates import Certificates

    found = Certificates(session, study.slug).issue(machine, tool, epsilon)
    note_download(request, user, study.slug, "certificate.json")
    name = f'attachment; filename="{study.slug}-{tool}-certificate.json"'
    headers = {"Content-Disposition": name}
    return Response(found.to_json(), media_type="application/json", headers=headers)
