"""The simulated assessors of the demo: how they judge, how fast, and how far they got."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import log
from random import Random
from statistics import NormalDist

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
    """How an assessor judges: rates per answer, and the usual ``seconds`` per answer.

    ``lapse``, ``width`` and ``tie_ratio`` are the error model of the sorter `robust`, on worths
    with standard deviation 1. ``severity`` is by how much of a grade the person's thresholds are
    above the usual ones.
    """

    lapse: float
    width: float
    tie_ratio: float
    severity: float
    notes: float
    second_thoughts: float
    seconds: float


@dataclass(frozen=True, slots=True)
class DemoAssessor:
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


_HABITS = {  # lapse, width, tie ratio, severity, notes, second thoughts, seconds
    "Anna Virtanen": Habits(0.01, 0.12, 0.9, 0.2, 0.06, 0.02, 24),
    "Bruno Costa": Habits(0.05, 0.25, 0.3, -0.5, 0.03, 0.03, 15),
    "Chiara Rossi": Habits(0.02, 0.18, 1.0, 0.45, 0.08, 0.04, 31),
    "Deniz Aksoy": Habits(0.12, 0.35, 0.2, -0.3, 0.02, 0.02, 11),
    "Emma Lind": Habits(0.02, 0.16, 0.5, 0.1, 0.05, 0.02, 20),
}
_WORK = {  # finished, share begun, hours since they started
    "Anna Virtanen": (99, 0, 9 * 24 + 3),
    "Bruno Costa": (99, 0, 8 * 24 + 6),
    "Chiara Rossi": (99, 0, 6 * 24 + 2),
    "Deniz Aksoy": (3, 0.4, 2 * 24 + 4),
    "Emma Lind": (2, 0, 1 * 24 + 4),
}
ASSESSORS = tuple(
    DemoAssessor(
        name,
        f"{name.split()[0].lower()}@demo.example",
        _HABITS[name],
        finished,
        begun_share,
        timedelta(hours=hours),
    )
    for name, (finished, begun_share, hours) in _WORK.items()
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
        normal = NormalDist()
        self._worths = {
            name: -normal.inv_cdf((rank + 0.5) / len(order)) for rank, name in enumerate(order)
        }
        self._grades = grades
        self._levels = _levels(order, grades)
        self._scale = scale
        self._random = random
        self._seen: set[str] = set()

    def compare(self, left: str, right: str) -> Answer:
        """Answer a pair: set bad pages aside; close pages may tie or be confused.

        The answer is drawn by the error model of `topkapi.app.domain.pairs.robust.moves`.
        """
        removed = self._set_aside(left, right)
        if removed is not None:
            return removed
        if self._happens(self.habits.lapse):
            return self._random.choice((Answer.LEFT, Answer.RIGHT))
        seen = self._worths[left] - self._worths[right] + self._noise()
        if abs(seen) < self.habits.tie_ratio * self.habits.width:
            return Answer.TIE
        return Answer.LEFT if seen > 0 else Answer.RIGHT

    def _noise(self) -> float:
        """Draw logistic noise of the person's width."""
        share = min(max(self._random.random(), 1e-9), 1 - 1e-9)
        return self.habits.width * log(share / (1 - share))

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
        noise = self._random.gauss(0, 2 * self.habits.width)
        gap = self._worth(left) - self._worth(right) + noise
        if abs(gap) < 1 + self.habits.tie_ratio * self.habits.width:
            return ListAnswer.SAME
        if gap > 0:
            return ListAnswer.LEFT_MUCH if gap > _MUCH else ListAnswer.LEFT
        return ListAnswer.RIGHT_MUCH if gap < -_MUCH else ListAnswer.RIGHT

    def _worth(self, pages: Sequence[str]) -> float:
        return sum(self._grades[page] / rank for rank, page in enumerate(pages, start=1))

    def grade(self, page: str) -> str:
        """Grade a page by the person's own thresholds, which are not quite steady."""
        true = self._grades[page]
        if true == 0 and self._happens(0.06):
            return UNJUDGEABLE
        noise = self._random.gauss(0, 0.2 + self.habits.width)
        seen = self._levels[page] - self.habits.severity + noise
        return self._scale[min(max(round(seen), 0), len(self._scale) - 1)]

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


def _levels(order: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Return the grade of each page with its place among pages of the grade: from -.5 to .5."""
    levels = {}
    for grade in set(grades.values()):
        alike = [name for name in order if grades[name] == grade]
        for index, name in enumerate(alike):
            levels[name] = grade + 0.5 - (index + 0.5) / len(alike)
    return levels
