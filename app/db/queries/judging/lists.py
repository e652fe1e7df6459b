"""Rankings of systems, their assignments, and their comparisons."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Json
from topkapi.app.db.models import Assignment, Candidate, Content, JudgmentRow, Query, Ranking
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind

_MOST = 5000  # ids per statement


def rankings_of_queries(session: Session, query_ids: Collection[int]) -> dict[int, list[Ranking]]:
    """Return the rankings of each query, by system."""
    found: dict[int, list[Ranking]] = {number: [] for number in query_ids}
    for batch in _batches(query_ids):
        statement = select(Ranking).where(Ranking.query_id.in_(batch))
        for row in session.scalars(statement.order_by(Ranking.query_id, Ranking.system)):
            found[row.query_id].append(row)
    return found


def lock_queries(session: Session, query_ids: Collection[int]) -> None:
    """Lock these queries, so that transactions that choose pairs of them run one at a time.

    On SQLite write transactions are serial anyway.
    """
    for batch in _batches(sorted(query_ids)):
        statement = select(Query.id).where(Query.id.in_(batch)).order_by(Query.id)
        session.execute(statement.with_for_update(key_share=True)).all()


def list_work_of_queries(
    session: Session, query_ids: Collection[int]
) -> Sequence[Row[int, int, Json, Json | None]]:
    """Return id, query, plan and pending pair of people's list assignments, withdrawn ones not."""
    rows: list[Row[int, int, Json, Json | None]] = []
    for batch in _batches(query_ids):
        statement = select(
            Assignment.id, Assignment.query_id, Assignment.plan, Assignment.pending_question
        ).where(
            Assignment.query_id.in_(batch),
            Assignment.tool == Tool.LISTS,
            Assignment.withdrawn_at.is_(None),
            by_people(),
        )
        rows += session.execute(statement.order_by(Assignment.id)).all()
    return rows


def pairs_answered(
    session: Session, assignment_ids: Collection[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield assignment and both rankings of every answer ever given, undone or not."""
    for batch in _batches(assignment_ids):
        statement = select(
            JudgmentRow.assignment_id, JudgmentRow.left_ranking_id, JudgmentRow.right_ranking_id
        ).where(JudgmentRow.assignment_id.in_(batch), JudgmentRow.entry == EntryKind.ANSWER)
        yield from cast(Iterable[tuple[int, int, int]], session.execute(statement))


def list_logs_of_study(
    session: Session, study_id: int
) -> Sequence[tuple[int, EntryKind, int, int, str]]:
    """Return assignment, entry, rankings and answer of every log entry of people's list work.

    Undo and redo have no rankings and no answer.
    """
    statement = (
        select(
            JudgmentRow.assignment_id,
            JudgmentRow.entry,
            JudgmentRow.left_ranking_id,
            JudgmentRow.right_ranking_id,
            JudgmentRow.answer,
        )
        .join(Assignment, Assignment.id == JudgmentRow.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.tool == Tool.LISTS,
            Assignment.withdrawn_at.is_(None),
            by_people(),
        )
        .order_by(JudgmentRow.assignment_id, JudgmentRow.position)
    )
    found = session.execute(statement).all()
    return cast(Sequence[tuple[int, EntryKind, int, int, str]], found)


def rankings_by_id(session: Session, ranking_ids: Collection[int]) -> dict[int, Ranking]:
    """Return rankings by id."""
    found: dict[int, Ranking] = {}
    for batch in _batches(ranking_ids):
        rows = session.scalars(select(Ranking).where(Ranking.id.in_(batch)))
        found |= {row.id: row for row in rows}
    return found


def graded_pages(
    session: Session, query_ids: Collection[int], document_ids: Collection[int]
) -> Iterator[tuple[int, int, int, str]]:
    """Yield assignment, query, page and grade in people's finished grade work, in log order.

    In a finished log the last grade of a page is the effective one: an answer that was undone and
    answered again can never be restored.
    """
    wanted = set(document_ids)
    for batch in _batches(query_ids):
        statement = (
            select(Assignment.id, Assignment.query_id, JudgmentRow.left_id, JudgmentRow.answer)
            .join(JudgmentRow, JudgmentRow.assignment_id == Assignment.id)
            .where(
                Assignment.query_id.in_(batch),
                Assignment.tool == Tool.GRADES,
                Assignment.finished_at.is_not(None),
                Assignment.withdrawn_at.is_(None),
                JudgmentRow.entry == EntryKind.ANSWER,
                by_people(),
            )
            .order_by(Assignment.id, JudgmentRow.position)
        )
        for row in cast(Iterable[tuple[int, int, int, str]], session.execute(statement)):
            if row[2] in wanted:
                yield row


def scales_of(session: Session, assignment_ids: Collection[int]) -> dict[int, list[str]]:
    """Return the grades, from worst to best, of grade assignments."""
    found: dict[int, list[str]] = {}
    for batch in _batches(assignment_ids):
        statement = select(Assignment.id, Assignment.plan["grades"])
        found |= {
            row[0]: row[1] for row in session.execute(statement.where(Assignment.id.in_(batch)))
        }
    return found


def known_grades(
    session: Session, query_ids: Collection[int], document_ids: Collection[int]
) -> Iterator[tuple[int, int, int]]:
    """Yield query, page and grade of candidates whose grade came with the study."""
    wanted = set(document_ids)
    for batch in _batches(query_ids):
        statement = select(Candidate.query_id, Candidate.document_id, Candidate.grade).where(
            Candidate.query_id.in_(batch), Candidate.grade.is_not(None)
        )
        for row in cast(Iterable[tuple[int, int, int]], session.execute(statement)):
            if row[1] in wanted:
                yield row


def openings(session: Session, hashes: Collection[str], length: int) -> dict[str, str]:
    """Return the first ``length`` characters of the plain texts of contents."""
    statement = select(Content.hash, func.substr(Content.text, 1, length))
    rows = session.execute(statement.where(Content.hash.in_(list(hashes))))
    return {digest: text or "" for digest, text in rows}


def _batches(numbers: Collection[int]) -> Iterator[list[int]]:
    items = list(numbers)
    for start in range(0, len(items), _MOST):
        yield items[start : start + _MOST]
