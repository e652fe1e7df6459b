"""Forms and view data of the assignment pages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field

from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.services.assignments.adjudication import Disagreement
from topkapi.app.services.assignments.csv_file import MOST_BYTES, CsvProblem
from topkapi.app.services.assignments.preview import Grid, Preview
from topkapi.app.services.assignments.rebalancing import Rebalancing
from topkapi.app.services.assignments.records import ListedAssignment
from topkapi.app.services.assignments.rotation import Part
from topkapi.app.web.access.bodies import upload
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.common.received import Line, PersonId, Received
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.jobs.views import Computed
from topkapi.app.web.people.views import InviteForm, Link
from topkapi.app.web.studies.visit import StudyHead

CSV = upload(MOST_BYTES, seconds=300.0)
WIDEST_GRID = 16


class RotationForm(Received):
    """The rotation as it was previewed: people in order, rounds and seed."""

    people: list[PersonId] = Field(default_factory=list)
    rounds: int = Field(1, ge=1, le=10_000)
    seed: Annotated[Line, AfterValidator(str.strip)] = ""
    lists: bool = False
    part: Part | None = None


class RebalanceForm(Received):
    """The selected people in order, and the digest of the plan that was shown."""

    people: list[PersonId] = Field(default_factory=list)
    digest: Line = ""


class BulkForm(Received):
    """Selected work, or all that the filters match, and what to do with it."""

    ids: list[PersonId] = Field(default_factory=list)
    all: bool = False
    search: Line = ""
    tool: Annotated[Tool | None, BeforeValidator(lambda value: value or None)] = None
    state: Line = ""
    act: Literal["withdraw", "reassign", "void", "restore", "undo"] = "withdraw"
    confirmed: bool = False
    email: Line = ""
    reason: Annotated[str, Field(max_length=1000)] = ""
    next: Annotated[str, Field(max_length=1000)] = ""


class OneForm(Received):
    """One assignment, made by hand."""

    email: Line = ""
    query: Line = ""
    tool: Tool = Tool.PAIRS
    round: int = Field(1, ge=1, le=10_000)


class ReassignForm(Received):
    """The assessor who takes over, and the page to go back to."""

    email: Line = ""
    next: Annotated[str, Field(max_length=1000)] = ""


class AdjudicationForm(Received):
    """The query, and the person who judges its open pairs."""

    query: Line = ""
    email: Line = ""


@dataclass(frozen=True, slots=True)
class PersonChoice:
    """A person who may be assigned work; ``is_expected`` if they have never been here."""

    id: int
    name: str
    email: str
    is_expected: bool
    chosen: bool
    assigned: int
    note: str

    @classmethod
    def of(cls, user: User, *, chosen: bool, assigned: int, answered: bool, note: str) -> Self:
        """Copy the person; ``assigned`` is the number of their assignments in the study."""
        is_expected = (  # who has a token needs no password, and administrators choose people here
            user.password_hash is None and not answered and user.role is Role.ASSESSOR
        )
        return cls(user.id, user.name, user.email, is_expected, chosen, assigned, note)


@dataclass(frozen=True, slots=True)
class AssignView:
    """The rotation before it is confirmed, and the forms for assigning by hand and by file.

    ``missing`` counts promised work that nobody has, with every tool.
    """

    head: StudyHead
    people: Sequence[PersonChoice]
    ids: Sequence[int]
    rounds: int
    promised_rounds: int
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
    rebalancing: Rebalancing | None = None
    asked: bool = False
    invited: InviteForm = field(default_factory=InviteForm)
    link: Link | None = None
    missing: int = 0

    @property
    def elsewhere(self) -> int:
        """How much is missing of the tools that this page does not assign; lists are apart."""
        if not self.preview or self.rounds != self.promised_rounds or not self.has_lists_apart:
            return 0
        return max(0, self.missing - len(self.preview.gaps))

    @property
    def is_begun(self) -> bool:
        """Whether something is assigned."""
        return self.promised_rounds > 0 or any(each.assigned for each in self.people)

    def fits(self, grid: Grid) -> bool:
        """Whether the grid is narrow enough to be shown."""
        return len(grid.folds) <= WIDEST_GRID


@dataclass(frozen=True, slots=True)
class AdjudicationView:
    """The queries of a study with the most disagreement; ``total`` counts all that disagree.

    ``computed`` is the state of what a job computes in a large study.
    """

    head: StudyHead
    queries: Sequence[Disagreement]
    total: int
    done: int
    computed: Computed | None
    refusal: Refusal | None = None

    @property
    def proposed(self) -> Sequence[str]:
        """Names of the people proposed, one per listed query that can be assigned."""
        return [each.free[0].name for each in self.queries if each.is_assignable]

    @property
    def loads(self) -> Sequence[tuple[str, int]]:
        """How many queries each of them would get, most first."""
        return Counter(self.proposed).most_common()


@dataclass(frozen=True, slots=True)
class WorkListView:
    """A page of the study's assignments, with the actions on them.

    ``people`` are e-mail addresses and names; ``to_confirm`` is work about to be withdrawn, of
    which ``begun`` have answers; ``undo`` is one of the assignments that were just withdrawn.
    """

    head: StudyHead
    rows: Sequence[ListedAssignment]
    people: Sequence[tuple[str, str]]
    states: Mapping[str, str]
    paging: Paging
    choices: Choices
    values: Mapping[str, str]
    refusal: Refusal | None = None
    done: str = ""
    undo: int = 0
    to_confirm: Sequence[int] = ()
    confirm_all: bool = False
    begun: int = 0
