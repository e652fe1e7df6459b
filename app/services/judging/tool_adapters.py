"""What differs between the tools of judging: plans, judgments and their rows.

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
    """An answer as it arrives: pages, or systems, by their names; the answer as a word."""

    answer: str
    left: str | None = None
    right: str | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Answers after which the same is asked, and one of them as a judgment.

    ``rare``: seldom given, and costly to follow because the sorter starts again without a page.
    """

    answers: tuple[str, ...]
    judgment: Any
    rare: bool = False


class ToolAdapter(Protocol):
    """What the labeling service needs to know about a tool."""

    def open(self, plan: Mapping[str, Any]) -> AnySession:
        """A session at its beginning."""
        ...

    def judgment(self, session: AnySession, said: SubmittedAnswer, ids: Mapping[str, int]) -> Any:
        """Build the judgment from what ``said`` names, which is what the person was shown.

        Whether it is about the question being asked is for the session to check (`validate`).
        """
        ...

    def columns(self, judgment: Any) -> dict[str, Any]:
        """The judgment as columns of its row."""
        ...

    def from_row(self, row: JudgmentRow) -> Any:
        """The judgment of a row."""
        ...

    def says(self, judgment: Any, said: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Whether a recorded judgment is what ``said`` repeats."""
        ...

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """What can be said now; answers that lead to the same next question stand together."""
        ...

    def progress(self, session: AnySession) -> Progress:
        """How far the session is."""
        ...

    def state(self, session: AnySession) -> AnyState:
        """What is asked, or the result."""
        ...


_ALIKE = (
    (Answer.LEFT,),
    (Answer.RIGHT,),
    (Answer.TIE,),
    (Answer.LEFT_BAD, Answer.LEFT_UNJUDGEABLE),
    (Answer.RIGHT_BAD, Answer.RIGHT_UNJUDGEABLE),
)


class PairsAdapter:
    """T1: which of two pages is better."""

    def open(self, plan: Mapping[str, Any]) -> PairSession:
        """A session at its beginning."""
        return PairSession(Plan.from_json(plan))

    def judgment(
        self, session: AnySession, said: SubmittedAnswer, ids: Mapping[str, int]
    ) -> Judgment:
        """Build the answer to the pair shown; the kind of question is the server's to know."""
        try:
            answer = Answer(said.answer)
        except ValueError:
            offered = ", ".join(Answer)
            raise AnswerNotAllowed(
                f"There is no answer {said.answer!r}; the answers are {offered}."
            ) from None
        assert isinstance(session, PairSession)
        state = session.state
        if not isinstance(state, Asking):
            raise OutOfTurn("This query is finished; no question is open.")
        left, right = _resolved(said, ids)
        return Judgment(state.question.kind, left, right, answer)

    def columns(self, judgment: Judgment) -> dict[str, Any]:
        """The judgment as columns of its row."""
        return {
            "question_kind": judgment.kind,
            "left_id": judgment.left,
            "right_id": judgment.right,
            "answer": judgment.answer.value,
        }

    def from_row(self, row: JudgmentRow) -> Judgment:
        """The judgment of a row."""
        assert row.left_id is not None
        assert row.right_id is not None
        assert row.answer is not None
        kind = row.question_kind or QuestionKind.SORT
        return Judgment(kind, row.left_id, row.right_id, Answer(row.answer))

    def says(self, judgment: Judgment, said: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Whether a recorded judgment is what ``said`` repeats."""
        repeated = (judgment.left, judgment.right, judgment.answer.value)
        return repeated == (*_found(said, ids), said.answer)

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """The preferences, and each page taken out, be it as bad or as broken."""
        assert isinstance(session, PairSession)
        state = session.state
        if not isinstance(state, Asking):
            return ()
        asked, offered = state.question, session.plan.answers
        groups = [tuple(answer for answer in group if answer in offered) for group in _ALIKE]
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
        """How far the session is, with its range."""
        assert isinstance(session, PairSession)
        return progress_of(session)

    def state(self, session: AnySession) -> Asking | Finished:
        """The pair that is asked, or the ranking."""
        assert isinstance(session, PairSession)
        return session.state


class GradesAdapter:
    """T2: one page, one grade."""

    def open(self, plan: Mapping[str, Any]) -> GradeSession:
        """A session at its beginning."""
        return GradeSession(GradePlan.from_json(plan))

    def judgment(
        self, session: AnySession, said: SubmittedAnswer, ids: Mapping[str, int]
    ) -> Grading:
        """Build the grade of the page shown."""
        assert isinstance(session, GradeSession)
        state = session.state
        if not isinstance(state, AskingGrade):
            raise OutOfTurn("This query is finished; no page waits for a grade.")
        document = ids.get(said.document or "")
        if document is None:
            raise OutOfTurn("This grade is for a page that is not being asked about now.")
        return Grading(document, said.answer)

    def columns(self, judgment: Grading) -> dict[str, Any]:
        """The judgment as columns of its row."""
        return {"left_id": judgment.document, "answer": judgment.grade}

    def from_row(self, row: JudgmentRow) -> Grading:
        """The judgment of a row."""
        assert row.left_id is not None
        assert row.answer is not None
        return Grading(row.left_id, row.answer)

    def says(self, judgment: Grading, said: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Whether a recorded judgment is what ``said`` repeats."""
        return (judgment.document, judgment.grade) == (ids.get(said.document or ""), said.answer)

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """Any grade leads to the next page."""
        assert isinstance(session, GradeSession)
        state = session.state
        if not isinstance(state, AskingGrade):
            return ()
        answers = (*session.plan.grades, UNJUDGEABLE)
        return [Choice(answers, Grading(state.document, answers[0]))]

    def progress(self, session: AnySession) -> Progress:
        """Exactly how far the session is: one grade a page."""
        assert isinstance(session, GradeSession)
        left = len(session.plan.order) - session.answered
        return Progress(session.answered, left, left, left)

    def state(self, session: AnySession) -> AskingGrade | Graded:
        """The page that is asked about, or all grades."""
        assert isinstance(session, GradeSession)
        return session.state


class ListsAdapter:
    """T3: which of two rankings serves better; they go by the names of their systems."""

    def open(self, plan: Mapping[str, Any]) -> ListSession:
        """A session at its beginning."""
        return ListSession(ListPlan.from_json(plan))

    def judgment(
        self, session: AnySession, said: SubmittedAnswer, ids: Mapping[str, int]
    ) -> Comparison:
        """Build the answer about the two rankings shown."""
        try:
            answer = ListAnswer(said.answer)
        except ValueError:
            offered = ", ".join(ListAnswer)
            raise AnswerNotAllowed(
                f"There is no answer {said.answer!r}; the answers are {offered}."
            ) from None
        if not isinstance(self.state(session), AskingLists):
            raise OutOfTurn("This query is finished; no question is open.")
        return Comparison(*_resolved(said, ids), answer)

    def columns(self, judgment: Comparison) -> dict[str, Any]:
        """The judgment as columns of its row."""
        return {
            "left_ranking_id": judgment.left,
            "right_ranking_id": judgment.right,
            "answer": judgment.answer.value,
        }

    def from_row(self, row: JudgmentRow) -> Comparison:
        """The judgment of a row."""
        assert row.left_ranking_id is not None
        assert row.right_ranking_id is not None
        assert row.answer is not None
        return Comparison(row.left_ranking_id, row.right_ranking_id, ListAnswer(row.answer))

    def says(self, judgment: Comparison, said: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Whether a recorded judgment is what ``said`` repeats."""
        repeated = (judgment.left, judgment.right, judgment.answer.value)
        return repeated == (*_found(said, ids), said.answer)

    def choices(self, session: AnySession) -> Sequence[Choice]:
        """Any answer leads to the next pair; which that is nobody knows if it is chosen then."""
        assert isinstance(session, ListSession)
        state = session.state
        if not isinstance(state, AskingLists) or not session.knows_next:
            return ()
        answers = tuple(answer.value for answer in ListAnswer)
        return [Choice(answers, Comparison(state.left.id, state.right.id, ListAnswer.SAME))]

    def progress(self, session: AnySession) -> Progress:
        """Exactly how far the session is: one answer a pair."""
        assert isinstance(session, ListSession)
        left = session.plan.size - session.answered
        return Progress(session.answered, left, left, left)

    def state(self, session: AnySession) -> AskingLists | Compared:
        """The rankings that are asked about, or all answers."""
        assert isinstance(session, ListSession)
        return session.state


def _found(said: SubmittedAnswer, ids: Mapping[str, int]) -> tuple[int | None, int | None]:
    return ids.get(said.left or ""), ids.get(said.right or "")


def _resolved(said: SubmittedAnswer, ids: Mapping[str, int]) -> tuple[int, int]:
    """Return the ids of what stood left and right; refuse names that the assignment has not."""
    left, right = _found(said, ids)
    if left is None or right is None:
        raise OutOfTurn("This answer is about a pair that is not being asked now.")
    return left, right


def shown_in(state: AnyState) -> tuple[int, ...]:
    """The pages on the screen, from left to right; none when the session has ended."""
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
