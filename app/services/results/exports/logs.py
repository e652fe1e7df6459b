"""Logs by columns, so that a report can read a million entries without an object for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import String, func, select, type_coerce
from sqlalchemy.orm import Session

from topkapi.analysis.efficiency.logs import timed_answers
from topkapi.app.db.models import JudgmentRow, TimerEvent
from topkapi.app.domain.enums import TimerKind
from topkapi.app.domain.grades.session import Grading
from topkapi.app.domain.log import EntryKind, fold
from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.timing import elapsed_ms

_KIND = {kind.value: kind for kind in QuestionKind} | {None: QuestionKind.SORT}
_ANSWER = {answer.value: answer for answer in Answer}
CHECK, ATTENTION = QuestionKind.CHECK.value, QuestionKind.ATTENTION.value


@dataclass(slots=True)
class AnswerColumns:
    """The answers of a log by columns, undone ones included; ``undone`` of them could be redone.

    Times are in milliseconds; the time of an undo or redo is added to its answer. Kinds of
    questions and answers are the stored strings.
    """

    kind: Sequence[str | None]
    left: Sequence[Any]
    right: Sequence[Any]
    answer: Sequence[str]
    active_ms: Sequence[int]
    wall_ms: Sequence[int]
    effective: Sequence[bool]
    undone: int = 0

    def __len__(self) -> int:
        return len(self.answer)

    def judgments(self) -> list[Judgment]:
        """Return the effective answers to pairs."""
        columns = zip(self.kind, self.left, self.right, self.answer, self.effective, strict=True)
        return [
            Judgment(_KIND[kind], left, right, _ANSWER[answer])
            for kind, left, right, answer, effective in columns
            if effective
        ]

    def gradings(self) -> list[Grading]:
        """Return the effective grades."""
        columns = zip(self.left, self.answer, self.effective, strict=True)
        return [Grading(page, grade) for page, grade, effective in columns if effective]

    @property
    def checks(self) -> int:
        """Number of checks, of self-consistency or attention, among the effective answers."""
        pairs = zip(self.kind, self.effective, strict=True)
        return sum(effective and kind in (CHECK, ATTENTION) for kind, effective in pairs)


class _Timed(NamedTuple):
    """What `timed_answers` needs of an entry, and the position of the entry."""

    entry: str
    active_ms: int
    wall_ms: int
    position: int


def answers_of(rows: Sequence[Sequence[Any]], waited_ms: int = 0) -> AnswerColumns:
    """Return the answers of one log from rows as `plain_logs` reads them.

    The log counts the wall time of the first answer from the assignment; days in a queue are not
    work, so here it is ``waited_ms``, the time since the clock first started, and at least the
    active time.
    """
    if not rows:
        return AnswerColumns((), (), (), (), (), (), ())
    _, entry, kind, left, right, answer, active, wall = zip(*rows, strict=True)
    first = max(active[0], min(wall[0], waited_ms))
    walls = (first, *wall[1:])
    if EntryKind.UNDO.value not in entry:
        return AnswerColumns(kind, left, right, answer, active, walls, (True,) * len(rows))
    log = map(_Timed, entry, active, walls, range(len(rows)))
    timed = timed_answers(log)
    positions = [each.row.position for each in timed]
    return AnswerColumns(
        [kind[position] for position in positions],
        [left[position] for position in positions],
        [right[position] for position in positions],
        [answer[position] for position in positions],
        [each.active_ms for each in timed],
        [each.wall_ms for each in timed],
        [each.effective for each in timed],
        undone=_count_undone(entry),
    )


def _count_undone(entries: Sequence[str]) -> int:
    """Return how many answers could be redone at the end of a log."""
    return len(fold((EntryKind(entry), None) for entry in entries).undone)


def read_answers(
    session: Session, assignment_ids: Sequence[int]
) -> Iterator[tuple[int, AnswerColumns]]:
    """Yield each assignment of ``assignment_ids`` that has a log, with its answers."""
    starts = _first_starts(session, assignment_ids)
    firsts = _first_entries(session, assignment_ids)
    for number, rows in groupby(_plain_logs(session, assignment_ids), key=itemgetter(0)):
        yield number, answers_of(list(rows), _waited(starts.get(number), firsts[number]))


def _waited(begun_at: datetime | None, first_at: datetime) -> int:
    return 0 if begun_at is None else elapsed_ms(begun_at, first_at)


def _plain_logs(session: Session, assignment_ids: Sequence[int]) -> Sequence[Sequence[Any]]:
    """Return the logs of assignments in order, as plain values: a report reads a million entries.

    A row is the assignment, the entry kind, the question kind, left, right, the answer, active and
    wall time.
    """
    statement = (
        select(
            JudgmentRow.assignment_id,
            type_coerce(JudgmentRow.entry, String),
            type_coerce(JudgmentRow.question_kind, String),
            JudgmentRow.left_id,
            JudgmentRow.right_id,
            JudgmentRow.answer,
            JudgmentRow.active_ms,
            JudgmentRow.wall_ms,
        )
        .where(JudgmentRow.assignment_id.in_(assignment_ids))
        .order_by(JudgmentRow.assignment_id, JudgmentRow.position)
    )
    return session.connection().execute(statement).all()


def _first_entries(session: Session, assignment_ids: Sequence[int]) -> dict[int, datetime]:
    """Return when the first entry of each log was made."""
    statement = select(JudgmentRow.assignment_id, JudgmentRow.created_at).where(
        JudgmentRow.assignment_id.in_(assignment_ids), JudgmentRow.position == 0
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def _first_starts(session: Session, assignment_ids: Sequence[int]) -> dict[int, datetime]:
    """Return when the clock of each assignment was first started, if it was."""
    statement = (
        select(TimerEvent.assignment_id, func.min(TimerEvent.created_at))
        .where(TimerEvent.assignment_id.in_(assignment_ids), TimerEvent.kind == TimerKind.START)
        .group_by(TimerEvent.assignment_id)
    )
    return {row[0]: row[1] for row in session.execute(statement)}
