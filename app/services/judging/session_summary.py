"""The end of a query and of a worker's part: counts, time, what is next, and a code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from topkapi.app.db.models import Assignment, CrowdWorker, User
from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging.timing import count_pauses
from topkapi.app.domain.log import EntryKind, fold
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.shortcuts import keys_of
from topkapi.app.services.judging.queue import QueueItem, queue_of_user
from topkapi.app.services.judging.states import AssignmentState


@dataclass(frozen=True, slots=True)
class Completion:
    """What a worker gets at the end: a code, or an https address.

    ``is_complete`` is false if the work was withdrawn, as it is from people who do not qualify.
    Then both may be empty.
    """

    code: str
    url: str
    is_complete: bool = True


def completion_of(session: Session, user_id: int) -> Completion | None:
    """Return what ends the person's part, if they came through a link and have nothing to do."""
    account = select(CrowdWorker).options(joinedload(CrowdWorker.link))
    worker = session.scalar(account.where(CrowdWorker.user_id == user_id))
    if worker is None or worker.link is None:
        return None
    counts = select(func.count(), func.count(Assignment.finished_at)).where(
        Assignment.user_id == user_id, Assignment.withdrawn_at.is_(None)
    )
    assigned, finished = session.execute(counts).one()
    if not assigned:
        end = worker.link.screen_out
        is_url = end.startswith("https://")
        return Completion("" if is_url else end, end if is_url else "", is_complete=False)
    return Completion(worker.link.code, worker.link.redirect_url) if finished == assigned else None


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A finished query in numbers; ``next`` is the assignment to continue with.

    ``tied_pairs`` are the pages that were judged equal; ``completion`` ends a crowd worker's part;
    ``keys`` are the person's, by action.
    """

    answers: int
    ties: int
    tied_pairs: Sequence[tuple[int, int]]
    undone: int
    active_ms: int
    pauses: int
    next: QueueItem | None
    keys: Mapping[str, str]
    completion: Completion | None = None


def summary_of(
    session: Session, assignment_state: AssignmentState, *, user_id: int
) -> SessionSummary:
    """Return the summary of a finished assignment."""
    log = queries.log_from(session, assignment_state.assignment_id, 0)
    answers = fold((row.entry, row) for row in log).done
    ties = [row for row in answers if row.answer == Answer.TIE.value]
    return SessionSummary(
        answers=len(answers),
        ties=len(ties),
        tied_pairs=[(row.left_id, row.right_id) for row in ties if row.left_id and row.right_id],
        undone=sum(row.entry is EntryKind.UNDO for row in log)
        - sum(row.entry is EntryKind.REDO for row in log),
        active_ms=assignment_state.active_ms,
        pauses=count_pauses(session, assignment_state.assignment_id),
        next=queue_of_user(session, user_id).next_after(assignment_state.assignment_id),
        keys=keys_of(session.get_one(User, user_id).keys),
        completion=completion_of(session, user_id),
    )
