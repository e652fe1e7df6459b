"""A study as exports read it: query by query, session by session, in one fixed order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, JudgmentRow, Query, Study, User
from topkapi.app.db.queries.machines import by_people
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.domain.assignment.rotation import ADJUDICATION
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid, NotFound

Progress = Callable[[str, int, int], None]
TEAM = " + "  # between the names of a team
_SESSIONS = 20  # whose logs are in memory at once


@dataclass(frozen=True, slots=True)
class ExportedAssessor:
    """A user with present or past assignments in the study."""

    user_id: int
    email: str
    name: str
    pseudonym: str


class Assessors:
    """All assessors of a study; pseudonyms follow the order of their first assignments."""

    def __init__(self, session: Session, study_id: int, *, pseudonyms: bool) -> None:
        rows = _assessors_in_order(session, study_id)
        self._people = {
            user_id: ExportedAssessor(user_id, email, name, f"assessor-{number:02}")
            for number, (user_id, email, name) in enumerate(rows, start=1)
        }
        shown = {user_id: _shown(each, pseudonyms) for user_id, each in self._people.items()}
        self._names = shown
        order = list(shown) if pseudonyms else sorted(shown, key=lambda user_id: shown[user_id])
        self._positions = {user_id: position for position, user_id in enumerate(order)}

    def name(self, user_id: int) -> str:
        """Return the name of an assessor in the export."""
        return self._names[user_id]

    def position(self, user_id: int) -> int:
        """Return the position of an assessor in the order of the export."""
        return self._positions[user_id]

    @property
    def people(self) -> list[ExportedAssessor]:
        """All assessors, in the order of the export."""
        return [self._people[user_id] for user_id in self._positions]

    @property
    def names(self) -> list[str]:
        """Names of all assessors, in the order of the export."""
        return [self._names[user_id] for user_id in self._positions]

    def find(self, wanted: str) -> ExportedAssessor:
        """Return the assessor with this e-mail, pseudonym or full name."""
        people = self._people.values()
        for known in ("email", "pseudonym", "name"):
            found = [each for each in people if getattr(each, known).lower() == wanted.lower()]
            if len(found) == 1:
                return found[0]
        raise NotFound(f"No assessor {wanted!r} has work in this study. {self.offer()}")

    def offer(self) -> str:
        """Return a sentence that lists the assessors to choose from."""
        names = self.names
        if not names:
            return "Nothing has been assigned yet."
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        return f"Choose one of {', '.join(names[:10])}{more}."


def _shown(assessor: ExportedAssessor, pseudonyms: bool) -> str:
    return assessor.pseudonym if pseudonyms else assessor.email


if TYPE_CHECKING:
    from topkapi.analysis.aggregation import Method


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """One assessor only, by e-mail, name or pseudonym; pseudonyms instead of e-mails.

    ``consensus`` is the method of the consensus; None is Bradley-Terry. ``machines`` adds the work
    of machine assessors to that of people. ``license``, ``creators`` and ``citation`` are written
    into a dataset.
    """

    assessor: str | None = None
    pseudonyms: bool = False
    consensus: str | None = None
    machines: bool = False
    license: str = ""
    creators: tuple[str, ...] = ()
    citation: str = ""


class ExportedQuery(NamedTuple):
    """A query: its number in the database, its position from 1, its id, its text."""

    number: int
    position: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """One assignment with its assessor; ``names`` are the ids of the query's pages by number.

    If it stands for the list of a team, ``team`` has the assignments of the other members.
    """

    study: str
    query: ExportedQuery
    assessor: str
    assignment: Assignment
    names: Mapping[int, str]
    team: tuple[Assignment, ...] = ()

    @property
    def user_ids(self) -> tuple[int, ...]:
        """The assessor, or the members of the team."""
        return self.assignment.user_id, *(other.user_id for other in self.team)

    @property
    def adjudicates(self) -> bool:
        """Whether the session judges open pairs of others, and makes no list."""
        return self.assignment.round == ADJUDICATION

    @property
    def withdrawn(self) -> bool:
        """Whether an administrator withdrew the assignment."""
        return self.assignment.withdrawn_at is not None


def team_of(work: AssignmentRecord) -> str | None:
    """Return what the assignments of a team on one query have in common; None without a team."""
    assignment = work.assignment
    is_team = assignment.tool is Tool.PAIRS and assignment.plan.get("together")
    return assignment.plan_digest if is_team else None


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
        self.options = options = options or ExportOptions()
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

    def queries(self, *, by_id: bool = False) -> Iterator[ExportedQuery]:
        """Yield the queries in the study's order, or by their ids, and report progress."""
        total = queries.count_queries(self.session, self.study.id)
        rows = queries.queries_in_order(self.session, self.study.id)
        heads = (ExportedQuery(n, at, *rest) for at, (n, *rest) in enumerate(rows, start=1))
        ordered = sorted(heads, key=lambda head: head.name) if by_id else heads
        for done, head in enumerate(ordered, start=1):
            if self.only_query in (None, head.number):
                yield head
            self._progress("exporting", done, total)

    def works(
        self, query: ExportedQuery, *, withdrawn: bool, tool: Tool | None
    ) -> list[AssignmentRecord]:
        """Return the assignments of a query, sorted by assessor, tool and round."""
        rows = [
            row
            for row in _assignments_of_query(
                self.session, query.number, self.only, machines=self.machines
            )
            if (withdrawn or row.withdrawn_at is None) and tool in (None, row.tool)
        ]
        rows.sort(key=lambda row: (self.assessors.position(row.user_id), row.tool.value, row.round))
        names = queries.document_names(self.session, query.number) if rows else {}
        slug = self.study.slug
        return [
            AssignmentRecord(slug, query, self.assessors.name(row.user_id), row, names)
            for row in rows
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
        """Yield each assignment with its log, a few in memory at a time.

        The logs of a team follow one another.
        """
        for start in range(0, len(works), _SESSIONS):
            few = works[start : start + _SESSIONS]
            members = {work.assignment.id: (work.assignment, *work.team) for work in few}
            ids = [each.id for team in members.values() for each in team]
            logs = _logs_of(self.session, ids)
            for work in few:
                team = members[work.assignment.id]
                yield work, [row for each in team for row in logs.pop(each.id)]

    def list_logs(self) -> Iterator[tuple[AssignmentRecord, list[JudgmentRow]]]:
        """Yield the sessions with pairs that make a list, with their logs."""
        for query in self.queries():
            yield from self.with_logs(self.list_works(query))

    def list_works(self, query: ExportedQuery) -> list[AssignmentRecord]:
        """Return the sessions with pairs of a query that make a list: no adjudications.

        A team makes one list, under the names of its members.
        """
        lists: dict[object, AssignmentRecord] = {}
        for work in self.works(query, withdrawn=False, tool=Tool.PAIRS):
            team = team_of(work)
            first = lists.get(team)
            if team is not None and first is not None:
                lists[team] = replace(
                    first,
                    assessor=TEAM.join((first.assessor, work.assessor)),
                    team=(*first.team, work.assignment),
                )
            elif not work.adjudicates:
                lists[team or work.assignment.id] = work
        return list(lists.values())

    def all_logs(
        self, *, withdrawn: bool = False, tool: Tool | None = None
    ) -> Iterator[tuple[AssignmentRecord, list[JudgmentRow]]]:
        """Yield the assignments of all queries with their logs."""
        for query in self.queries():
            yield from self.with_logs(self.works(query, withdrawn=withdrawn, tool=tool))


def _assessors_in_order(session: Session, study_id: int) -> Sequence[Row[int, str, str]]:
    """Return id, e-mail and name of everyone who has or had work, by first assignment."""
    statement = (
        select(User.id, User.email, User.name)
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
        .group_by(User.id, User.email, User.name)
        .order_by(func.min(Assignment.id))
    )
    return session.execute(statement).all()


def _assignments_of_query(
    session: Session, query_id: int, user_id: int | None, *, machines: bool = False
) -> Sequence[Assignment]:
    """Return all assignments of a query, withdrawn ones too; with ``user_id``, one person's.

    Those of machines are among them only with ``machines``.
    """
    statement = select(Assignment).where(Assignment.query_id == query_id)
    if user_id is not None:
        statement = statement.where(Assignment.user_id == user_id)
    elif not machines:
        statement = statement.where(by_people())
    return session.scalars(statement.order_by(Assignment.id)).all()


def _logs_of(session: Session, assignment_ids: Sequence[int]) -> dict[int, list[JudgmentRow]]:
    """Return the logs of assignments, each in order.

    The rows have the attributes of `JudgmentRow` and are plain: tracking each in the session would
    take half as long again.
    """
    logs: dict[int, list[JudgmentRow]] = {number: [] for number in assignment_ids}
    statement = (
        select(*JudgmentRow.__table__.columns)
        .where(JudgmentRow.assignment_id.in_(assignment_ids))
        .order_by(JudgmentRow.assignment_id, JudgmentRow.position)
    )
    for row in session.execute(statement):
        logs[row.assignment_id].append(cast(JudgmentRow, row))
    return logs
