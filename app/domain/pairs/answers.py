"""Types of pairwise judging: pairs, preferences, answers, questions, judgments."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

ItemId = int
Pair = tuple[ItemId, ItemId]
_REMOVED = "The page is removed and not shown again."
_BROKEN = "The page is broken or unreadable."


class Preference(StrEnum):
    """Input of a sorter about a pair: the first, the second, or neither is better."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"

    __hash__ = (
        str.__hash__
    )  # the hash of an enum is a Python function, and preferences are looked up often

    def swapped(self) -> "Preference":
        """Return the same preference for the pair in reverse order."""
        return _SWAPPED[self]


_SWAPPED = {
    Preference.FIRST: Preference.SECOND,
    Preference.SECOND: Preference.FIRST,
    Preference.TIE: Preference.TIE,
}


class ShownAnswer(StrEnum):
    """An answer with what its button shows: label, hint and the action whose key gives it."""

    label: str
    hint: str
    action: str

    def __new__(cls, value: str, label: str = "", hint: str = "", action: str = "") -> Self:
        """Create a member with its words; a lookup gives the value alone."""
        found = str.__new__(cls, value)
        found._value_, found.label, found.hint, found.action = value, label, hint, action
        return found


class Answer(ShownAnswer):
    """Possible answers about two pages, as shown on the screen."""

    LEFT = "left", "Left is better", "The left page helps more with this query.", "left"
    RIGHT = "right", "Right is better", "The right page helps more.", "right"
    TIE = "tie", "Tie", "Both help equally.", "tie"
    LEFT_BAD = "left_bad", "Left is bad", _REMOVED, "strong_left"
    RIGHT_BAD = "right_bad", "Right is bad", _REMOVED, "strong_right"
    LEFT_UNJUDGEABLE = "left_unjudgeable", "Cannot judge left", _BROKEN, "broken_left"
    RIGHT_UNJUDGEABLE = "right_unjudgeable", "Cannot judge right", _BROKEN, "broken_right"

    __hash__ = str.__hash__

    @property
    def is_preference(self) -> bool:
        """Whether the answer compares the pages, rather than removing one of them."""
        return self in _PREFERENCE

    def preference(self) -> Preference:
        """Return the answer as a preference, with the left page as the first."""
        return _PREFERENCE[self]

    @property
    def effect(self) -> Preference | bool:
        """The preference, or whether the left page is removed, not the right one."""
        return _PREFERENCE.get(self, self in _ABOUT_LEFT)


_PREFERENCE = {
    Answer.LEFT: Preference.FIRST,
    Answer.RIGHT: Preference.SECOND,
    Answer.TIE: Preference.TIE,
}
BAD_ANSWERS = frozenset({Answer.LEFT_BAD, Answer.RIGHT_BAD})
UNJUDGEABLE_ANSWERS = frozenset({Answer.LEFT_UNJUDGEABLE, Answer.RIGHT_UNJUDGEABLE})
_ABOUT_LEFT = frozenset({Answer.LEFT_BAD, Answer.LEFT_UNJUDGEABLE})


class QuestionKind(StrEnum):
    """Why a question is asked: for the sorter, or to check self-consistency or attention.

    The right answer to a question of attention is known; no result uses what is answered.
    """

    SORT = "sort"
    CHECK = "check"
    ATTENTION = "attention"


@dataclass(frozen=True, slots=True)
class Question:
    """Two pages as they are shown."""

    kind: QuestionKind
    left: ItemId
    right: ItemId


@dataclass(frozen=True, slots=True)
class Judgment:
    """One answer to one question, as it was shown."""

    kind: QuestionKind
    left: ItemId
    right: ItemId
    answer: Answer

    @property
    def question(self) -> Question:
        """The question this answers."""
        return Question(self.kind, self.left, self.right)

    @property
    def removed(self) -> ItemId | None:
        """The page that this answer removes from the sorter run, if any."""
        return None if self.kind is QuestionKind.ATTENTION else self.marked

    @property
    def marked(self) -> ItemId | None:
        """The page that this answer calls bad or unjudgeable, if any."""
        if self.answer.is_preference:
            return None
        return self.left if self.answer in _ABOUT_LEFT else self.right


def removed_by(
    judgments: Iterable[Judgment],
) -> tuple[tuple[ItemId, ...], tuple[ItemId, ...]]:
    """Return the pages removed as bad and as unjudgeable, each once."""
    found: dict[ItemId, bool] = {}
    for judgment in judgments:
        if (item := judgment.removed) is not None:
            found.setdefault(item, judgment.answer in BAD_ANSWERS)
    bad = tuple(item for item, is_bad in found.items() if is_bad)
    return bad, tuple(item for item, is_bad in found.items() if not is_bad)
