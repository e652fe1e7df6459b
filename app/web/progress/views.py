"""View data of the progress templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from topkapi.app.db.models import Flag
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.reliability import Reliability
from topkapi.app.services.progress.attention import Concern
from topkapi.app.services.progress.dashboard import Dashboard
from topkapi.app.services.progress.study_progress import (
    FinishedWork,
    Line,
    Overview,
    PersonHead,
    QueryName,
    WorkCell,
)
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.pages.open_pages import OpenPage
from topkapi.app.web.studies.views import StudyLine
from topkapi.app.web.studies.visit import StudyHead

PARTS = ("stats", "matrix", "people", "queries", "latest", "flags")


@dataclass(frozen=True, slots=True)
class FlagView:
    """A question that an assessor has flagged; ``handler`` is empty while the flag is open."""

    id: int
    reason: str
    reply: str
    assessor: str
    query_id: int
    query: str
    tool: Tool
    shown: Sequence[str]
    created_at: datetime
    is_handled: bool
    handler: str

    @classmethod
    def of(cls, flag: Flag) -> "FlagView":
        """Return the view of a flag."""
        work = flag.assignment
        return cls(
            id=flag.id,
            reason=flag.reason,
            reply=flag.reply,
            assessor=work.user.name,
            query_id=work.query_id,
            query=work.query.external_id,
            tool=work.tool,
            shown=flag.shown,
            created_at=flag.created_at,
            is_handled=flag.handled_at is not None,
            handler=flag.handler.name if flag.handler else "",
        )


@dataclass(frozen=True, slots=True)
class DashboardView:
    """The administrator's start page."""

    dashboard: Dashboard


@dataclass(frozen=True, slots=True)
class ToolAgreementView:
    """Agreement of a study per tool when it was computed; ``at`` is None if it never was.

    If it ``is_due``, the fragment starts to compute it again.
    """

    slug: str
    tools: Sequence[tuple[str, float]]
    at: datetime | None
    is_computing: bool
    is_due: bool


@dataclass(frozen=True, slots=True)
class ResultsView:
    """The studies with their results, the researcher's start page."""

    lines: Sequence[StudyLine]


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A person in the table; ``concerns`` say why to look at their work.

    ``reliability`` is how a member of teams errs.
    """

    user: PersonHead
    line: Line
    concerns: Sequence[Concern]
    reliability: Reliability | None = None


@dataclass(frozen=True, slots=True)
class ProgressView:
    """The dashboard of a study; ``texts`` are its rendered parts, ``marks`` their digests."""

    head: StudyHead
    overview: Overview
    people: Sequence[PersonLine]
    people_paging: Paging
    queries: Sequence[tuple[QueryName, Line]]
    query_paging: Paging
    cells: Mapping[tuple[int, int], Sequence[WorkCell]]
    latest: Sequence[FinishedWork]
    flags: Sequence[FlagView]
    pages: Mapping[str, OpenPage]
    open_flags: int
    choices: Choices
    values: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    marks: str = ""
