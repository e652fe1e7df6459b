"""Data for assigning: existing assignments, people, queries and their candidates."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Query, User
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.assignment.rotation import ADJUDICATION
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
    """Return all assignments of people in a study, including withdrawn ones."""
    columns = [getattr(Assignment, name) for name in WorkRow._fields]
    statement = select(*columns).join(Query, Query.id == Assignment.query_id)
    mine = statement.where(Query.study_id == study_id, by_people())
    found = session.execute(mine.order_by(Assignment.id))
    return [WorkRow._make(row) for row in found]


def adjudications_of_study(
    session: Session, study_id: int
) -> Sequence[Row[int, str, datetime | None]]:
    """Return query, name of the person and time of finishing of the study's adjudications."""
    statement = (
        select(Assignment.query_id, User.name, Assignment.finished_at)
        .join(Query, Query.id == Assignment.query_id)
        .join(User, User.id == Assignment.user_id)
        .where(
            Query.study_id == study_id,
            Assignment.round == ADJUDICATION,
            Assignment.withdrawn_at.is_(None),
        )
        .order_by(Assignment.id)
    )
    return session.execute(statement).all()


def queries_of_study(session: Session, study_id: int) -> Sequence[Query]:
    """Return the study's queries in order."""
    statement = select(Query).where(Query.study_id == study_id).order_by(Query.position)
    return session.scalars(statement).all()


def users_by_id(session: Session, user_ids: Iterable[int]) -> dict[int, User]:
    """Return people by id."""
    statement = select(User).where(User.id.in_(set(user_ids)))
    return {user.id: user for user in session.scalars(statement)}


def prior_of_study(session: Session, study_id: int, name: str) -> dict[int, dict[int, float]]:
    """Return, by query and document, the grades or the values of a feature of the candidates."""
    value = Candidate.grade if name == "grade" else Candidate.features[name].as_float()
    statement = (
        select(Candidate.query_id, Candidate.document_id, value)
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study_id, value.is_not(None))
    )
    found: dict[int, dict[int, float]] = {}
    for query_id, document_id, score in session.execute(statement):
        found.setdefault(query_id, {})[document_id] = float(score)
    return found


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
