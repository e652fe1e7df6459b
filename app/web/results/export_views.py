"""What the page of exports reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from topkapi.app.services.results.exports import Completeness, ExportFormat
from topkapi.app.web.studies.views import StudyHead


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A format, how complete it would be, and where it is."""

    format: ExportFormat
    completeness: Completeness
    url: str


@dataclass(frozen=True, slots=True)
class ExportsView:
    """The formats of a study, and whose work they are to show."""

    head: StudyHead
    lines: Sequence[ExportLine]
    assessors: Sequence[str]
    assessor: str
    pseudonyms: bool
