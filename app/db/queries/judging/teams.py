"""Data of teams: the assignments that make one list together, their logs, and leased pairs."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, case, delete, func, or_, select, update
from sqlalchemy.orm import Session

from topkapi.app.db.base import Json, clock
from topkapi.app.db.models import Assignment, JudgmentRow, PairLease, Query, User
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import Pair, QuestionKind
from topkapi.app.domain.pairs.strategy import EVIDENCE

_EVIDENCE = Assignment.pending_question[EVIDENCE]


class Member(NamedTuple):
    """The assignment of a member of a team."""

    id: int
    pending_question: Json | None
    finished_at: datetime | None
    name: str
    waits: bool | None


class TeamEntry(NamedTuple):
    """An entry of a member's log, with the attributes of `JudgmentRow` that describe the answer."""

    assignment_id: int
    entry: EntryKind
    question_kind: QuestionKind | None
    left_id: int | None
    right_id: int | None
    answer: str | None
    left_ranking_id: None = None
    right_ranking_id: None = None


def queries_of_teams(session: Session, assignment_ids: Collection[int]) -> set[int]:
    """Return the queries of those assignments that belong to teams."""
    statement = select(Assignment.query_id).where(
        Assignment.id.in_(assignment_ids),
        Assignment.tool == Tool.PAIRS,
        Assignment.team_waits.is_not(None),
    )
    return set(session.scalars(statement))


def query_of_team(session: Session, assignment_id: int) -> int | None:
    """Return the query of an assignment of a team; None for any other assignment."""
    return next(iter(queries_of_teams(session, [assignment_id])), None)


def members(session: Session, assignment: AssignmentHead) -> list[Member]:
    """Return the team of an assignment, the earliest member first: those with the same plan."""
    statement = (
        select(
            Assignment.id,
            Assignment.pending_question,
            Assignment.finished_at,
            User.name,
            Assignment.team_waits,
        )
        .join(User, User.id == Assignment.user_id)
        .where(
            Assignment.query_id == assignment.query_id,
            Assignment.tool == Tool.PAIRS,
            Assignment.plan_digest == assignment.plan_digest,
            or_(Assignment.withdrawn_at.is_(None), Assignment.id == assignment.id),
        )
        .order_by(Assignment.id)
    )
    return [Member(*row) for row in session.execute(statement)]


def team_log(session: Session, assignment_ids: Collection[int]) -> list[TeamEntry]:
    """Return the entries of several logs in the order in which they were appended.

    Appending takes the lock of the query, so ids increase in the order of commits.
    """
    statement = (
        select(
            JudgmentRow.assignment_id,
            JudgmentRow.entry,
            JudgmentRow.question_kind,
            JudgmentRow.left_id,
            JudgmentRow.right_id,
            JudgmentRow.answer,
        )
        .where(JudgmentRow.assignment_id.in_(assignment_ids))
        .order_by(JudgmentRow.id)
    )
    return [TeamEntry(*row) for row in session.execute(statement)]


def store_for_member(session: Session, assignment_id: int, **values: Any) -> None:
    """Change columns of a member's assignment."""
    session.execute(update(Assignment).where(Assignment.id == assignment_id).values(**values))


def store_for_members(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Change the same columns of several assignments, each row with its id, in one statement."""
    if rows:
        session.execute(update(Assignment), rows)


def reopen(session: Session, assignment_id: int, pending_question: Json | None) -> None:
    """Reopen the finished work of a member; that it was finished is kept."""
    store_for_member(
        session,
        assignment_id,
        pending_question=pending_question,
        completed_at=func.coalesce(Assignment.completed_at, Assignment.finished_at),
        finished_at=None,
        expected_left=None,
    )


def wake(session: Session, assignment: AssignmentHead) -> None:
    """Note that the others of a team have something new to look at."""
    statement = update(Assignment).where(
        Assignment.query_id == assignment.query_id,
        Assignment.plan_digest == assignment.plan_digest,
        Assignment.id != assignment.id,
        Assignment.team_waits.is_(True),
    )
    session.execute(statement.values(team_waits=False))


def finished_teams(session: Session, query_ids: Collection[int]) -> Sequence[Assignment]:
    """Return the finished assignments of teams on these queries that are not withdrawn."""
    statement = select(Assignment).where(
        Assignment.query_id.in_(query_ids),
        Assignment.tool == Tool.PAIRS,
        Assignment.team_waits.is_not(None),
        Assignment.finished_at.is_not(None),
        Assignment.withdrawn_at.is_(None),
    )
    return session.scalars(statement).all()


def answers_in_teams(session: Session, study_id: int) -> list[tuple[int, int, Json | None]]:
    """Return user, number of answers and stored step of the work in teams of a study."""
    statement = (
        select(Assignment.user_id, Assignment.answered, Assignment.pending_question)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.tool == Tool.PAIRS,
            Assignment.team_waits.is_not(None),
            Assignment.answered > 0,
            Assignment.withdrawn_at.is_(None),
        )
        .order_by(Assignment.id)
    )
    return [(row[0], row[1], row[2]) for row in session.execute(statement)]


def open_leases(session: Session, query_id: int) -> dict[int, Pair]:
    """Return the leased pair of each assignment of a query, without expired leases."""
    statement = select(PairLease.assignment_id, PairLease.first_id, PairLease.second_id).where(
        PairLease.query_id == query_id, PairLease.expires_at > clock(session)
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(statement)}


def lease(
    session: Session, assignment_id: int, query_id: int, pair: Pair, lasting: timedelta
) -> bool:
    """Lease ``pair`` to an assignment instead of what it had; False if another one has it.

    The caller holds the lock of the query.
    """
    at, (first, second) = clock(session), sorted(pair)
    session.execute(
        delete(PairLease).where(
            PairLease.query_id == query_id,
            or_(PairLease.assignment_id == assignment_id, PairLease.expires_at <= at),
        )
    )
    held = select(PairLease.assignment_id).where(
        PairLease.query_id == query_id, PairLease.first_id == first, PairLease.second_id == second
    )
    if session.scalar(held) is not None:
        return False
    session.add(
        PairLease(
            assignment_id=assignment_id,
            query_id=query_id,
            first_id=first,
            second_id=second,
            expires_at=at + lasting,
        )
    )
    session.flush()
    return True


def release(session: Session, assignment_ids: Collection[int]) -> None:
    """End the leases of assignments."""
    session.execute(delete(PairLease).where(PairLease.assignment_id.in_(assignment_ids)))


def pending_pair(session: Session, assignment_id: int) -> Pair | None:
    """Return the pair of the stored question of a member."""
    statement = select(Assignment.pending_question).where(Assignment.id == assignment_id)
    stored = session.scalar(statement) or {}
    return cast(Pair, tuple(stored["pair"])) if "pair" in stored else None


def _finished(study_id: int) -> Sequence[ColumnElement[bool]]:
    return (
        Query.study_id == study_id,
        Assignment.tool == Tool.PAIRS,
        Assignment.finished_at.is_not(None),
        Assignment.withdrawn_at.is_(None),
        Assignment.answered > 0,
    )


def evidence_of_study(
    session: Session, study_id: int, user_id: int, most: int
) -> list[tuple[int, list[float]]]:
    """Return person and evidence of at most ``most`` finished queries of a study, the latest first.

    Those of ``user_id`` come before all others.
    """
    statement = (
        select(Assignment.user_id, _EVIDENCE)
        .join(Query, Query.id == Assignment.query_id)
        .where(*_finished(study_id), _EVIDENCE.as_string().is_not(None))
        .order_by(
            case((Assignment.user_id == user_id, 0), else_=1),
            Assignment.finished_at.desc(),
            Assignment.id.desc(),
        )
        .limit(most)
    )
    return [(person, found) for person, found in session.execute(statement)]


def without_evidence(session: Session, study_id: int) -> list[tuple[int, int]]:
    """Return finished work with a sampled sorter whose evidence is not stored: id and person."""
    statement = (
        select(Assignment.id, Assignment.user_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            *_finished(study_id),
            Assignment.pending_question.is_not(None),
            _EVIDENCE.as_string().is_(None),
        )
        .order_by(Assignment.id)
    )
    return [(number, user_id) for number, user_id in session.execute(statement)]


def store_evidence(session: Session, assignment_id: int, read: Json, found: list[float]) -> None:
    """Store the evidence of an assignment, unless it has changed since it was ``read``."""
    statement = select(Assignment).where(Assignment.id == assignment_id).with_for_update()
    work = session.scalars(statement).one()
    if work.finished_at is not None and work.pending_question == read:
        work.pending_question = {**read, EVIDENCE: found}
