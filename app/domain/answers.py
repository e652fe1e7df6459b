"""The words of pairwise judging: pairs, preferences, answers, questions, judgments."""

from dataclasses import dataclass
from enum import StrEnum

ItemId = int
Pair = tuple[ItemId, ItemId]


class Preference(StrEnum):
    """What a sorter is told about a pair: the first, the second, or neither is better."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"

    __hash__ = (
        str.__hash__
    )  # that of an enum is a function in Python, and answers are looked up often

    def swapped(self) -> "Preference":
        """The same statement about the pair in the other order."""
        return _SWAPPED[self]


_SWAPPED = {
    Preference.FIRST: Preference.SECOND,
    Preference.SECOND: Preference.FIRST,
    Preference.TIE: Preference.TIE,
}


class Answer(StrEnum):
    """What a person can say about two pages, seen from the screen."""

    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"
    LEFT_BAD = "left_bad"
    RIGHT_BAD = "right_bad"
    LEFT_UNJUDGEABLE = "left_unjudgeable"
    RIGHT_UNJUDGEABLE = "right_unjudgeable"

    __hash__ = str.__hash__

    @property
    def is_preference(self) -> bool:
        """Whether the answer compares the pages, rather than taking one of them out."""
        return self in _PREFERENCE

    def preference(self) -> Preference:
        """The answer with the left page as the first."""
        return _PREFERENCE[self]


_PREFERENCE = {
    Answer.LEFT: Preference.FIRST,
    Answer.RIGHT: Preference.SECOND,
    Answer.TIE: Preference.TIE,
}
BAD_ANSWERS = frozenset({Answer.LEFT_BAD, Answer.RIGHT_BAD})
UNJUDGEABLE_ANSWERS = frozenset({Answer.LEFT_UNJUDGEABLE, Answer.RIGHT_UNJUDGEABLE})
_ABOUT_LEFT = frozenset({Answer.LEFT_BAD, Answer.LEFT_UNJUDGEABLE})


class QuestionKind(StrEnum):
    """Why a question is asked: the sorter needs it, or it checks the assessor against herself."""

    SORT = "sort"
    CHECK = "check"


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
        """The page this answer takes out of the contest, if it takes one."""
        if self.answer.is_preference:
            return None
        return self.left if self.answer in _ABOUT_LEFT else self.right
