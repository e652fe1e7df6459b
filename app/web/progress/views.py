"""View data of the progress templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from topkapi.app.db.models import Query, User
from topkapi.app.services.progress.dashboard import Dashboard
from topkapi.app.services.progress.study_progress import Cell, Finished, Line, Overview
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.studies.views import StudyHead, StudyLine

PARTS = ("stats", "matrix", "people", "queries", "latest")


@dataclass(frozen=True, slots=True)
class DashboardView:
    """The administrator's start page; agreement is loaded for studies with few finished works."""

    dashboard: Dashboard
    largest_report: int


@dataclass(frozen=True, slots=True)
class AgreementView:
    """Agreement of a study per tool."""

    slug: str
    tools: Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class ResultsView:
    """The studies with their results, the researcher's start page."""

    lines: Sequence[StudyLine]


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A person in the table; ``very_fast`` flags someone to look at."""

    user: User
    line: Line
    very_fast: bool


@dataclass(frozen=True, slots=True)
class ProgressView:
    """The dashboard of a study; ``texts`` are its rendered parts, ``marks`` their digests."""

    head: StudyHead
    overview: Overview
    people: Sequence[PersonLine]
    people_paging: Paging
    queries: Sequence[tuple[Query, Line]]
    query_paging: Paging
    cells: Mapping[tuple[int, int], Sequence[Cell]]
    latest: Sequence[Finished]
    choices: Choices
    values: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    marks: str = ""
