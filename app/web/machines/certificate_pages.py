"""Certificates of machines: a page, and the file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.web.access.downloads import note_download
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.visit import SnapshotVisit, StudyHead

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
    visit: SnapshotVisit, machine: Machine = "", tool: Tool = Tool.PAIRS, epsilon: Epsilon = 0.1
) -> Response:
    """Show whether a machine may replace a person; without a choice, of the first machine."""
    from topkapi.app.services.machines.certificates import Certificates

    certificates = Certificates(visit.session, visit.study.slug)
    choices = certificates.choices()
    if not machine and choices:
        machine, tool = choices[0]
    found, refusal = None, None
    try:
        found = certificates.issue(machine, tool, epsilon) if choices else None
    except (Conflict, Invalid) as error:
        refusal = Refusal.of(error)
    view = CertificateView(visit.head("report"), choices, machine, tool, epsilon, found, refusal)
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
    name = f'attachment; filename="{slug}-{tool}-certificate.json"'
    headers = {"Content-Disposition": name}
    return Response(found.to_json(), media_type="application/json", headers=headers)
