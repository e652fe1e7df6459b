"""Data for assigning: existing assignments, people, queries and their candidates."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Query, User
from topkapi.app.domain.enums import Tool


class WorkRow(NamedTuple):
    """What assigning reads of an assignment: thousands are read at once, without their plans."""

    id: int
    user_id: int
    query_id: int
    tool: Tool
    round: int
    withdrawn_at: datetime | None
    finished_at: datetime | None
    last_entry_at: datetime | None


def assignments_of_study(session: Session, study_id: int) -> list[WorkRow]:
    """Return all assignments of a study, including withdrawn ones."""
    columns = [getattr(Assignment, name) for name in WorkRow._fields]
    statement = select(*columns).join(Query, Query.id == Assignment.query_id)
    found = session.execute(statement.where(Query.study_id == study_id).order_by(Assignment.id))
    return [WorkRow._make(row) for row in found]


def queries_of_study(session: Session, study_id: int) -> Sequence[Query]:
    """Return the study's queries in order."""
    statement = select(Query).where(Query.study_id == study_id).order_by(Query.position)
    return session.scalars(statement).all()


def users_by_id(session: Session, user_ids: Iterable[int]) -> dict[int, User]:
    """Return people by id."""
    statement = select(User).where(User.id.in_(set(user_ids)))
    return {user.id: user for user in session.scalars(statement)}


def candidates_of_study(session: Session, study_id: int) -> dict[int, list[int]]:
    """Return the candidate documents of each query of the study, in order."""
    statement = (
        select(Candidate.query_id, Candidate.document_id)
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study_id)
        .order_by(Candidate.query_id, Candidate.position)
    )
    found: dict[int, list[int]] = {}
    for query_id, document_id in session.execute(statement):
        found.setdefault(query_id, []).append(document_id)
    return found
