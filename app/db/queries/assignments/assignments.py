"""Data for assigning: existing assignments, people, queries and their candidates."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Row, case, func, literal, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, GoldPair, Query, User
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


def rounds_by_tool(session: Session, study_id: int) -> dict[Tool, int]:
    """Return how many rounds of each tool people were ever assigned."""
    statement = select(Assignment.tool, func.max(Assignment.round) + 1).join(
        Query, Query.id == Assignment.query_id
    )
    mine = statement.where(Query.study_id == study_id, Assignment.round >= 0, by_people())
    return {row[0]: row[1] for row in session.execute(mine.group_by(Assignment.tool))}


def missing_by_query(
    session: Session, study_id: int, tool: Tool, rounds: int | None
) -> dict[int, int]:
    """Return, per query, how many assignments are missing to be judged in so many ``rounds``.

    If None, a query is to be judged in each round in which it was ever assigned, and once at least.
    """
    number = Assignment.round
    is_held = number.is_not(None) & Assignment.withdrawn_at.is_(None)  # nobody: the row is empty
    wanted: ColumnElement[int]
    if rounds is None:
        wanted = func.count(number.distinct()) + case((func.min(number) == 0, 0), else_=1)
    else:
        wanted, is_held = literal(rounds), is_held & (number < rounds)
    held = func.count(case((is_held, 1)))
    mine = (Assignment.query_id == Query.id) & (Assignment.tool == tool) & (number >= 0)
    statement = (
        select(Query.id, wanted - held)
        .outerjoin(Assignment, mine & by_people())
        .where(Query.study_id == study_id)
        .group_by(Query.id)
        .having(wanted > held)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def people_of_queries(session: Session, query_ids: Iterable[int]) -> dict[int, set[int]]:
    """Return everyone who was ever assigned each query, with any tool."""
    statement = select(Assignment.query_id, Assignment.user_id)
    found: dict[int, set[int]] = {}
    for query, user in session.execute(statement.where(Assignment.query_id.in_(set(query_ids)))):
        found.setdefault(query, set()).add(user)
    return found


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


def gold_of_study(session: Session, study_id: int) -> dict[int, list[list[int]]]:
    """Return the gold pairs of each query of the study that has any."""
    statement = (
        select(GoldPair.query_id, GoldPair.left_id, GoldPair.right_id)
        .join(Query, Query.id == GoldPair.query_id)
        .where(Query.study_id == study_id)
        .order_by(GoldPair.id)
    )
    found: dict[int, list[list[int]]] = {}
    for query, left, right in session.execute(statement):
        found.setdefault(query, []).append([left, right])
    return found


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


def growing_work(session: Session, query_ids: Collection[int]) -> Sequence[Assignment]:
    """Return and lock the assignments of these queries that judge all their pages."""
    statement = select(Assignment).where(
        Assignment.query_id.in_(query_ids), Assignment.tool != Tool.LISTS, Assignment.round >= 0
    )
    return session.scalars(statement.order_by(Assignment.id).with_for_update()).all()


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
