"""View data of the assignment templates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from topkapi.app.db.models import Assignment, User
from topkapi.app.domain.enums import Tool
from topkapi.app.services.assignments.csv_file import CsvProblem
from topkapi.app.services.assignments.gaps import Filling
from topkapi.app.services.assignments.preview import Grid, Preview
from topkapi.app.services.assignments.rebalancing import Rebalancing
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.people.forms import OneForm
from topkapi.app.web.people.views import Refusal
from topkapi.app.web.studies.views import StudyHead

WIDEST_GRID = 16


@dataclass(frozen=True, slots=True)
class PersonChoice:
    """A person who may be assigned work."""

    user: User
    chosen: bool
    assigned: int


@dataclass(frozen=True, slots=True)
class AssignView:
    """The rotation before it is confirmed, and the forms for assigning by hand and by file."""

    head: StudyHead
    people: Sequence[PersonChoice]
    ids: Sequence[int]
    rounds: int
    assigned_rounds: int
    seed: str
    preview: Preview | None
    lists: bool
    has_lists_apart: bool
    tools: Sequence[Tool]
    queries: Sequence[tuple[str, str]]
    one: OneForm
    refusal: Refusal | None = None
    one_refusal: Refusal | None = None
    problems: Sequence[CsvProblem] = ()
    done: str = ""

    filling: Filling | None = None
    rebalancing: Rebalancing | None = None

    def fits(self, grid: Grid) -> bool:
        """Whether the grid is narrow enough to be shown."""
        return len(grid.folds) <= WIDEST_GRID


@dataclass(frozen=True, slots=True)
class WorkListView:
    """A page of the study's assignments, with the actions on them."""

    head: StudyHead
    rows: Sequence[Assignment]
    people: Sequence[User]
    states: Mapping[str, str]
    paging: Paging
    choices: Choices
    values: Mapping[str, str]
    refusal: Refusal | None = None
    done: str = ""
