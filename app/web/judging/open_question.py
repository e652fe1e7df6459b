"""The open question of an assignment, stored and leased first where a team needs it."""

from fastapi import Request
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.web.access.deps import SAFE_METHODS


def assignment_state(
    request: Request, session: Session, user_id: int, assignment_id: int
) -> AssignmentState:
    """Return the state of a person's assignment.

    A member of a team gets a question when they open the page. A request that reads stores it in a
    short transaction of its own.
    """
    live: LiveSessions = request.app.state.live
    state = labeling.assignment_state(session, live, assignment_id=assignment_id, user_id=user_id)
    if state.is_stored:
        return state
    if request.method not in SAFE_METHODS:
        return labeling.offer(session, live, assignment_id=assignment_id, user_id=user_id)
    sessions: Sessions = request.app.state.sessions
    with sessions.write.begin() as writing:
        return labeling.offer(writing, live, assignment_id=assignment_id, user_id=user_id)
