"""The state of an assignment that pages and programs get, and the states that may follow it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.team_session import TeamSession
from topkapi.app.domain.session import Progress, SessionState
from topkapi.app.domain.text.terms import query_terms
from topkapi.app.services.judging.live_sessions import DocumentHead, LiveAssignment, QueryHead

# Questions to foresee for an assessor who may lose the connection: 3 + 9 if each answer leads to
# another question, otherwise as many pages as a browser holds easily.
_BRANCHING_DEPTH, _CHAIN_DEPTH = 2, 4


@dataclass(frozen=True, slots=True)
class AssignmentState:
    """The state of an assignment: a snapshot that no later request changes.

    ``position`` is the position of the next log entry; ``new`` holds the pages on the screen that
    the person has not seen before; ``scale`` is the largest number of questions expected at the
    start. ``is_stored`` is false for a member of a team whose question has yet to be stored and
    leased: `offer` does it. ``waits``: others of the team have the last questions; ``here`` has
    the names of those who have a question open. ``ahead`` is the prefetch: the state after each
    possible next entry, likely ones first; each may have a prefetch of its own. It is empty unless
    it was requested and is cheap to compute.
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
    here: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to ask."""
        return not self.state.shown


PossibleState = tuple[tuple[str, ...], AssignmentState]


def state_of(live: LiveAssignment, assignment: AssignmentHead, active_ms: int) -> AssignmentState:
    """Return a snapshot of a live session."""
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
        here=() if team is None else team.others_here(live.id),
        asked=() if team is None else team.others_asked(live.id),
    )


def depth_of(live: LiveAssignment) -> int:
    """Return how many questions in a row can be foreseen."""
    if len([choice for choice in live.session.choices if not choice.rare]) == 1:
        return _CHAIN_DEPTH
    return _BRANCHING_DEPTH if live.session.foresees else 1


def states_ahead(
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
        fork = state_after(live, entry)
        state = state_of(fork, assignment, active_ms)
        if depth > 1 and is_frequent:
            state = replace(
                state, ahead=states_ahead(fork, assignment, active_ms, rare=False, depth=depth - 1)
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


def state_after(live: LiveAssignment, entry: Entry[Any]) -> LiveAssignment:
    """Return a copy of the session with one more entry."""
    fork = live.session.fork()
    fork.append(entry)
    return replace(live, session=fork)
