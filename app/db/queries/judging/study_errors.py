"""Finished work with a sampled sorter, and the stored evidence of how its assessors err."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, case, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Json
from topkapi.app.db.models import Assignment, Query
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.strategy import EVIDENCE

_EVIDENCE = Assignment.pending_question[EVIDENCE]


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
