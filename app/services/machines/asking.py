"""One question of an assignment, put to a model: the prompt, its orders, and the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from topkapi.app.domain.grades.session import AskingGrade, GradePlan
from topkapi.app.domain.lists.session import AskingLists, ListAnswer
from topkapi.app.domain.machines.orders import Contradiction, Orders, decide, mirrored
from topkapi.app.domain.machines.prompts import Need, Page, filled
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


@dataclass(frozen=True, slots=True)
class _Posed:
    """The open question: answers of the log by their names in a prompt, and what is shown."""

    answers: Mapping[str, str]
    tie: str | None
    sides: Sequence[Sequence[Page]]
    names: Mapping[str, str]


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
    posed = _posed(state, pages)
    values = tuple(posed.answers)
    sentence = asked_for(manner.form, values)

    def told(swapped: bool, repeat: int) -> str | None:
        put = filled(
            state.tool,
            prompt.text,
            need,
            posed.sides[::-1] if swapped else posed.sides,
            reply=sentence,
            most_chars=manner.most_chars,
            grades=values,
        )
        return ask(
            ModelQuestion(
                assignment_id=state.assignment_id,
                position=state.position,
                prompt_number=prompt.number,
                prompt=put.text,
                sentence=sentence,
                values=values,
                was_cut=put.was_cut,
                swapped=swapped,
                repeat=2 * manner.round + repeat,
            )
        )

    orders = manner.orders if len(posed.sides) == 2 else Orders.ONE
    answer = decide(
        told,
        mirrored(values),
        tie=posed.tie,
        orders=orders,
        contradiction=manner.contradiction,
        swap_first=orders is Orders.BOTH and _drawn(state),
    )
    return None if answer is None else SubmittedAnswer(posed.answers[answer], **posed.names)


def _posed(state: AssignmentState, pages: Mapping[int, Page]) -> _Posed:
    question = state.state
    if isinstance(question, AskingGrade):
        grades = GradePlan.from_json(state.plan).grades
        names = {"document": state.documents[question.document].name}
        answers: Mapping[str, str] = {grade: grade for grade in grades}
        return _Posed(answers, None, [[pages[question.document]]], names)
    if isinstance(question, AskingLists):
        lists = question.left, question.right
        names = {"left": question.left.system, "right": question.right.system}
        shown = [[pages[number] for number in each.documents] for each in lists]
        return _Posed(LIST_ANSWERS, "same", shown, names)
    assert isinstance(question, Asking)
    allowed = Plan.from_json(state.plan).answers
    answers = {name: answer for name, answer in PAIR_ANSWERS.items() if answer in allowed}
    left, right = question.shown
    names = {"left": state.documents[left].name, "right": state.documents[right].name}
    tie = "tie" if "tie" in answers else None
    return _Posed(answers, tie, [[pages[left]], [pages[right]]], names)


def _drawn(state: AssignmentState) -> bool:
    """Return which of both orders is asked first; the sides of one order are drawn already."""
    seed = f"{state.plan.get('seed', '')}/{state.assignment_id}/{state.position}"
    return bool(blake2b(seed.encode(), digest_size=1).digest()[0] & 1)
