"""Sessions of tool T2: one grade per page, in an order drawn for the assignment."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from topkapi.app.domain.errors import AnswerNotAllowed, Invalid, OutOfTurn
from topkapi.app.domain.log import Entry, LoggedSession
from topkapi.app.domain.pairs.answers import ItemId

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
class AskingGrade:
    """The session waits for the grade of ``document``."""

    document: ItemId


@dataclass(frozen=True, slots=True)
class Graded:
    """Every page has a grade; undo reopens the session."""

    grades: tuple[Grading, ...]


class GradeSession(LoggedSession[Grading]):
    """A live session of a plan: `append` entries, read `state`."""

    def __init__(self, plan: GradePlan, log: Iterable[Entry[Grading]] = ()) -> None:
        super().__init__()
        self.plan = plan
        self.extend(log)

    @property
    def state(self) -> AskingGrade | Graded:
        """The page to grade next, or all grades."""
        if self.answered == len(self.plan.order):
            return Graded(tuple(self._done))
        return AskingGrade(self.plan.order[self.answered])

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
