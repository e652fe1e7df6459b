"""An assessor who judges through the labeling service, in the transaction of the test."""

from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState


class Assessor:
    """One assessor at work on an assignment; without ``live``, in a new process."""

    def __init__(
        self, session: Session, assignment: Assignment, live: LiveSessions | None = None
    ) -> None:
        self._session, self._live = session, LiveSessions() if live is None else live
        self._ids: dict[str, Any] = {"assignment_id": assignment.id, "user_id": assignment.user_id}

    def look(self) -> AssignmentState:
        """Return the state of the assignment."""
        return labeling.assignment_state(self._session, self._live, **self._ids)

    def shown(self) -> tuple[str, ...]:
        """Return the names of what is on the screen, the left one first."""
        now_open = self.look()
        return tuple(now_open.documents[page].name for page in now_open.state.shown)

    def answer(self, word: str) -> AssignmentState:
        """Answer the open question about two pages or lists."""
        left, right = self.shown()
        return self.submit(self.look().position, SubmittedAnswer(word, left=left, right=right))

    def submit(self, position: int, answer: SubmittedAnswer) -> AssignmentState:
        """Send an answer as it is."""
        return self._submit(Submission(position, answer=answer, active_ms=1000))

    def step(self, kind: EntryKind) -> AssignmentState:
        """Undo or redo."""
        return self._submit(Submission(self.look().position, kind))

    def _submit(self, submission: Submission) -> AssignmentState:
        return labeling.submit(self._session, self._live, **self._ids, submission=submission)
