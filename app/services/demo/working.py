"""Past work of the demo: simulated answers through the labeling service, at past times."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment
from topkapi.app.domain.enums import TimerKind, Tool
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.demo.people import Judge
from topkapi.app.services.judging import labeling, timing
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.judging.timing import TimerReport

_READ = 3  # only the first results of a list are read closely


class Sitting:
    """One assessor working on one assignment, with a clock that starts at ``at``."""

    def __init__(
        self,
        session: Session,
        live: LiveSessions,
        assignment: Assignment,
        judge: Judge,
        at: datetime,
    ) -> None:
        self._session, self._live, self._judge = session, live, judge
        self._ids: dict[str, Any] = {"assignment_id": assignment.id, "user_id": assignment.user_id}
        self._tool = assignment.tool
        self.at = at

    def work(self, share: float) -> None:
        """Answer until ``share`` of the expected questions is done; 1 finishes the assignment."""
        self._clock(TimerKind.START, 0)
        assignment_state = labeling.assignment_state(self._session, self._live, **self._ids)
        while not assignment_state.finished and _share_done(assignment_state) < share:
            assignment_state = self._answer(assignment_state)
            if not assignment_state.finished and self._judge.thinks_again():
                self.at += timedelta(seconds=2)
                undo = Submission(assignment_state.position, EntryKind.UNDO, active_ms=1500)
                assignment_state = self._submit(undo)
        self._clock(TimerKind.LEAVE, 0)

    def _answer(self, assignment_state: AssignmentState) -> AssignmentState:
        pages = [assignment_state.documents[number].name for number in assignment_state.state.shown]
        answer = self._chosen(assignment_state, pages)
        active_ms = self._judge.active_ms(*pages[:_READ])
        self._perhaps_pause(active_ms // 2)
        self.at += timedelta(milliseconds=active_ms) + self._judge.hesitation()
        note = self._judge.note(answer.answer)
        return self._submit(
            Submission(assignment_state.position, answer=answer, active_ms=active_ms, note=note)
        )

    def _chosen(self, assignment_state: AssignmentState, pages: list[str]) -> SubmittedAnswer:
        if self._tool is Tool.GRADES:
            return SubmittedAnswer(self._judge.grade(pages[0]), document=pages[0])
        if isinstance(assignment_state.state, AskingLists):
            return self._compared(assignment_state, assignment_state.state)
        assert isinstance(assignment_state.state, Asking)
        left, right = pages
        return SubmittedAnswer(self._judge.compare(left, right).value, left=left, right=right)

    def _compared(self, assignment_state: AssignmentState, asked: AskingLists) -> SubmittedAnswer:
        left, right = (
            [assignment_state.documents[number].name for number in each.documents]
            for each in (asked.left, asked.right)
        )
        answer = self._judge.compare_lists(left, right)
        return SubmittedAnswer(answer.value, left=asked.left.system, right=asked.right.system)

    def _submit(self, submission: Submission) -> AssignmentState:
        return labeling.submit(
            self._session, self._live, **self._ids, submission=submission, at=self.at
        )

    def _perhaps_pause(self, active_ms: int) -> None:
        pause = self._judge.pause()
        if pause is not None:
            self.at += timedelta(milliseconds=active_ms)
            self._clock(TimerKind.PAUSE, active_ms)
            self.at += pause
            self._clock(TimerKind.RESUME, active_ms)

    def _clock(self, kind: TimerKind, active_ms: int) -> None:
        timing.record_event(
            self._session, **self._ids, report=TimerReport(kind, active_ms), at=self.at
        )


def _share_done(assignment_state: AssignmentState) -> float:
    progress = assignment_state.progress
    expected = progress.answered + progress.expected_left
    return progress.answered / expected if expected else 1.0
