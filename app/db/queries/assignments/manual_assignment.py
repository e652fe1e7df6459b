"""Assignments and people by name: data for assigning and withdrawing by hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Row, case, func, select
from sqlalchemy.orm import Session, contains_eager

from topkapi.app.db.models import Assignment, CrowdWorker, Query, User
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.enums import Role, Tool

_IDS = 500  # per statement, because databases limit the number of parameters
VOIDED = "work voided"
STATES: Mapping[str, str] = {
    "open": "not finished",
    "waiting": "waiting",
    "begun": "begun",
    "finished": "finished",
    "withdrawn": "withdrawn",
    "void": "void",
}


def assignments_of_ids(
    session: Session, study_id: int, assignment_ids: Iterable[int]
) -> Sequence[Assignment]:
    """Return assignments with person and query, and lock their rows in the order of their ids."""
    wanted = sorted(set(assignment_ids))
    rows: list[Assignment] = []
    for start in range(0, len(wanted), _IDS):
        statement = (
            select(Assignment)
            .join(Assignment.query)
            .join(Assignment.user)
            .options(contains_eager(Assignment.query), contains_eager(Assignment.user))
            .where(Query.study_id == study_id, Assignment.id.in_(wanted[start : start + _IDS]))
            .order_by(Assignment.id)
            .with_for_update(of=Assignment)
        )
        rows += session.scalars(statement).all()
    return rows


def active_assessors(session: Session) -> Sequence[User]:
    """Return assessors who can sign in, by name; crowd workers take what their link gives them."""
    statement = select(User).where(
        User.role == Role.ASSESSOR, User.disabled_at.is_(None), ~User.machine, _without_crowds()
    )
    return session.scalars(statement.order_by(User.name, User.id)).all()


def workers(session: Session, study_id: int) -> Sequence[Row[User, int]]:
    """Return people with assignments in the study and how many, in order of their first one.

    Crowd workers are left out: they take what their link gives them, and no more.
    """
    statement = (
        select(User, func.count())
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.withdrawn_at.is_(None),
            by_people(),
            _without_crowds(),
        )
        .group_by(User.id)
        .order_by(func.min(Assignment.id))
    )
    return session.execute(statement).all()


def people_who_answered(session: Session) -> set[int]:
    """Return the people who have given an answer in any study."""
    answered = select(Assignment.user_id).where(Assignment.last_entry_at.is_not(None))
    return set(session.scalars(answered.distinct()))


class TrackRecord(NamedTuple):
    """Void, open and known answers of a person in a study; known pairs are those with gold."""

    void: int = 0
    open: int = 0
    known: int = 0
    right: int = 0

    @property
    def note(self) -> str:
        """What somebody who assigns work should know; empty if there is nothing."""
        if self.void:
            return VOIDED
        return f"{self.right} of {self.known} known answers right" if self.known else ""


def track_records(session: Session, study_id: int) -> dict[int, TrackRecord]:
    """Return what is known about the work of each person in the study."""
    gone, done = Assignment.withdrawn_at, Assignment.finished_at
    statement = (
        select(
            Assignment.user_id,
            func.count(Assignment.voided_at),
            func.count(case((gone.is_(None) & done.is_(None), 1))),
            func.sum(Assignment.known_answers),
            func.sum(Assignment.known_right),
        )
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
        .group_by(Assignment.user_id)
    )
    return {row[0]: TrackRecord(*map(int, row[1:])) for row in session.execute(statement)}


def work_page(
    session: Session,
    study_id: int,
    *,
    search: str = "",
    tool: Tool | None = None,
    state: str = "",
    limit: int,
    offset: int,
) -> tuple[Sequence[Assignment], int]:
    """Return a page of the study's assignments with person and query, and their number."""
    where = _matching(study_id, search, tool, state)
    joined = select(Assignment).join(Assignment.query).join(Assignment.user).where(*where)
    statement = joined.options(
        contains_eager(Assignment.query), contains_eager(Assignment.user)
    ).order_by(Query.position, Assignment.tool, Assignment.round, Assignment.id)
    total = session.scalar(select(func.count()).select_from(joined.subquery())) or 0
    return session.scalars(statement.limit(limit).offset(offset)).all(), total


def matching_ids(
    session: Session,
    study_id: int,
    *,
    search: str = "",
    tool: Tool | None = None,
    state: str = "",
    user_id: int | None = None,
    query: str | None = None,
) -> Sequence[int]:
    """Return the ids of all assignments that `work_page` would list, of one person or query."""
    joined = select(Assignment.id).join(Assignment.query).join(Assignment.user)
    where = _matching(study_id, search, tool, state)
    where += [] if user_id is None else [Assignment.user_id == user_id]
    where += [] if query is None else [Query.external_id == query]
    return session.scalars(joined.where(*where).order_by(Assignment.id)).all()


def _matching(
    study_id: int, search: str, tool: Tool | None, state: str
) -> list[ColumnElement[bool]]:
    where = [Query.study_id == study_id, *_state(state)]
    if search:
        where.append(
            User.name.icontains(search, autoescape=True)
            | User.email.icontains(search, autoescape=True)
            | (Query.external_id == search)
        )
    return where if tool is None else [*where, Assignment.tool == tool]


def _state(state: str) -> Sequence[ColumnElement[bool]]:
    gone, done = Assignment.withdrawn_at, Assignment.finished_at
    begun = Assignment.last_entry_at
    return {
        "open": [gone.is_(None), done.is_(None)],
        "waiting": [gone.is_(None), begun.is_(None), done.is_(None)],
        "begun": [gone.is_(None), begun.is_not(None), done.is_(None)],
        "finished": [gone.is_(None), done.is_not(None)],
        "withdrawn": [gone.is_not(None), Assignment.voided_at.is_(None)],
        "void": [Assignment.voided_at.is_not(None)],
    }.get(state, [])


def state_of(row: Assignment) -> str:
    """Return the state of an assignment in one word."""
    if row.voided_at is not None:
        return "void"
    if row.withdrawn_at is not None:
        return "withdrawn"
    if row.finished_at is not None:
        return "finished"
    return "waiting" if row.last_entry_at is None else "begun"


def _without_crowds() -> ColumnElement[bool]:
    """Return the condition for accounts that were not made by an entry link."""
    return ~select(CrowdWorker.user_id).where(CrowdWorker.user_id == User.id).exists()
