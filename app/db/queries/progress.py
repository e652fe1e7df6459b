"""Progress of a study, aggregated by the database from columns of assignments; no log is read."""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Row, Select, case, cast, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, JudgmentRow, Query, Study, User
from topkapi.app.db.queries.machines import by_people
from topkapi.app.db.queries.studies.studies import is_finished
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind


class Sums(NamedTuple):
    """Aggregated work: assignments, begun, finished, answers, time, and known questions left.

    ``waiting`` assignments are not begun; how many questions they need has to be estimated.
    """

    assigned: int
    begun: int
    finished: int
    answered: int
    expected_left: int
    active_ms: int
    checks: int
    checks_agreed: int
    known_answers: int
    known_right: int
    last_entry_at: datetime | None

    @property
    def waiting(self) -> int:
        """Assignments that nobody has begun."""
        return self.assigned - self.begun


def _sums() -> dict[str, ColumnElement[Any]]:
    row = Assignment
    left = case((row.finished_at.is_(None), func.coalesce(row.expected_left, 0)), else_=0)
    return {
        "assigned": func.count(),
        "begun": func.count(func.coalesce(row.last_entry_at, row.finished_at)),
        "finished": func.count(row.finished_at),
        "answered": _whole(func.coalesce(func.sum(row.answered), 0)),
        "expected_left": _whole(func.coalesce(func.sum(left), 0)),
        "active_ms": _whole(func.coalesce(func.sum(row.active_ms), 0)),
        "checks": _whole(func.coalesce(func.sum(row.checks), 0)),
        "checks_agreed": _whole(func.coalesce(func.sum(row.checks_agreed), 0)),
        "known_answers": _whole(func.coalesce(func.sum(row.known_answers), 0)),
        "known_right": _whole(func.coalesce(func.sum(row.known_right), 0)),
        "last_entry_at": func.max(row.last_entry_at, type_=row.last_entry_at.type),
    }


def _whole(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """Cast to a whole number, because PostgreSQL returns sums as decimals."""
    return cast(value, BigInteger)


def by_person(session: Session, study_id: int) -> list[tuple[int, Tool, Sums]]:
    """Aggregate the study's work per person and tool, in one pass over its assignments."""
    keys = Assignment.user_id, Assignment.tool
    statement = _of_study(select(*keys, *_sums().values()), study_id).group_by(*keys)
    return [(row[0], row[1], Sums(*row[2:])) for row in session.execute(statement)]


def finished_once(session: Session, study_id: int) -> dict[int, int]:
    """Return how many queries each person has finished, also those that others have reopened."""
    finished = func.coalesce(Assignment.finished_at, Assignment.completed_at)
    statement = _of_study(select(Assignment.user_id, func.count(finished)), study_id)
    rows = session.execute(statement.group_by(Assignment.user_id))
    return {row[0]: row[1] for row in rows}


def by_query(
    session: Session, study_id: int, query_ids: Sequence[int] | None = None
) -> dict[int, Sums]:
    """Aggregate the study's work per query that has any, or only for ``query_ids``."""
    statement = _of_study(select(Assignment.query_id, *_sums().values()), study_id)
    if query_ids is not None:
        statement = statement.where(Assignment.query_id.in_(query_ids))
    rows = session.execute(statement.group_by(Assignment.query_id))
    return {row[0]: Sums(*row[1:]) for row in rows}


def work_counts(session: Session, study_id: int) -> dict[str, int]:
    """Return the number of assignments, begun ones and finished ones."""
    counts = (
        func.count(),
        func.count(func.coalesce(Assignment.last_entry_at, Assignment.finished_at)),
        func.count(Assignment.finished_at),
    )
    row = session.execute(_of_study(select(*counts), study_id)).one()
    return dict(zip(("assignments", "begun", "finished"), row, strict=True))


class Ordered(NamedTuple):
    """Sorting, filter and page of a table."""

    sort: str
    descending: bool
    search: str
    limit: int
    offset: int

    @classmethod
    def of(cls, sort: str, search: str, limit: int, offset: int) -> "Ordered":
        """Return the order that ``sort`` names; a minus before the name reverses it."""
        name, descending = sort.removeprefix("-"), sort.startswith("-")
        return cls(name, descending, search.strip(), limit, offset)


PEOPLE_SORTS = (
    *("name", "finished", "answered", "pace", "expected_left", "consistency", "accuracy"),
    "last",
)
QUERY_SORTS = ("query", "finished", "answered", "pace", "expected_left", "last")


def matching_people(session: Session, user_ids: Collection[int], search: str) -> Sequence[User]:
    """Return those people whose name or e-mail contains ``search``, by name."""
    statement = select(User).where(User.id.in_(user_ids)).order_by(User.name, User.id)
    if search:
        statement = statement.where(
            User.name.icontains(search, autoescape=True)
            | User.email.icontains(search, autoescape=True)
        )
    return session.scalars(statement).all()


def matching_queries(session: Session, study_id: int, search: str) -> Sequence[int]:
    """Return ids of the study's queries that contain ``search``, in the study's order."""
    statement = select(Query.id).where(Query.study_id == study_id)
    if search:
        found = Query.text.icontains(search, autoescape=True) | (Query.external_id == search)
        statement = statement.where(found)
    return session.scalars(statement.order_by(Query.position, Query.id)).all()


def queries_of(session: Session, query_ids: Sequence[int]) -> dict[int, Query]:
    """Return queries by id."""
    statement = select(Query).where(Query.id.in_(query_ids))
    return {query.id: query for query in session.scalars(statement)}


def cells(
    session: Session, user_ids: Sequence[int], query_ids: Sequence[int]
) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the work of these people on these queries."""
    statement = select(
        Assignment.user_id,
        Assignment.query_id,
        Assignment.tool,
        Assignment.round,
        Assignment.answered,
        Assignment.expected_left,
        Assignment.finished_at,
        Assignment.last_entry_at,
    ).where(
        Assignment.query_id.in_(query_ids),
        Assignment.user_id.in_(user_ids),
        Assignment.withdrawn_at.is_(None),
    )
    return session.execute(statement.order_by(Assignment.round)).all()


def latest_finished(session: Session, study_id: int, limit: int) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the work finished last: person, query, tool, answers, finish."""
    statement = (
        select(
            User.name,
            Query.external_id,
            Assignment.tool,
            Assignment.answered,
            Assignment.finished_at,
        )
        .join(Query, Query.id == Assignment.query_id)
        .join(User, User.id == Assignment.user_id)
        .where(Assignment.id.in_(_last_ids(study_id, limit)))
        .order_by(Assignment.finished_at.desc(), Assignment.id.desc())
    )
    return session.execute(statement).all()


def _last_ids(study_id: int, limit: int) -> Select[int]:
    """Select the latest finished ids before any join, so that only finished rows are read."""
    mine = select(Query.id).where(Query.study_id == study_id)
    return (
        select(Assignment.id)
        .where(
            Assignment.query_id.in_(mine),
            Assignment.withdrawn_at.is_(None),
            Assignment.finished_at.is_not(None),
            by_people(),
        )
        .order_by(Assignment.finished_at.desc(), Assignment.id.desc())
        .limit(limit)
    )


def _of_study(statement: Select[*tuple[Any, ...]], study_id: int) -> Select[*tuple[Any, ...]]:
    return statement.join(Query, Query.id == Assignment.query_id).where(
        Query.study_id == study_id, Assignment.withdrawn_at.is_(None), by_people()
    )


def open_studies(session: Session) -> Sequence[Study]:
    """Return the studies that are not archived, latest first."""
    statement = select(Study).where(Study.archived_at.is_(None), is_finished())
    return session.scalars(statement.order_by(Study.id.desc())).all()


def finished_per_day(session: Session, since: datetime) -> dict[int, dict[date, int]]:
    """Return the number of assignments finished per study and day (UTC) since then."""
    day = func.date(Assignment.finished_at)
    statement = (
        select(Query.study_id, day, func.count())
        .join(Query, Query.id == Assignment.query_id)
        .where(Assignment.withdrawn_at.is_(None), Assignment.finished_at >= since, by_people())
        .group_by(Query.study_id, day)
    )
    found: dict[int, dict[date, int]] = {}
    for study_id, when, count in session.execute(statement):
        found.setdefault(study_id, {})[date.fromisoformat(str(when))] = count
    return found


def sides_per_person(session: Session, study_id: int) -> dict[int, tuple[int, int]]:
    """Return, per person, how often the left and the right page of a pair was chosen."""
    statement = (
        select(
            Assignment.user_id,
            func.sum(case((JudgmentRow.answer == "left", 1), else_=0)),
            func.sum(case((JudgmentRow.answer == "right", 1), else_=0)),
        )
        .join(Assignment, Assignment.id == JudgmentRow.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.tool == Tool.PAIRS,
            Assignment.withdrawn_at.is_(None),
            JudgmentRow.entry == EntryKind.ANSWER,
        )
        .group_by(Assignment.user_id)
    )
    return {user: (int(left), int(right)) for user, left, right in session.execute(statement)}
