"""Judging: the state of an assignment, and how an entry is appended to its log.

Submissions are idempotent. Each names the log position it is meant for. If the log already holds
the same entry at that position, the submission is a retry and the current state is returned; if it
holds a different entry, or is shorter, the submission is refused and nothing is written. A judgment
is built from the items that the submission says were shown, and then checked against the open
question: no answer is ever applied to a pair that was not shown.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.judging import teams
from topkapi.app.db.queries.judging.labeling import AssignmentHead, AssignmentKey
from topkapi.app.db.queries.judging.lists import lock_queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import (
    Archived,
    LogRefusal,
    NotFound,
    OtherPages,
    StaleForm,
    Withdrawn,
)
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.team_session import TeamSession
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.judging import timing
from topkapi.app.services.judging.catching_up import caught_up, count_known, known_pairs
from topkapi.app.services.judging.lists import work
from topkapi.app.services.judging.live_sessions import (
    LiveAssignment,
    LiveSessions,
)
from topkapi.app.services.judging.states import (
    AssignmentState,
    PossibleState,
    depth_of,
    state_after,
    state_of,
    states_ahead,
)
from topkapi.app.services.judging.study_errors import use_study_errors
from topkapi.app.services.judging.teams import publish
from topkapi.app.services.judging.training_guard import require_training


@dataclass(frozen=True, slots=True)
class Submission:
    """An entry for ``position`` of the log, as submitted by a browser or a program.

    ``shown`` are the pages that were on the screen, if that is known; None is no page of ours.
    """

    position: int
    kind: EntryKind = EntryKind.ANSWER
    answer: SubmittedAnswer | None = None
    active_ms: int = 0
    note: str | None = None
    shown: tuple[int | None, ...] = ()


def assignment_state(
    session: Session, live: LiveSessions, *, assignment_id: int, user_id: int
) -> AssignmentState:
    """Return the current state of the person's assignment; of an archived study, finished work."""
    assignment = assignment_at_work(session, assignment_id, user_id)
    current = caught_up(session, live, assignment)
    try:
        if isinstance(current.session, TeamSession):
            current.session.drop_outdated()
        if not current.finished:
            _refuse_archived(assignment)
        return state_of(current, assignment, assignment.active_ms)
    finally:
        live.put(current)


def offer(
    session: Session, live: LiveSessions, *, assignment_id: int, user_id: int
) -> AssignmentState:
    """Store and lease the question of a member of a team who has none, and return the state."""
    assignment = _locked(session, live, assignment_id, user_id)
    current = caught_up(session, live, assignment)
    joined, team = current.session, current.team
    assert isinstance(joined, TeamSession)
    assert team is not None
    joined.drop_outdated()
    if not joined.stored:
        use_study_errors(session, current)
        if any(member.finished_at for member in team.members):
            joined.finish()
        is_open = joined.state.shown or joined.waits
        teams.store_for_member(
            session,
            assignment.id,
            pending_question=joined.pending_question,
            expected_left=joined.share_left,
            team_waits=joined.waits,
            finished_at=None if is_open else now(),
        )
    publish(session, assignment, team, joined, now())
    result = state_of(current, assignment, assignment.active_ms)
    live.put(current)
    return replace(result, is_stored=True)


def _locked(
    session: Session, live: LiveSessions, assignment_id: int, user_id: int
) -> AssignmentHead:
    """Return the person's assignment, locked; before it, the lock of a team is taken."""
    query_id = live.query_of_team(
        assignment_id, partial(teams.query_of_team, session, assignment_id)
    )
    if query_id is not None:
        lock_queries(session, [query_id])
    locked = queries.assignment_of(session, assignment_id, user_id, lock=True)
    assignment = _required(locked, assignment_id)
    _refuse_archived(assignment)
    require_training(session, assignment, user_id)
    return assignment


def peek(
    session: Session,
    live: LiveSessions,
    *,
    assignment_id: int,
    user_id: int,
    position: int,
    deep: bool = False,
) -> tuple[PossibleState, ...]:
    """Return the state after each possible entry at ``position``, likely ones first.

    Rare entries are left out where a state takes long to compute. With ``deep`` each state has a
    prefetch of its own; nothing is returned if that would be too much to compute. Nothing is
    written and the live session does not change: each entry is appended to a copy.
    """
    assignment = assignment_at_work(session, assignment_id, user_id)
    current = caught_up(session, live, assignment)
    try:
        if position != current.session.length:
            raise _stale()
        depth = depth_of(current) if deep else 1
        if deep and depth == 1:
            return ()
        rare = current.session.foresees_rare
        return states_ahead(current, assignment, assignment.active_ms, rare=rare, depth=depth)
    finally:
        live.put(current)


def anticipation(
    live: LiveSessions, assignment_id: int, user_id: int, submission: Submission
) -> Callable[[], None] | None:
    """Return what computes the state after ``submission``; None where that takes no time.

    Nobody but the assessor of the assignment can make it compute.

    To be called before the transaction, which holds a lock: a slow sorter should not compute in
    it. Nothing is written; `submit` checks the submission, and uses the state if it fits.
    """
    key = live.key_if_slow(assignment_id, user_id)
    return None if key is None else partial(_anticipate, live, key, submission)


def _anticipate(live: LiveSessions, key: AssignmentKey, submission: Submission) -> None:
    current = live.take(key)
    if current is None:
        return
    try:
        if submission.position == current.session.length > 0:
            entry = _entry(current, submission)
            after = state_after(current, entry)
            after.progress()  # needs the next question
            current.foreseen = entry, after.session
    except LogRefusal:
        pass  # `submit` refuses it, too
    finally:
        live.put(current)


def submit(
    session: Session,
    live: LiveSessions,
    *,
    assignment_id: int,
    user_id: int,
    submission: Submission,
    at: datetime | None = None,
    look_ahead: bool = False,
) -> AssignmentState:
    """Append ``submission`` to the log and return the resulting state.

    Idempotent: a repeated submission changes nothing. With ``look_ahead`` the state includes the
    prefetch of the frequent next answers, where that is cheap to compute.
    """
    assignment = _locked(session, live, assignment_id, user_id)
    current = caught_up(session, live, assignment)
    active_ms = assignment.active_ms
    try:
        if submission.position == current.session.length:
            entry = _entry(current, submission)
            use_study_errors(session, current)
            active_ms = _append(session, assignment, current, entry, submission, at or now())
        else:
            _accept_repetition(session, current, submission)
    except LogRefusal:
        live.put(current)
        raise
    result = state_of(current, assignment, active_ms)
    if result.finished and live.when_finished is not None and current.session.trusts_log:
        live.when_finished(session, current.query.study_id)
    if look_ahead and current.session.foresees:
        result = replace(result, ahead=states_ahead(current, assignment, active_ms, rare=False))
    live.put(current)
    return result


def assignment_at_work(session: Session, assignment_id: int, user_id: int) -> AssignmentHead:
    """Return the person's assignment, without a lock.

    Raises `NotFound` if it is not theirs, `Withdrawn` if it was withdrawn, and `TrainingRequired`
    before the training of the study is passed.
    """
    found = _required(queries.assignment_of(session, assignment_id, user_id), assignment_id)
    require_training(session, found, user_id)
    return found


def _required(assignment: AssignmentHead | None, assignment_id: int) -> AssignmentHead:
    if assignment is None:
        raise NotFound(f"You have no assignment {assignment_id}.")
    if assignment.withdrawn_at is not None:
        raise Withdrawn(
            "An administrator has withdrawn this query from you. Your answers are kept; "
            "there is nothing more to do here."
        )
    return assignment


def _refuse_archived(assignment: AssignmentHead) -> None:
    if assignment.archived_at is not None:
        raise Archived("This study is archived: it takes no more answers. Yours are kept.")


def _entry(live: LiveAssignment, submission: Submission) -> Entry[Any]:
    if submission.kind is not EntryKind.ANSWER:
        return Entry(submission.kind)
    assert submission.answer is not None
    judgment = live.session.judgment(submission.answer, live.ids)
    if submission.shown and submission.shown != live.session.open_pages:
        raise OtherPages("The pages on the screen were not those of this question.")
    return Entry(EntryKind.ANSWER, judgment)


def _append(
    session: Session,
    assignment: AssignmentHead,
    live: LiveAssignment,
    entry: Entry[Any],
    submission: Submission,
    at: datetime,
) -> int:
    """Append an entry to the live session and the database; return the total active time."""
    position = live.session.length
    live.append(entry)
    live.session.choose_next(
        partial(work.next_pair, session, assignment, study_id=live.query.study_id)
    )
    time = timing.spent_on_answer(session, assignment, submission.active_ms, at)
    columns = live.session.columns(entry.judgment) if entry.judgment is not None else {}
    row = {
        "position": position,
        "entry": entry.kind,
        "active_ms": time.active_ms,
        "wall_ms": time.wall_ms,
        "note": submission.note or None,
        "created_at": at,
        **columns,
    }
    if live.known is None and live.tool is Tool.PAIRS:
        live.known = known_pairs(session, live.query)
    summary = _summary(assignment, live, entry, time.active_ms, at)
    if not queries.append_entry(session, assignment.id, row, summary):
        raise _stale()
    if isinstance(live.session, TeamSession) and live.team is not None:
        publish(session, assignment, live.team, live.session, at)
        teams.wake(session, assignment)
    return assignment.active_ms + time.active_ms


def _summary(
    assignment: AssignmentHead,
    live: LiveAssignment,
    entry: Entry[Any],
    active_ms: int,
    at: datetime,
) -> dict[str, Any]:
    """Return the summary columns of the assignment that queues and dashboards show."""
    before = assignment.checks, assignment.checks_agreed
    checks, agreed = live.session.count_checks(before)
    known = count_known(assignment, live, entry)
    is_answer = entry.kind is EntryKind.ANSWER
    return {
        "pending_question": live.session.pending_question
        if is_answer or live.team is not None
        else assignment.pending_question,
        "answered": live.session.answered,
        "expected_left": live.session.share_left
        if live.team is not None
        else live.progress().expected_left,
        "active_ms": assignment.active_ms + active_ms,
        "last_entry_at": at,
        "checks": checks,
        "checks_agreed": agreed,
        "known_answers": known[0],
        "known_right": known[1],
        "finished_at": None if live.session.state.shown or live.session.waits else at,
        "team_waits": live.session.waits if live.team is not None else None,
        "added_pages": 0,
    }


def _accept_repetition(session: Session, live: LiveAssignment, submission: Submission) -> None:
    """Accept a double click or a retry; refuse any other entry for a past or future position."""
    row = queries.entry_at(session, live.id, submission.position)
    if row is None or row.entry is not submission.kind:
        raise _stale()
    if submission.answer is not None:
        recorded = live.session.from_row(row)
        if not live.session.matches(recorded, submission.answer, live.ids):
            raise _stale()


def _stale() -> StaleForm:
    return StaleForm(
        "A newer answer was recorded after this page was loaded, perhaps in another tab. "
        "Nothing was changed; this is the question that is open now."
    )
