"""What a rival plays: documents with a gold order, the people who answer, and their answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.simulated_assessors import Assessor

Ask = Callable[[int, int], bool]  # whether the first document is preferred


@dataclass(frozen=True, slots=True)
class Contest:
    """Documents with gold worths, the people who answer, and how often a pair may be asked.

    ``own`` are the worths by all votes of these people, if they are real; ``prior`` has a ranker's
    scores.
    """

    worth: Sequence[float]
    people: tuple[Assessor, ...]
    k: int
    limit: int
    own: Sequence[float] = ()
    prior: tuple[float, ...] | None = None

    @property
    def n(self) -> int:
        """Return the number of documents."""
        return len(self.worth)

    @property
    def assessor(self) -> Assessor:
        """The only person who answers."""
        (only,) = self.people
        return only


class Spent(Exception):
    """The questions are used up."""


class Questions:
    """Asks people in turn, at most ``most`` times, and keeps the answers with who gave them."""

    def __init__(self, people: Sequence[Assessor], most: int) -> None:
        self._people, self._most, self._coin = people, most, Random("ties")
        self.answers: list[tuple[Pair, Preference, int]] = []

    def prefer(self, pair: Pair) -> Preference:
        """Return the answer of the person whose turn it is."""
        if len(self.answers) >= self._most:
            raise Spent
        answer = self._people[self.person].prefer(pair)
        self.answers.append((pair, answer, self.person))
        return answer

    def __call__(self, first: int, second: int) -> bool:
        """Return whether the first document is preferred; a tie is decided by a coin."""
        answer = self.prefer((first, second))
        if answer is Preference.TIE:
            return self._coin.random() < 0.5
        return answer is Preference.FIRST

    @property
    def person(self) -> int:
        """Return whose turn it is."""
        return len(self.answers) % len(self._people)

    @property
    def left(self) -> int:
        """Return how many questions are left."""
        return self._most - len(self.answers)
