"""View data of the exports page."""

from collections.abc import Sequence
from dataclasses import dataclass

from topkapi.app.services.results.exports import Completeness, ExportFormat
from topkapi.app.web.studies.views import StudyHead


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A format, how complete it would be, and its address."""

    format: ExportFormat
    completeness: Completeness
    url: str


@dataclass(frozen=True, slots=True)
class ExportsView:
    """The export formats of a study, and the assessor they are filtered by."""

    head: StudyHead
    lines: Sequence[ExportLine]
    assessors: Sequence[str]
    assessor: str
    pseudonyms: bool
