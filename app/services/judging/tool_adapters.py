"""Adapters for what differs between the judging tools: plans, judgments and their rows.

The log, its idempotency, undo, redo and time are shared (`topkapi.app.services.judging.labeling`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from topkapi.app.db.models import JudgmentRow
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AnswerNotAllowed, OutOfTurn
from topkapi.app.domain.grades.session import (
    UNJUDGEABLE,
    AskingGrade,
    Graded,
    GradePlan,
    GradeSession,
    Grading,
)
from topkapi.app.domain.lists.plan import ListPlan
from topkapi.app.domain.lists.session import (
    AskingLists,
    Compared,
    Comparison,
    ListAnswer,
    ListSession,
)
from topkapi.app.domain.log import LoggedSession
from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.progress import Progress, progress_of
from topkapi.app.domain.pairs.session import Asking, Finished, PairSession

AnySession = LoggedSession[Any]
AnyState = Asking | Finished | AskingGrade | Graded | AskingLists | Compared


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """An answer as submitted: pages (or systems) by name, and the value of the answer."""

    answer: str
    left: str | None = None
    right: str | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Answers that lead to the same next question, and one of them as a judgment.

    ``rare`` marks answers that are infrequent, and costly to prefetch because the sorter restarts
    without the page.
    """

    answers: tuple[str, ...]
    judgment: Any
    rare: bool = False


class ToolAdapter(Protocol):
    """What the labeling service needs to know about a tool."""

    def open(self, plan: Mapping[str, Any]) -> AnySession:
        """Open a session without any entries."""
        ...

    def judgment(
        self, session: AnySession, submitted: SubmittedAnswer, ids: Mapping[str, int]
    ) -> Any:
        """Build the judgment about the items named by ``submitted``, which the person was shown.

        The session checks whether it answers the open question (`validate`).
        """
        ...

    def columns(self, judgment: Any) -> dict[str, Any]:
        """Return the judgment as columns of its row."""
        ...

    def from_row(self, row: JudgmentRow) -> Any:
        """Return the judgment stored in a row."""
        ...

    def matches(self, judgment: Any, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""
        ...

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """Return the possible answers, grouped by the next question that they lead to."""
        ...

    def progress(self, session: AnySession) -> Progress:
        """Return the progress of the session."""
        ...

    def state(self, session: AnySession) -> AnyState:
        """Return the open question, or the result."""
        ...


_SAME_EFFECT = (
    (Answer.LEFT,),
    (Answer.RIGHT,),
    (Answer.TIE,),
    (Answer.LEFT_BAD, Answer.LEFT_UNJUDGEABLE),
    (Answer.RIGHT_BAD, Answer.RIGHT_UNJUDGEABLE),
)


class PairsAdapter:
    """T1: which of two pages is better."""

    def open(self, plan: Mapping[str, Any]) -> PairSession:
        """Open a session without any entries."""
        return PairSession(Plan.from_json(plan))

    def judgment(
        self, session: AnySession, submitted: SubmittedAnswer, ids: Mapping[str, int]
    ) -> Judgment:
        """Build the answer to the pair shown; the server's state decides the kind of question."""
        try:
            answer = Answer(submitted.answer)
        except ValueError:
            offered = ", ".join(Answer)
            raise AnswerNotAllowed(
                f"There is no answer {submitted.answer!r}. Use one of: {offered}."
            ) from None
        assert isinstance(session, PairSession)
        state = session.state
        if not isinstance(state, Asking):
            raise OutOfTurn("This query is finished; no question is open.")
        left, right = _resolved(submitted, ids)
        return Judgment(state.question.kind, left, right, answer)

    def columns(self, judgment: Judgment) -> dict[str, Any]:
        """Return the judgment as columns of its row."""
        return {
            "question_kind": judgment.kind,
            "left_id": judgment.left,
            "right_id": judgment.right,
            "answer": judgment.answer.value,
        }

    def from_row(self, row: JudgmentRow) -> Judgment:
        """Return the judgment stored in a row."""
        assert row.left_id is not None
        assert row.right_id is not None
        assert row.answer is not None
        kind = row.question_kind or QuestionKind.SORT
        return Judgment(kind, row.left_id, row.right_id, Answer(row.answer))

    def matches(
        self, judgment: Judgment, submitted: SubmittedAnswer, ids: Mapping[str, int]
    ) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""
        repeated = (judgment.left, judgment.right, judgment.answer.value)
        return repeated == (*_ids_of(submitted, ids), submitted.answer)

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """Return the preferences, and the removal of each page, as bad or as unjudgeable."""
        assert isinstance(session, PairSession)
        state = session.state
        if not isinstance(state, Asking):
            return ()
        asked, offered = state.question, session.plan.answers
        groups = [tuple(answer for answer in group if answer in offered) for group in _SAME_EFFECT]
        return [
            Choice(
                tuple(answer.value for answer in group),
                Judgment(asked.kind, asked.left, asked.right, group[0]),
                rare=not group[0].is_preference,
            )
            for group in groups
            if group
        ]

    def progress(self, session: AnySession) -> Progress:
        """Return the progress of the session, with its range."""
        assert isinstance(session, PairSession)
        return progress_of(session)

    def state(self, session: AnySession) -> Asking | Finished:
        """Return the open pair, or the ranking."""
        assert isinstance(session, PairSession)
        return session.state


class GradesAdapter:
    """T2: one page, one grade."""

    def open(self, plan: Mapping[str, Any]) -> GradeSession:
        """Open a session without any entries."""
        return GradeSession(GradePlan.from_json(plan))

    def judgment(
        self, session: AnySession, submitted: SubmittedAnswer, ids: Mapping[str, int]
    ) -> Grading:
        """Build the grade of the page shown."""
        assert isinstance(session, GradeSession)
        state = session.state
        if not isinstance(state, AskingGrade):
            raise OutOfTurn("This query is finished; no page waits for a grade.")
        document = ids.get(submitted.document or "")
        if document is None:
            raise OutOfTurn("This grade is for a page that is not being asked about now.")
        return Grading(document, submitted.answer)

    def columns(self, judgment: Grading) -> dict[str, Any]:
        """Return the judgment as columns of its row."""
        return {"left_id": judgment.document, "answer": judgment.grade}

    def from_row(self, row: JudgmentRow) -> Grading:
        """Return the judgment stored in a row."""
        assert row.left_id is not None
        assert row.answer is not None
        return Grading(row.left_id, row.answer)

    def matches(
        self, judgment: Grading, submitted: SubmittedAnswer, ids: Mapping[str, int]
    ) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""
        return (judgment.document, judgment.grade) == (
            ids.get(submitted.document or ""),
            submitted.answer,
        )

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """Return all grades as one choice, because any grade leads to the next page."""
        assert isinstance(session, GradeSession)
        state = session.state
        if not isinstance(state, AskingGrade):
            return ()
        answers = (*session.plan.grades, UNJUDGEABLE)
        return [Choice(answers, Grading(state.document, answers[0]))]

    def progress(self, session: AnySession) -> Progress:
        """Return the exact progress: one grade per page."""
        assert isinstance(session, GradeSession)
        left = len(session.plan.order) - session.answered
        return Progress(session.answered, left, left, left)

    def state(self, session: AnySession) -> AskingGrade | Graded:
        """Return the open page, or all grades."""
        assert isinstance(session, GradeSession)
        return session.state


class ListsAdapter:
    """T3: which of two rankings is better; they are named after their systems."""

    def open(self, plan: Mapping[str, Any]) -> ListSession:
        """Open a session without any entries."""
        return ListSession(ListPlan.from_json(plan))

    def judgment(
        self, session: AnySession, submitted: SubmittedAnswer, ids: Mapping[str, int]
    ) -> Comparison:
        """Build the answer about the two rankings shown."""
        try:
            answer = ListAnswer(submitted.answer)
        except ValueError:
            offered = ", ".join(ListAnswer)
            raise AnswerNotAllowed(
                f"There is no answer {submitted.answer!r}. Use one of: {offered}."
            ) from None
        if not isinstance(self.state(session), AskingLists):
            raise OutOfTurn("This query is finished; no question is open.")
        return Comparison(*_resolved(submitted, ids), answer)

    def columns(self, judgment: Comparison) -> dict[str, Any]:
        """Return the judgment as columns of its row."""
        return {
            "left_ranking_id": judgment.left,
            "right_ranking_id": judgment.right,
            "answer": judgment.answer.value,
        }

    def from_row(self, row: JudgmentRow) -> Comparison:
        """Return the judgment stored in a row."""
        assert row.left_ranking_id is not None
        assert row.right_ranking_id is not None
        assert row.answer is not None
        return Comparison(row.left_ranking_id, row.right_ranking_id, ListAnswer(row.answer))

    def matches(
        self, judgment: Comparison, submitted: SubmittedAnswer, ids: Mapping[str, int]
    ) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""
        repeated = (judgment.left, judgment.right, judgment.answer.value)
        return repeated == (*_ids_of(submitted, ids), submitted.answer)

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """Return all answers as one choice, because any answer leads to the next pair.

        Return nothing if the next pair is chosen only after the answer.
        """
        assert isinstance(session, ListSession)
        state = session.state
        if not isinstance(state, AskingLists) or not session.knows_next:
            return ()
        answers = tuple(answer.value for answer in ListAnswer)
        return [Choice(answers, Comparison(state.left.id, state.right.id, ListAnswer.SAME))]

    def progress(self, session: AnySession) -> Progress:
        """Return the exact progress: one answer per pair."""
        assert isinstance(session, ListSession)
        left = session.plan.size - session.answered
        return Progress(session.answered, left, left, left)

    def state(self, session: AnySession) -> AskingLists | Compared:
        """Return the open pair of rankings, or all answers."""
        assert isinstance(session, ListSession)
        return session.state


def _ids_of(submitted: SubmittedAnswer, ids: Mapping[str, int]) -> tuple[int | None, int | None]:
    return ids.get(submitted.left or ""), ids.get(submitted.right or "")


def _resolved(submitted: SubmittedAnswer, ids: Mapping[str, int]) -> tuple[int, int]:
    """Return the ids of the left and right item; refuse names unknown to the assignment."""
    left, right = _ids_of(submitted, ids)
    if left is None or right is None:
        raise OutOfTurn("This answer is about a pair that is not being asked now.")
    return left, right


def shown_in(state: AnyState) -> tuple[int, ...]:
    """Return the pages on the screen from left to right; none when the session is finished."""
    if isinstance(state, Asking):
        return state.question.left, state.question.right
    if isinstance(state, AskingLists):
        return state.documents
    return (state.document,) if isinstance(state, AskingGrade) else ()


TOOL_ADAPTERS: Mapping[Tool, ToolAdapter] = {
    Tool.PAIRS: PairsAdapter(),
    Tool.GRADES: GradesAdapter(),
    Tool.LISTS: ListsAdapter(),
}
