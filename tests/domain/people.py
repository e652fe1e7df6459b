"""Simulated people for tests: they answer from known worths, or at random."""

from collections.abc import Callable, Mapping
from random import Random

from topkapi.app.domain.log import answer
from topkapi.app.domain.pairs.answers import Answer, Judgment, Question
from topkapi.app.domain.pairs.session import Asking, PairSession

Person = Callable[[Question], Answer]


def truthful(worth: Mapping[int, float]) -> Person:
    """Return a person who prefers the greater worth; equal worths are a tie."""

    def answers(question: Question) -> Answer:
        left, right = worth[question.left], worth[question.right]
        if left == right:
            return Answer.TIE
        return Answer.LEFT if left > right else Answer.RIGHT

    return answers


def answering_at_random(random: Random, *, removals: float = 0.1) -> Person:
    """Return a person who answers at random, removing a page with probability ``removals``."""
    comparing = [Answer.LEFT, Answer.RIGHT, Answer.TIE]
    removing = [each for each in Answer if not each.is_preference]

    def answers(_question: Question) -> Answer:
        return random.choice(removing if random.random() < removals else comparing)

    return answers


def answer_once(session: PairSession, person: Person) -> bool:
    """Answer the current question; return False if there is none."""
    state = session.state
    if not isinstance(state, Asking):
        return False
    question = state.question
    session.append(answer(Judgment(question.kind, question.left, question.right, person(question))))
    return True


def answer_all(session: PairSession, person: Person, limit: int = 20_000) -> int:
    """Answer until the session ends; return the number of answers."""
    for count in range(limit):
        if not answer_once(session, person):
            return count
    raise AssertionError(f"the session did not end within {limit} answers")
