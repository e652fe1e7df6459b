"""Answers of a person against known ones."""

from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.log import Entry
from topkapi.app.domain.pairs.known import BINARY_CLEAR, CLEAR, KnownPairs, gold_of
from topkapi.app.services.judging.live_sessions import LiveAssignment, QueryHead


def count_known(
    assignment: AssignmentHead, live: LiveAssignment, entry: Entry[Any]
) -> tuple[int, int]:
    """Return the answers on known pairs and the right ones, after ``entry`` was appended."""
    compared, right = assignment.known_answers, assignment.known_right
    if not live.known:
        return compared, right
    if entry.judgment is None:  # an undo or a redo
        return live.known.count(live.session.effective)
    added = live.known.count([entry.judgment])
    return compared + added[0], right + added[1]


def known_pairs(session: Session, query: QueryHead) -> KnownPairs:
    """Read what is known about a query's pairs; it does not change once somebody has begun."""
    grades = queries.known_grades(session, query.id)
    binary = set(grades.values()) == {0, 1} and queries.grades_are_binary(session, query.study_id)
    gold = gold_of(queries.gold_pairs(session, query.id))
    return KnownPairs(gold, grades, BINARY_CLEAR if binary else CLEAR)
