"""View data of the report pages."""

from dataclasses import dataclass
from datetime import datetime

from topkapi.app.web.jobs.views import JobView
from topkapi.app.web.studies.views import StudyHead


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as markup; its parts are escaped where they are rendered.

    ``body`` is None while the report of a large study is not computed, and ``job`` computes it.
    ``confidence_at`` and ``outdated_at`` are when an outdated confidence or report was computed.
    """

    head: StudyHead
    body: str | None
    pseudonyms: bool
    confidence: bool
    empty: bool
    has_lists: bool
    confidence_missing: bool = False
    confidence_at: datetime | None = None
    job: JobView | None = None
    outdated_at: datetime | None = None
    comparison: None = None  # of the job, which is none of models

    @property
    def chosen(self) -> str:
        """The options of this page, as a query string."""
        return self.address(self.pseudonyms, self.confidence)

    def address(self, pseudonyms: bool, confidence: bool) -> str:
        """Return the query string of a page with these options."""
        wanted = {"pseudonyms": pseudonyms, "confidence": confidence}
        return "?" + "&".join(f"{name}=true" for name, chosen in wanted.items() if chosen)


@dataclass(frozen=True, slots=True)
class ListReportView:
    """The report on lists as markup; empty while nobody has compared any."""

    head: StudyHead
    body: str
