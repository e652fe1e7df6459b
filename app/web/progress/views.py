"""View data of the progress templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from topkapi.app.db.models import Flag, Query, User
from topkapi.app.services.progress.study_progress import Cell, Finished, Line, Overview
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.studies.views import StudyHead

PARTS = ("stats", "matrix", "people", "queries", "latest", "flags")


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
    flags: Sequence[Flag]
    open_flags: int
    choices: Choices
    values: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    marks: str = ""
