"""The demo's past: assessors answer through the labeling service, at times that have gone by."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.db.models import Assignment
from app.domain.lists import AskingLists
from app.domain.log import EntryKind
from app.domain.session import Asking
from app.domain.words import TimerKind, Tool
from app.services import labeling, timing
from app.services.demo.people import Judge
from app.services.labeling import Standing, Submission
from app.services.live import LiveSessions
from app.services.timing import Report
from app.services.tools import Said, shown_in

_READ = 3  # of many results in a list only the first are read closely


class Sitting:
    """One assessor at one assignment, with a clock that started at ``at``."""

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
        """Answer until ``share`` of the expected questions is done; 1 is to the end."""
        self._clock(TimerKind.START, 0)
        standing = labeling.standing(self._session, self._live, **self._ids)
        while not standing.finished and _share_done(standing) < share:
            standing = self._answer(standing)
            if not standing.finished and self._judge.thinks_again():
                self.at += timedelta(seconds=2)
                undo = Submission(standing.position, EntryKind.UNDO, active_ms=1500)
                standing = self._submit(undo)
        self._clock(TimerKind.LEAVE, 0)

    def _answer(self, standing: Standing) -> Standing:
        pages = [standing.documents[number].name for number in shown_in(standing.state)]
        said = self._said(standing, pages)
        active_ms = self._judge.active_ms(*pages[:_READ])
        self._perhaps_pause(active_ms // 2)
        self.at += timedelta(milliseconds=active_ms) + self._judge.hesitation()
        note = self._judge.note(said.answer)
        return self._submit(
            Submission(standing.position, said=said, active_ms=active_ms, note=note)
        )

    def _said(self, standing: Standing, pages: list[str]) -> Said:
        if self._tool is Tool.GRADES:
            return Said(self._judge.grade(pages[0]), document=pages[0])
        if isinstance(standing.state, AskingLists):
            return self._compared(standing, standing.state)
        assert isinstance(standing.state, Asking)
        left, right = pages
        return Said(self._judge.compare(left, right).value, left=left, right=right)

    def _compared(self, standing: Standing, asked: AskingLists) -> Said:
        left, right = (
            [standing.documents[number].name for number in each.documents]
            for each in (asked.left, asked.right)
        )
        answer = self._judge.compare_lists(left, right)
        return Said(answer.value, left=asked.left.system, right=asked.right.system)

    def _submit(self, submission: Submission) -> Standing:
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
        timing.record_event(self._session, **self._ids, report=Report(kind, active_ms), at=self.at)


def _share_done(standing: Standing) -> float:
    progress = standing.progress
    expected = progress.answered + progress.expected_left
    return progress.answered / expected if expected else 1.0
