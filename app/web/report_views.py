"""What the page of a report reads."""

from dataclasses import dataclass

from app.web.study_views import StudyHead


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as markup; its parts are escaped where they are made."""

    head: StudyHead
    body: str
    pseudonyms: bool
    empty: bool
