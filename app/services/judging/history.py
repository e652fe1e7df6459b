"""An assessor's own past answers of a query; Undo remains the only way to change one."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Flag, JudgmentRow
from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging.labeling import answers_and_notes
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.plan import ListPlan
from topkapi.app.domain.log import Entry, EntryKind, stacks
from topkapi.app.domain.pairs.answers import QuestionKind
from topkapi.app.services.judging.labeling import assignment_state
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """An effective answer: what was shown on each side (document ids), and what was answered.

    ``is_check`` marks a question that was asked again to check the assessor's consistency.
    """

    number: int
    position: int
    answer: str
    left: tuple[int, ...]
    right: tuple[int, ...]
    note: str
    active_ms: int
    at: datetime
    is_check: bool = False


@dataclass(frozen=True, slots=True)
class PastFlag:
    """A flag of the person in this query, whether it was handled, and the reply."""

    position: int
    reason: str
    at: datetime
    handled: bool
    reply: str


@dataclass(frozen=True, slots=True)
class History:
    """The past answers of a query, newest first; ``undone`` counts answers taken back."""

    state: AssignmentState
    answers: tuple[PastAnswer, ...]
    undone: int
    flags: tuple[PastFlag, ...]


def history_of(
    session: Session, live: LiveSessions, *, assignment_id: int, user_id: int
) -> History:
    """Return the person's own answers to a query, newest first."""
    state = assignment_state(session, live, assignment_id=assignment_id, user_id=user_id)
    rows = queries.whole_log(session, assignment_id)
    answered, _ = stacks(_entry(row) for row in rows)
    shown = _Shown(state)
    past = [shown.answer(number, row) for number, row in enumerate(answered, start=1)]
    answers = sum(row.entry is EntryKind.ANSWER for row in rows)
    return History(
        state=state,
        answers=tuple(reversed(past)),
        undone=answers - len(answered),
        flags=_flags(session, assignment_id),
    )


def _entry(row: JudgmentRow) -> Entry[JudgmentRow]:
    return Entry(row.entry, row if row.entry is EntryKind.ANSWER else None)


def _flags(session: Session, assignment_id: int) -> tuple[PastFlag, ...]:
    """Return the flags of an assignment, latest first."""
    statement = select(Flag).where(Flag.assignment_id == assignment_id)
    return tuple(
        PastFlag(
            *(flag.position, flag.reason, flag.created_at, flag.handled_at is not None),
            reply=flag.reply,
        )
        for flag in session.scalars(statement.order_by(Flag.id.desc()))
    )


class _Shown:
    """Finds the pages of log entries; with lists, the pages of the rankings."""

    def __init__(self, state: AssignmentState) -> None:
        is_lists = state.tool is Tool.LISTS
        lists = ListPlan.from_json(state.plan).lists if is_lists else ()
        self._lists = {each.id: each.documents for each in lists}

    def answer(self, number: int, row: JudgmentRow) -> PastAnswer:
        return PastAnswer(
            number=number,
            position=row.position,
            answer=row.answer or "",
            left=self._pages(row.left_id, row.left_ranking_id),
            right=self._pages(row.right_id, row.right_ranking_id),
            note=row.note or "",
            active_ms=row.active_ms,
            at=row.created_at,
            is_check=row.question_kind is QuestionKind.CHECK,
        )

    def _pages(self, document: int | None, ranking: int | None) -> tuple[int, ...]:
        if ranking is not None:
            return self._lists.get(ranking, ())
        return () if document is None else (document,)


@dataclass(frozen=True, slots=True)
class UndoneAnswer:
    """An undone answer, by its stored value, and its note (empty if there was none)."""

    answer: str
    note: str


def undone_answer(session: Session, assignment_id: int) -> UndoneAnswer | None:
    """Return the answer to the open question that was undone, or None."""
    log = [
        Entry(kind, UndoneAnswer(answer or "", note or ""))
        for kind, answer, note in answers_and_notes(session, assignment_id)
    ]
    _, undone = stacks(log)
    return undone[-1] if undone else None
