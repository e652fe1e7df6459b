"""The simulated assessors of the demo: how they judge, how fast, and how far they got."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import exp
from random import Random

from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.pairs.answers import Answer

_MUCH = 4.0  # minimum difference in worth for "much better"
_ON_TIE = ("Both would do.", "They say the same in other words.", "Neither tells how to check it.")
_ON_BAD = ("Only links and search words.", "Another subject altogether.", "It just sells.")
_ON_CHOICE = (
    "The steps are in a useful order here.",
    "Gives the reason, not only the rule.",
    "I tried the other one's advice once; it does not work.",
    "Shorter, but it answers the question.",
    "The other one buries the answer at the very end.",
)


@dataclass(frozen=True, slots=True)
class Habits:
    """How an assessor judges: rates per answer, and the usual ``seconds`` per answer."""

    error: float
    ties: float
    notes: float
    second_thoughts: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Assessor:
    """A simulated assessor.

    ``finished`` assignments are done, and ``begun_share`` of the next one; ``began`` is the time
    since they started.
    """

    name: str
    email: str
    habits: Habits
    finished: int
    begun_share: float
    began: timedelta


ASSESSORS = (
    Assessor(
        "Anna Virtanen",
        "anna@demo.example",
        Habits(error=0.03, ties=0.3, notes=0.06, second_thoughts=0.02, seconds=24),
        finished=99,
        begun_share=0,
        began=timedelta(days=9, hours=3),
    ),
    Assessor(
        "Bruno Costa",
        "bruno@demo.example",
        Habits(error=0.10, ties=0.15, notes=0.03, second_thoughts=0.03, seconds=15),
        finished=99,
        begun_share=0,
        began=timedelta(days=8, hours=6),
    ),
    Assessor(
        "Chiara Rossi",
        "chiara@demo.example",
        Habits(error=0.06, ties=0.4, notes=0.08, second_thoughts=0.04, seconds=31),
        finished=99,
        begun_share=0,
        began=timedelta(days=6, hours=2),
    ),
    Assessor(
        "Deniz Aksoy",
        "deniz@demo.example",
        Habits(error=0.16, ties=0.1, notes=0.02, second_thoughts=0.02, seconds=11),
        finished=3,
        begun_share=0.4,
        began=timedelta(days=2, hours=4),
    ),
    Assessor(
        "Emma Lind",
        "emma@demo.example",
        Habits(error=0.05, ties=0.2, notes=0.05, second_thoughts=0.02, seconds=20),
        finished=2,
        begun_share=0,
        began=timedelta(days=1, hours=4),
    ),
)


class Judge:
    """One assessor on one query: knows the true order and sometimes deviates from it."""

    def __init__(
        self,
        habits: Habits,
        order: Sequence[str],
        grades: Mapping[str, int],
        scale: Sequence[str],
        random: Random,
    ) -> None:
        self.habits = habits
        self._rank = {name: rank for rank, name in enumerate(order)}
        self._grades = grades
        self._scale = scale
        self._random = random
        self._seen: set[str] = set()

    def compare(self, left: str, right: str) -> Answer:
        """Answer a pair: set bad pages aside; close pages may tie or be confused."""
        removed = self._set_aside(left, right)
        if removed is not None:
            return removed
        gap = abs(self._rank[left] - self._rank[right])
        if self._grades[left] == self._grades[right] and self._happens(self.habits.ties / gap):
            return Answer.TIE
        mistaken = self._happens(2 * self.habits.error * exp(-gap / 4))
        better_left = (self._rank[left] < self._rank[right]) is not mistaken
        return Answer.LEFT if better_left else Answer.RIGHT

    def _set_aside(self, left: str, right: str) -> Answer | None:
        for name, bad, unjudgeable in (
            (left, Answer.LEFT_BAD, Answer.LEFT_UNJUDGEABLE),
            (right, Answer.RIGHT_BAD, Answer.RIGHT_UNJUDGEABLE),
        ):
            if self._grades[name] == 0 and self._happens(0.12):
                return unjudgeable if self._happens(0.4) else bad
        return None

    def compare_lists(self, left: Sequence[str], right: Sequence[str]) -> ListAnswer:
        """Answer a pair of lists by their discounted worth plus noise."""
        noise = self._random.gauss(0, 6 * self.habits.error)
        gap = self._worth(left) - self._worth(right) + noise
        if abs(gap) < 1 + self.habits.ties:
            return ListAnswer.SAME
        if gap > 0:
            return ListAnswer.LEFT_MUCH if gap > _MUCH else ListAnswer.LEFT
        return ListAnswer.RIGHT_MUCH if gap < -_MUCH else ListAnswer.RIGHT

    def _worth(self, pages: Sequence[str]) -> float:
        return sum(self._grades[page] / rank for rank, page in enumerate(pages, start=1))

    def grade(self, page: str) -> str:
        """Grade a page, sometimes one step off."""
        true = self._grades[page]
        if true == 0 and self._happens(0.06):
            return UNJUDGEABLE
        step = self._random.choice((-1, 1)) if self._happens(2.5 * self.habits.error) else 0
        return self._scale[min(max(true + step, 0), len(self._scale) - 1)]

    def thinks_again(self) -> bool:
        """Return whether the last answer is undone."""
        return self._happens(self.habits.second_thoughts)

    def active_ms(self, *pages: str) -> int:
        """Return the time for an answer; it is longer with pages not seen before."""
        new = sum(page not in self._seen for page in pages)
        self._seen.update(pages)
        usual = self.habits.seconds * (0.45 + 0.4 * new)
        return round(1000 * max(1.5, self._random.lognormvariate(0, 0.5) * usual))

    def note(self, answer: str) -> str | None:
        """Return the note on an answer, mostly None."""
        if not self._happens(self.habits.notes):
            return None
        kind = _ON_TIE if answer == "tie" else _ON_BAD if "bad" in answer else _ON_CHOICE
        return self._random.choice(kind)

    def pause(self) -> timedelta | None:
        """Return how long the clock is paused before an answer, mostly None."""
        if not self._happens(0.04):
            return None
        return timedelta(seconds=self._random.uniform(40, 600))

    def hesitation(self) -> timedelta:
        """Return the delay between an answer and the next pages."""
        return timedelta(milliseconds=self._random.randint(150, 900))

    def _happens(self, probability: float) -> bool:
        return self._random.random() < probability
