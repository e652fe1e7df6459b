"""A study as exports read it: query by query, session by session, in one fixed order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, JudgmentRow, Study
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.domain.assignment.rotation import ADJUDICATION
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid, NotFound
from topkapi.app.services.results.exports.assessors import Assessors

if TYPE_CHECKING:
    from topkapi.analysis.aggregation import Method

Progress = Callable[[str, int, int], None]
_SESSIONS = 20  # whose logs are in memory at once


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """One assessor only, by e-mail, name or pseudonym; pseudonyms instead of e-mails.

    ``consensus`` is the method of the consensus; None is Bradley-Terry. ``machines`` adds the work
    of machine assessors to that of people.
    """

    assessor: str | None = None
    pseudonyms: bool = False
    consensus: str | None = None
    machines: bool = False


class ExportedQuery(NamedTuple):
    """A query: its number in the database, its position from 1, its id, its text."""

    number: int
    position: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """One assignment with its assessor; ``names`` are the ids of the query's pages by number."""

    study: str
    query: ExportedQuery
    assessor: str
    assignment: Assignment
    names: Mapping[int, str]

    @property
    def adjudicates(self) -> bool:
        """Whether the session judges open pairs of others, and makes no list."""
        return self.assignment.round == ADJUDICATION

    @property
    def withdrawn(self) -> bool:
        """Whether an administrator withdrew the assignment."""
        return self.assignment.withdrawn_at is not None


def no_progress(_doing: str, _done: int, _total: int) -> None:
    """Ignore progress."""


def _method(name: str | None) -> "Method | None":
    """Return the method of a consensus; raise Invalid with the known names."""
    match name:
        case None | "bradley-terry" | "supervised-kemeny":
            return name
    raise Invalid(
        f"There is no consensus {name!r}: choose bradley-terry or supervised-kemeny.",
        field="consensus",
    )


class StudySource:
    """The study ``slug`` in one transaction; nothing of it is kept in memory."""

    def __init__(
        self,
        session: Session,
        slug: str,
        options: ExportOptions | None = None,
        progress: Progress = no_progress,
    ) -> None:
        options = options or ExportOptions()
        study = study_of_slug(session, slug)
        if study is None:
            raise NotFound(f"There is no study {slug!r}.")
        self.study: Study = study
        self.session = session
        self.assessors = Assessors(session, study.id, pseudonyms=options.pseudonyms)
        self.consensus = _method(options.consensus)
        wanted = options.assessor
        self.only = None if wanted is None else self.assessors.find(wanted).user_id
        self.machines = options.machines
        self.only_query: int | None = None  # reads all queries unless one is set
        self._progress = progress

    def queries(self) -> Iterator[ExportedQuery]:
        """Yield the queries in order, and report progress."""
        total = queries.count_queries(self.session, self.study.id)
        rows = queries.queries_in_order(self.session, self.study.id)
        for position, (number, name, text) in enumerate(rows, start=1):
            if self.only_query in (None, number):
                yield ExportedQuery(number, position, name, text)
            self._progress("exporting", position, total)

    def works(
        self, query: ExportedQuery, *, withdrawn: bool, tool: Tool | None
    ) -> list[AssignmentRecord]:
        """Return the assignments of a query, sorted by assessor, tool and round."""
        found = [
            row
            for row in queries.assignments_of_query(
                self.session, query.number, self.only, machines=self.machines
            )
            if (withdrawn or row.withdrawn_at is None) and tool in (None, row.tool)
        ]
        found.sort(
            key=lambda row: (self.assessors.position(row.user_id), row.tool.value, row.round)
        )
        names = queries.document_names(self.session, query.number) if found else {}
        slug = self.study.slug
        return [
            AssignmentRecord(slug, query, self.assessors.name(row.user_id), row, names)
            for row in found
        ]

    def all_works(
        self, *, withdrawn: bool = False, tool: Tool | None = None
    ) -> Iterator[AssignmentRecord]:
        """Yield the assignments of all queries."""
        for query in self.queries():
            yield from self.works(query, withdrawn=withdrawn, tool=tool)

    def with_logs(
        self, works: Sequence[AssignmentRecord]
    ) -> Iterator[tuple[AssignmentRecord, list[JudgmentRow]]]:
        """Yield each assignment with its log, a few in memory at a time."""
        for start in range(0, len(works), _SESSIONS):
            few = works[start : start + _SESSIONS]
            logs = queries.logs_of(self.session, [work.assignment.id for work in few])
            for work in few:
                yield work, logs.pop(work.assignment.id)

    def list_logs(self) -> Iterator[tuple[AssignmentRecord, list[JudgmentRow]]]:
        """Yield the sessions with pairs that make a list, with their logs."""
        for query in self.queries():
            yield from self.with_logs(self.list_works(query))

    def list_works(self, query: ExportedQuery) -> list[AssignmentRecord]:
        """Return the sessions with pairs of a query that make a list: no adjudications."""
        found = self.works(query, withdrawn=False, tool=Tool.PAIRS)
        return [work for work in found if not work.adjudicates]

    def all_logs(
        self, *, withdrawn: bool = False, tool: Tool | None = None
    ) -> Iterator[tuple[AssignmentRecord, list[JudgmentRow]]]:
        """Yield the assignments of all queries with their logs."""
        for query in self.queries():
            yield from self.with_logs(self.works(query, withdrawn=withdrawn, tool=tool))
