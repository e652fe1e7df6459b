"""Progress of a study, aggregated by the database from columns of assignments; no log is read."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Select, case, cast, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, JudgmentRow, Query, Study
from topkapi.app.db.queries.machines import by_people
from topkapi.app.db.queries.studies.studies import is_finished
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind


class Sums(NamedTuple):
    """Aggregated work: assignments, begun, finished, answers, time, and known questions left.

    How many questions ``waiting`` assignments need has to be estimated. Others are begun, or ask
    pairs that are known. ``wholes`` are begun and no adjudications; ``asked`` is what they have had
    and have left.
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
    waiting: int
    wholes: int
    asked: int
    last_entry_at: datetime | None


def sum_columns() -> list[ColumnElement[Any]]:
    """Return the sums over assignments, in the order of `Sums`."""
    row = Assignment
    seen = func.coalesce(row.last_entry_at, row.finished_at)
    left = case((row.finished_at.is_(None), func.coalesce(row.expected_left, 0)), else_=0)
    is_whole = seen.is_not(None) & (row.round >= 0)
    columns = {
        "assigned": func.count(),
        "begun": func.count(seen),
        "finished": func.count(row.finished_at),
        "answered": _whole(func.coalesce(func.sum(row.answered), 0)),
        "expected_left": _whole(func.coalesce(func.sum(left), 0)),
        "active_ms": _whole(func.coalesce(func.sum(row.active_ms), 0)),
        "checks": _whole(func.coalesce(func.sum(row.checks), 0)),
        "checks_agreed": _whole(func.coalesce(func.sum(row.checks_agreed), 0)),
        "known_answers": _whole(func.coalesce(func.sum(row.known_answers), 0)),
        "known_right": _whole(func.coalesce(func.sum(row.known_right), 0)),
        "waiting": func.count(case((seen.is_(None) & row.expected_left.is_(None), 1))),
        "wholes": func.count(case((is_whole, 1))),
        "asked": _whole(func.coalesce(func.sum(case((is_whole, row.answered + left))), 0)),
        "last_entry_at": func.max(row.last_entry_at, type_=row.last_entry_at.type),
    }
    return [columns[name] for name in Sums._fields]


def _whole(value: ColumnElement[Any]) -> ColumnElement[Any]:
    """Cast to a whole number, because PostgreSQL returns sums as decimals."""
    return cast(value, BigInteger)


def by_query(
    session: Session, study_id: int, query_ids: Sequence[int] | None = None
) -> dict[int, dict[Tool, Sums]]:
    """Aggregate the study's work per query that has any and tool, or only for ``query_ids``."""
    keys = Assignment.query_id, Assignment.tool
    statement = rows_of_study(select(*keys, *sum_columns()), study_id).group_by(*keys)
    if query_ids is not None:
        statement = statement.where(Assignment.query_id.in_(query_ids))
    found: dict[int, dict[Tool, Sums]] = {}
    for query, tool, *sums in session.execute(statement):
        found.setdefault(query, {})[tool] = Sums(*sums)
    return found


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


def rows_of_study(statement: Select[*tuple[Any, ...]], study_id: int) -> Select[*tuple[Any, ...]]:
    """Restrict a statement about assignments to those of people in a study."""
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
