"""People who judge in tests: they hold a truth and answer from it, or at random."""

from collections.abc import Callable, Mapping
from random import Random

from topkapi.app.domain.log import answer
from topkapi.app.domain.pairs.answers import Answer, Judgment, Question
from topkapi.app.domain.pairs.session import Asking, PairSession

Person = Callable[[Question], Answer]


def truthful(worth: Mapping[int, float]) -> Person:
    """Prefers the greater worth; equal worths are a tie."""

    def says(question: Question) -> Answer:
        left, right = worth[question.left], worth[question.right]
        if left == right:
            return Answer.TIE
        return Answer.LEFT if left > right else Answer.RIGHT

    return says


def capricious(random: Random, *, removals: float = 0.1) -> Person:
    """Says anything, taking a page out now and then."""
    comparing = [Answer.LEFT, Answer.RIGHT, Answer.TIE]
    removing = [each for each in Answer if not each.is_preference]

    def says(_question: Question) -> Answer:
        return random.choice(removing if random.random() < removals else comparing)

    return says


def answer_once(session: PairSession, person: Person) -> bool:
    """Answer the open question; False when none is open."""
    state = session.state
    if not isinstance(state, Asking):
        return False
    question = state.question
    session.append(answer(Judgment(question.kind, question.left, question.right, person(question))))
    return True


def answer_all(session: PairSession, person: Person, limit: int = 20_000) -> int:
    """Answer until the session ends; the number of answers."""
    for count in range(limit):
        if not answer_once(session, person):
            return count
    raise AssertionError(f"the session did not end within {limit} answers")
