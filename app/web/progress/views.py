"""View data of the progress templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from topkapi.app.domain.pairs.reliability import Reliability
from topkapi.app.services.flags import FlagLine
from topkapi.app.services.progress.attention import Concern
from topkapi.app.services.progress.matrix import WorkCell
from topkapi.app.services.progress.study_progress import (
    FinishedWork,
    Line,
    Overview,
    PersonHead,
    QueryName,
)
from topkapi.app.services.state.study import ToolAgreement
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.pages.open_pages import OpenPage
from topkapi.app.web.studies.visit import StudyHead

PARTS = ("stats", "matrix", "people", "queries", "latest", "flags")


@dataclass(frozen=True, slots=True)
class ToolAgreementView:
    """Agreement of a study per tool when it was computed; ``at`` is None if it never was.

    ``why`` says why there is none. If it ``is_due``, the fragment starts to compute it again.
    """

    slug: str
    tools: Sequence[ToolAgreement]
    why: str
    at: datetime | None
    is_computing: bool
    is_due: bool


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
    flags: Sequence[FlagLine]
    pages: Mapping[str, OpenPage]
    open_flags: int
    choices: Choices
    values: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    marks: str = ""
