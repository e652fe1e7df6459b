"""Live sessions caught up with the log: from the cache, or by a replay of the whole log."""

from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.log import Entry
from topkapi.app.domain.pairs.known import BINARY_CLEAR, CLEAR, KnownPairs, gold_of
from topkapi.app.domain.pairs.team_session import TeamSession
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.domain.sessions import open_session, read_log
from topkapi.app.services.judging.live_sessions import (
    DocumentHead,
    LiveAssignment,
    LiveSessions,
    QueryHead,
)
from topkapi.app.services.judging.teams import join_team


def caught_up(session: Session, live: LiveSessions, assignment: AssignmentHead) -> LiveAssignment:
    """Return the live session of an assignment, and of a team, caught up with the logs."""
    found = _caught_up(session, live, assignment)
    if isinstance(found.session, TeamSession):
        found.team = join_team(session, assignment, found.session)
        live.lend_sorter(found)
    return found


def _caught_up(session: Session, live: LiveSessions, assignment: AssignmentHead) -> LiveAssignment:
    """Return the cached live session caught up with the log, or replay the whole log."""
    kept = live.take(assignment.key)
    if kept is not None:
        known = max(kept.session.length - 1, 0)
        rows = queries.log_after(session, assignment, known)
        if _agrees(kept, list(read_log(kept.tool, rows))):
            kept.session.restore_pending(assignment.pending_question)
            return kept
    fresh = _open(session, assignment)
    rows = queries.log_after(session, assignment, 0)
    fresh.session.extend(read_log(fresh.tool, rows))
    fresh.session.restore_pending(assignment.pending_question)
    return fresh


def _agrees(live: LiveAssignment, tail: list[Entry[Any]]) -> bool:
    """Return whether ``tail`` continues the live session's log, and append it if so.

    ``tail`` starts with the last entry that the live session knows, if it knows any.
    """
    if live.session.length:
        if not tail or tail[0] != live.session.last:
            return False
        tail = tail[1:]
    live.session.extend(tail)
    return True


def _open(session: Session, assignment: AssignmentHead) -> LiveAssignment:
    query = queries.query_with_study(session, assignment.query_id)
    plan = queries.plan_of(session, assignment.id)
    heads = queries.document_heads(session, plan["order"])
    documents = {row[0]: DocumentHead(*row) for row in heads}
    opened = open_session(assignment.tool, plan)
    return LiveAssignment(
        key=(assignment.id, assignment.created_at, plan_digest(plan)),
        id=assignment.id,
        user_id=assignment.user_id,
        tool=assignment.tool,
        plan=plan,
        session=opened,
        query=QueryHead(
            id=query.id,
            study_id=query.study_id,
            study_slug=query.study.slug,
            study_name=query.study.name,
            name=query.external_id,
            text=query.text,
            description=query.description,
            narrative=query.narrative,
        ),
        documents=documents,
        ids=opened.list_ids or {head.name: number for number, head in documents.items()},
        scale=opened.progress.high,
    )


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
