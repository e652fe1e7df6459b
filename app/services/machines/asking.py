"""One question of an assignment, put to a model: the prompt, its orders, and the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

from topkapi.app.domain.grades.session import AskingGrade, GradePlan
from topkapi.app.domain.lists.session import AskingLists, ListAnswer
from topkapi.app.domain.machines import prompts
from topkapi.app.domain.machines.orders import Contradiction, Orders, decide, mirrored
from topkapi.app.domain.machines.prompts import Need, Page, Prompt
from topkapi.app.domain.machines.replies import ReplyForm, asked_for
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.machines.calls import ModelQuestion
from topkapi.app.services.machines.prompts import UsedPrompt

PAIR_ANSWERS: Mapping[str, Answer] = {"A": Answer.LEFT, "tie": Answer.TIE, "B": Answer.RIGHT}
LIST_ANSWERS: Mapping[str, ListAnswer] = {
    answer.replace("left", "A").replace("right", "B").replace("_", " "): answer
    for answer in ListAnswer
}
Ask = Callable[[ModelQuestion], str | None]


@dataclass(frozen=True, slots=True)
class Manner:
    """How questions are put: the form of replies, orders of pairs, and space for pages."""

    form: ReplyForm = ReplyForm.SCHEMA
    orders: Orders = Orders.BOTH
    contradiction: Contradiction = Contradiction.TIE
    most_chars: int = 24_000
    round: int = 0  # how often questions without an answer were put before


def answer_of(
    state: AssignmentState,
    pages: Mapping[int, Page],
    guidelines: str,
    prompt: UsedPrompt,
    manner: Manner,
    ask: Ask,
) -> SubmittedAnswer | None:
    """Return the model's answer to the open question; None if no reply could be read."""
    query = state.query
    need = Need(guidelines, query.text, query.description, query.narrative)
    question = state.state
    if isinstance(question, AskingGrade):
        return _graded(state, pages[question.document], need, prompt, manner, ask)
    if isinstance(question, AskingLists):
        sides = tuple(
            [pages[number] for number in each.documents] for each in (question.left, question.right)
        )
        filled = partial(prompts.lists_prompt, prompt.text, need)
        answer = _compared(state, prompt, manner, ask, tuple(LIST_ANSWERS), "same", filled, sides)
        if answer is None:
            return None
        names = question.left.system, question.right.system
        return SubmittedAnswer(LIST_ANSWERS[answer].value, left=names[0], right=names[1])
    assert isinstance(question, Asking)
    allowed = Plan.from_json(state.plan).answers
    values = tuple(name for name, answer in PAIR_ANSWERS.items() if answer in allowed)
    left, right = question.shown
    filled = partial(prompts.pairs_prompt, prompt.text, need)
    tie = "tie" if "tie" in values else None
    answer = _compared(state, prompt, manner, ask, values, tie, filled, (pages[left], pages[right]))
    if answer is None:
        return None
    names = state.documents[left].name, state.documents[right].name
    return SubmittedAnswer(PAIR_ANSWERS[answer].value, left=names[0], right=names[1])


def _graded(
    state: AssignmentState, page: Page, need: Need, prompt: UsedPrompt, manner: Manner, ask: Ask
) -> SubmittedAnswer | None:
    grades = GradePlan.from_json(state.plan).grades
    sentence = asked_for(manner.form, grades)
    filled = prompts.grades_prompt(prompt.text, need, page, grades, sentence, manner.most_chars)
    answer = ask(_asked(state, prompt, manner, filled, sentence, grades))
    if answer is None:
        return None
    (document,) = state.state.shown
    return SubmittedAnswer(answer, document=state.documents[document].name)


def _compared(
    state: AssignmentState,
    prompt: UsedPrompt,
    manner: Manner,
    ask: Ask,
    values: tuple[str, ...],
    tie: str | None,
    filled: Callable[[Any, Any, str, int], Prompt],
    sides: Sequence[Any],
) -> str | None:
    sentence = asked_for(manner.form, values)

    def told(swapped: bool, repeat: int) -> str | None:
        left, right = reversed(sides) if swapped else sides
        text = filled(left, right, sentence, manner.most_chars)
        return ask(
            _asked(state, prompt, manner, text, sentence, values, swapped=swapped, repeat=repeat)
        )

    return decide(
        told,
        mirrored(values),
        tie=tie,
        orders=manner.orders,
        contradiction=manner.contradiction,
        swap_first=manner.orders is Orders.BOTH and _drawn(state),
    )


def _asked(
    state: AssignmentState,
    prompt: UsedPrompt,
    manner: Manner,
    filled: Prompt,
    sentence: str,
    values: tuple[str, ...],
    *,
    swapped: bool = False,
    repeat: int = 0,
) -> ModelQuestion:
    return ModelQuestion(
        assignment_id=state.assignment_id,
        position=state.position,
        prompt_number=prompt.number,
        prompt=filled.text,
        sentence=sentence,
        values=values,
        was_cut=filled.was_cut,
        swapped=swapped,
        repeat=2 * manner.round + repeat,
    )


def _drawn(state: AssignmentState) -> bool:
    """Return which of both orders is asked first; the sides of one order are drawn already."""
    seed = f"{state.plan.get('seed', '')}/{state.assignment_id}/{state.position}"
    return bool(blake2b(seed.encode(), digest_size=1).digest()[0] & 1)
