"""How far a study is, summed up by the database from the columns of assignments; no log is read."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Row, Select, case, cast, func, select
from sqlalchemy.orm import Session

from app.db.models import Assignment, Query, User
from app.domain.words import Tool


class Sums(NamedTuple):
    """Work summed up: pieces, begun, finished, answers, time, and what is known to be left.

    ``waiting`` pieces are not begun; how much they hold has to be guessed.
    """

    assigned: int
    begun: int
    finished: int
    answered: int
    expected_left: int
    active_ms: int
    checks: int
    checks_agreed: int
    last_entry_at: datetime | None

    @property
    def waiting(self) -> int:
        """Pieces that nobody has begun."""
        return self.assigned - self.begun


def _sums() -> dict[str, ColumnElement[Any]]:
    row = Assignment
    left = case((row.finished_at.is_(None), func.coalesce(row.expected_left, 0)), else_=0)
    return {
        "assigned": func.count(),
        "begun": func.count(row.last_entry_at),
        "finished": func.count(row.finished_at),
        "answered": _whole(func.coalesce(func.sum(row.answered), 0)),
        "expected_left": _whole(func.coalesce(func.sum(left), 0)),
        "active_ms": _whole(func.coalesce(func.sum(row.active_ms), 0)),
        "checks": _whole(func.coalesce(func.sum(row.checks), 0)),
        "checks_agreed": _whole(func.coalesce(func.sum(row.checks_agreed), 0)),
        "last_entry_at": func.max(row.last_entry_at, type_=row.last_entry_at.type),
    }


def _whole(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """PostgreSQL sums up to decimals; the sums here are whole numbers."""
    return cast(value, BigInteger)


def by_tool(session: Session, study_id: int) -> dict[Tool, Sums]:
    """The study's work summed up for each tool."""
    statement = _of_study(select(Assignment.tool, *_sums().values()), study_id)
    found = {row[0]: Sums(*row[1:]) for row in session.execute(statement.group_by(Assignment.tool))}
    return {tool: found[tool] for tool in Tool if tool in found}


def work_counts(session: Session, study_id: int) -> dict[str, int]:
    """Pieces of work, begun and finished."""
    sums = by_tool(session, study_id).values()
    return {
        "assignments": sum(each.assigned for each in sums),
        "begun": sum(each.begun for each in sums),
        "finished": sum(each.finished for each in sums),
    }


class Ordered(NamedTuple):
    """How a table is sorted, filtered and cut."""

    sort: str
    descending: bool
    search: str
    limit: int
    offset: int


def _orders() -> Mapping[str, ColumnElement[Any]]:
    sums = _sums()
    answered = func.nullif(sums["answered"], 0)
    checks = func.nullif(sums["checks"], 0)
    return {
        **sums,
        "pace": sums["active_ms"] * 1.0 / answered,
        "consistency": sums["checks_agreed"] * 1.0 / checks,
        "share": sums["finished"] * 1.0 / func.nullif(sums["assigned"], 0),
    }


PEOPLE_SORTS = ("name", "finished", "answered", "pace", "expected_left", "consistency", "last")
QUERY_SORTS = ("query", "finished", "answered", "pace", "expected_left", "last")


def people_page(
    session: Session, study_id: int, wanted: Ordered
) -> tuple[list[tuple[User, Sums]], int]:
    """Some of the people with their work summed up, and how many there are."""
    summed = _of_study(
        select(Assignment.user_id, *(part.label(name) for name, part in _orders().items())),
        study_id,
    )
    grouped = summed.group_by(Assignment.user_id).subquery()
    keys = {"name": User.name, "last": grouped.c.last_entry_at}
    statement = select(User, *(grouped.c[name] for name in Sums._fields)).join(
        grouped, grouped.c.user_id == User.id
    )
    if wanted.search:
        statement = statement.where(
            User.name.icontains(wanted.search, autoescape=True)
            | User.email.icontains(wanted.search, autoescape=True)
        )
    return _cut(
        session, statement, keys.get(wanted.sort, grouped.c.get(wanted.sort)), User.id, wanted
    )


def queries_page(
    session: Session, study_id: int, wanted: Ordered
) -> tuple[list[tuple[Query, Sums]], int]:
    """Some of the queries with their work summed up, and how many there are."""
    summed = _of_study(
        select(Assignment.query_id, *(part.label(name) for name, part in _orders().items())),
        study_id,
    )
    if wanted.sort == "query":  # the page is known without the sums, which are made for it alone
        summed = summed.where(Assignment.query_id.in_(_page_of_queries(study_id, wanted)))
    grouped = summed.group_by(Assignment.query_id).subquery()
    keys = {"query": Query.position, "last": grouped.c.last_entry_at}
    columns = (func.coalesce(grouped.c[name], 0) for name in Sums._fields[:-1])
    statement = (
        select(Query, *columns, grouped.c.last_entry_at)
        .outerjoin(grouped, grouped.c.query_id == Query.id)
        .where(*_queries(study_id, wanted.search))
    )
    key = keys.get(wanted.sort, grouped.c.get(wanted.sort))
    return _cut(session, statement, key, Query.id, wanted)


def _queries(study_id: int, search: str) -> list[ColumnElement[bool]]:
    where = [Query.study_id == study_id]
    if search:
        found = Query.text.icontains(search, autoescape=True) | (Query.external_id == search)
        where.append(found)
    return where


def _page_of_queries(study_id: int, wanted: Ordered) -> Select[int]:
    order = Query.position.desc() if wanted.descending else Query.position.asc()
    statement = select(Query.id).where(*_queries(study_id, wanted.search)).order_by(order, Query.id)
    return statement.limit(wanted.limit).offset(wanted.offset)


def _cut(
    session: Session, statement: Select[*tuple[Any, ...]], key: Any, last: Any, wanted: Ordered
) -> tuple[list[tuple[Any, Sums]], int]:
    order = key.desc().nulls_last() if wanted.descending else key.asc().nulls_last()
    counted = statement.add_columns(func.count().over()).order_by(order, last)
    rows = session.execute(counted.limit(wanted.limit).offset(wanted.offset)).all()
    if not rows and wanted.offset:  # behind the last page nobody counts
        total = session.scalar(select(func.count()).select_from(statement.subquery())) or 0
    else:
        total = rows[0][-1] if rows else 0
    return [(row[0], Sums(*row[1:-1])) for row in rows], total


def cells(
    session: Session, user_ids: Sequence[int], query_ids: Sequence[int]
) -> Sequence[Row[*tuple[Any, ...]]]:
    """The work of these people on these queries."""
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
    """The work finished last: person, query, tool, answers, when."""
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
        .where(
            Query.study_id == study_id,
            Assignment.withdrawn_at.is_(None),
            Assignment.finished_at.is_not(None),
        )
        .order_by(Assignment.finished_at.desc(), Assignment.id.desc())
        .limit(limit)
    )
    return session.execute(statement).all()


def _of_study(statement: Select[*tuple[Any, ...]], study_id: int) -> Select[*tuple[Any, ...]]:
    return statement.join(Query, Query.id == Assignment.query_id).where(
        Query.study_id == study_id, Assignment.withdrawn_at.is_(None)
    )
