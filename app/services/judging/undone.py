"""The answer that was undone last, to show it with the question that is open again."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging.labeling import answers_and_notes
from topkapi.app.domain.log import Entry, stacks


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
