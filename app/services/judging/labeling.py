"""Judging: the state of an assignment, and how an entry is appended to its log.

Submissions are idempotent. Each names the log position it is meant for. If the log already holds
the same entry at that position, the submission is a retry and the current state is returned; if it
holds a different entry, or is shorter, the submission is refused and nothing is written. A judgment
is built from the items that the submission says were shown, and then checked against the open
question: no answer is ever applied to a pair that was not shown.
"""

from collections.abc import Callable, Iterator, Mapping
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
from topkapi.app.domain.errors import LogRefusal, NotFound, OtherPages, StaleForm, Withdrawn
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.team_session import TeamSession
from topkapi.app.domain.session import Progress, SessionState, SubmittedAnswer
from topkapi.app.domain.text.terms import query_terms
from topkapi.app.services.judging import timing
from topkapi.app.services.judging.catching_up import caught_up
from topkapi.app.services.judging.earlier_errors import count_known, known_pairs, use_earlier_errors
from topkapi.app.services.judging.lists import work
from topkapi.app.services.judging.live_sessions import (
    DocumentHead,
    LiveAssignment,
    LiveSessions,
    QueryHead,
)
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


@dataclass(frozen=True, slots=True)
class AssignmentState:
    """The state of an assignment: a snapshot that no later request changes.

    ``position`` is the position of the next log entry; ``new`` holds the pages on the screen that
    the person has not seen before; ``scale`` is the largest number of questions expected at the
    start. ``is_stored`` is false for a member of a team whose question has yet to be stored and
    leased: `offer` does it. ``waits``: others of the team have the last questions. ``ahead``
    is the prefetch: the state after each possible next entry, likely ones first; each may have a
    prefetch of its own. It is empty unless it was requested and is cheap to compute.
    """

    assignment_id: int
    tool: Tool
    query: QueryHead
    terms: tuple[str, ...]
    documents: Mapping[int, DocumentHead]
    plan: Mapping[str, Any]
    position: int
    state: SessionState
    new: frozenset[int]
    progress: Progress
    scale: int
    can_undo: bool
    can_redo: bool
    active_ms: int
    ahead: tuple["PossibleState", ...] = ()
    is_stored: bool = True
    waits: bool = False

    @property
    def finished(self) -> bool:
        """Whether nothing is left to ask."""
        return not self.state.shown


PossibleState = tuple[tuple[str, ...], AssignmentState]
# Questions to foresee for an assessor who may lose the connection: 3 + 9 if each answer leads to
# another question, otherwise as many pages as a browser holds easily.
_BRANCHING_DEPTH, _CHAIN_DEPTH = 2, 4


def assignment_state(
    session: Session, live: LiveSessions, *, assignment_id: int, user_id: int
) -> AssignmentState:
    """Return the current state of the person's assignment."""
    assignment = assignment_at_work(session, assignment_id, user_id)
    current = caught_up(session, live, assignment)
    try:
        if isinstance(current.session, TeamSession):
            current.session.drop_outdated()
        return _assignment_state(current, assignment, assignment.active_ms)
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
        if any(member.finished_at for member in team.members):
            joined.finish()
        is_open = joined.state.shown or joined.waits
        teams.store_for_member(
            session,
            assignment.id,
            pending_question=joined.pending_question,
            expected_left=joined.share_left,
            finished_at=None if is_open else now(),
        )
    publish(session, assignment, team, joined, now())
    result = _assignment_state(current, assignment, assignment.active_ms)
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
    locked = queries.assignment_for_update(session, assignment_id, user_id)
    assignment = _required(locked, assignment_id)
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
        depth = _depth(current) if deep else 1
        if deep and depth == 1:
            return ()
        rare = current.session.foresees_rare
        return _ahead(current, assignment, assignment.active_ms, rare=rare, depth=depth)
    finally:
        live.put(current)


def _depth(live: LiveAssignment) -> int:
    if len([choice for choice in live.session.choices if not choice.rare]) == 1:
        return _CHAIN_DEPTH
    return _BRANCHING_DEPTH if live.session.foresees else 1


def _ahead(
    live: LiveAssignment,
    assignment: AssignmentHead,
    active_ms: int,
    *,
    rare: bool = True,
    depth: int = 1,
) -> tuple[PossibleState, ...]:
    """Return the possible next states; beyond the first level only after frequent answers."""
    possible: list[PossibleState] = []
    for answers, entry, is_frequent in _possible(live, rare=rare):
        fork = _after(live, entry)
        state = _assignment_state(fork, assignment, active_ms)
        if depth > 1 and is_frequent:
            state = replace(
                state, ahead=_ahead(fork, assignment, active_ms, rare=False, depth=depth - 1)
            )
        possible.append((answers, state))
    return tuple(possible)


def _possible(
    live: LiveAssignment, *, rare: bool
) -> Iterator[tuple[tuple[str, ...], Entry[Any], bool]]:
    """Yield the possible next entries and whether each is frequent; ``rare`` adds the others."""
    for choice in live.session.choices:
        if rare or not choice.rare:
            yield choice.answers, Entry(EntryKind.ANSWER, choice.judgment), not choice.rare
    if not rare:
        return
    if live.session.can_undo:
        yield (EntryKind.UNDO.value,), Entry(EntryKind.UNDO), False
    if live.session.can_redo:
        yield (EntryKind.REDO.value,), Entry(EntryKind.REDO), False


def _after(live: LiveAssignment, entry: Entry[Any]) -> LiveAssignment:
    fork = live.session.fork()
    fork.append(entry)
    return replace(live, session=fork)


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
            after = _after(current, entry)
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
            use_earlier_errors(session, current, user_id)
            active_ms = _append(session, assignment, current, entry, submission, at or now())
        else:
            _accept_repetition(session, current, submission)
    except LogRefusal:
        live.put(current)
        raise
    result = _assignment_state(current, assignment, active_ms)
    if look_ahead and current.session.foresees:
        result = replace(result, ahead=_ahead(current, assignment, active_ms, rare=False))
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


def _assignment_state(
    live: LiveAssignment, assignment: AssignmentHead, active_ms: int
) -> AssignmentState:
    session, chosen = live.session, assignment.terms
    state, team = session.state, live.team
    is_stored = (
        not isinstance(session, TeamSession)
        or team is None
        or (session.stored and (not state.shown or live.id in team.leases))
    )
    return AssignmentState(
        assignment_id=live.id,
        tool=live.tool,
        query=live.query,
        terms=query_terms(live.query.text) if chosen is None else tuple(chosen),
        documents=live.documents,
        plan=live.plan,
        position=session.length,
        state=state,
        new=frozenset(state.shown) - session.seen,
        progress=live.progress(),
        scale=live.scale,
        can_undo=session.can_undo,
        can_redo=session.can_redo,
        active_ms=active_ms,
        is_stored=is_stored,
        waits=session.waits,
    )


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
