"""Sessions of tool T2: one grade per page, in an order drawn for the assignment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from topkapi.app.domain.errors import AnswerNotAllowed, Invalid, OutOfTurn
from topkapi.app.domain.log import Entry
from topkapi.app.domain.pairs.answers import ItemId
from topkapi.app.domain.session import (
    Choice,
    JudgingSession,
    Progress,
    SessionState,
    StoredJudgment,
    SubmittedAnswer,
)

DEFAULT_GRADES = ("bad", "fair", "good", "excellent", "perfect")
UNJUDGEABLE = "unjudgeable"


@dataclass(frozen=True, slots=True)
class GradePlan:
    """The pages in the order in which they are shown, and the grades from worst to best."""

    order: tuple[ItemId, ...]
    grades: tuple[str, ...] = DEFAULT_GRADES
    seed: str = ""

    def __post_init__(self) -> None:
        if len(self.grades) < 2 or len(set(self.grades)) != len(self.grades):
            raise Invalid("A study needs at least two grades, all different.", field="grades")
        if UNJUDGEABLE in self.grades:
            raise Invalid(f"{UNJUDGEABLE!r} cannot be the name of a grade.", field="grades")
        if len(set(self.order)) != len(self.order):
            raise Invalid("A document appears twice in the order.", field="order")

    def as_json(self) -> dict[str, Any]:
        """Return a plain dictionary that `from_json` reads back."""
        return {**asdict(self), "order": list(self.order), "grades": list(self.grades)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Read the plan that `as_json` wrote."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: _tuple(value) for name, value in stored.items() if name in known})


@dataclass(frozen=True, slots=True)
class Grading:
    """One page and its grade, or that it cannot be judged."""

    document: ItemId
    grade: str


@dataclass(frozen=True, slots=True)
class AskingGrade(SessionState):
    """The session waits for the grade of ``document``."""

    document: ItemId

    @property
    def shown(self) -> tuple[ItemId, ...]:
        """The page on the screen."""
        return (self.document,)


@dataclass(frozen=True, slots=True)
class Graded(SessionState):
    """Every page has a grade; undo reopens the session."""

    grades: tuple[Grading, ...]


class GradeSession(JudgingSession[Grading]):
    """A live session of a plan: `append` entries, read `state`."""

    def __init__(self, plan: GradePlan, log: Iterable[Entry[Grading]] = ()) -> None:
        super().__init__()
        self.plan = plan
        self.extend(log)

    @classmethod
    def open(cls, plan: Mapping[str, Any]) -> Self:
        """Open a session without entries from a stored plan."""
        return cls(GradePlan.from_json(plan))

    @property
    def state(self) -> AskingGrade | Graded:
        """The page to grade next, or all grades."""
        if self.answered == len(self.plan.order):
            return Graded(tuple(self._done))
        return AskingGrade(self.plan.order[self.answered])

    @property
    def progress(self) -> Progress:
        """The exact progress: one grade per page."""
        left = len(self.plan.order) - self.answered
        return Progress(self.answered, left, left, left)

    @property
    def choices(self) -> Sequence[Choice]:
        """All grades as one choice, because any grade leads to the next page."""
        state = self.state
        if not isinstance(state, AskingGrade):
            return ()
        answers = (*self.plan.grades, UNJUDGEABLE)
        return [Choice(answers, Grading(state.document, answers[0]))]

    def judgment(self, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> Grading:
        """Build the grade of the page shown."""
        if not isinstance(self.state, AskingGrade):
            raise OutOfTurn("This query is finished; no page waits for a grade.")
        document = ids.get(submitted.document or "")
        if document is None:
            raise OutOfTurn("This grade is for a page that is not being asked about now.")
        return Grading(document, submitted.answer)

    @staticmethod
    def columns(judgment: Grading) -> dict[str, Any]:
        """Return the judgment as columns of its row."""
        return {"left_id": judgment.document, "answer": judgment.grade}

    @staticmethod
    def from_row(row: StoredJudgment) -> Grading:
        """Return the judgment stored in a row."""
        assert row.left_id is not None
        assert row.answer is not None
        return Grading(row.left_id, row.answer)

    @staticmethod
    def matches(judgment: Grading, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""
        repeated = (ids.get(submitted.document or ""), submitted.answer)
        return repeated == (judgment.document, judgment.grade)

    def validate(self, judgment: Grading) -> None:
        """Raise if the grade is for another page or does not exist in the study."""
        state = self.state
        if not isinstance(state, AskingGrade):
            raise OutOfTurn("This query is finished; no page waits for a grade.")
        if judgment.document != state.document:
            raise OutOfTurn("This grade is for a page that is not being asked about now.")
        if judgment.grade not in (*self.plan.grades, UNJUDGEABLE):
            raise AnswerNotAllowed(
                f"This study has no grade {judgment.grade!r}; "
                f"its grades are {', '.join(self.plan.grades)}."
            )

    def _take(self, judgment: Grading) -> None:
        self.seen.add(judgment.document)

    def _take_back(self, judgment: Grading) -> None:
        """Do nothing: the page is asked again, and it remains in ``seen``."""

    def _unshare(self) -> None:
        """Do nothing: the plan is immutable, and `fork` copies the rest."""


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
