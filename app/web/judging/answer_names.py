"""Names of the answers, as their buttons show them."""

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.pairs.answers import Answer

PAIR_ANSWERS = {
    Answer.LEFT.value: "Left is better",
    Answer.RIGHT.value: "Right is better",
    Answer.TIE.value: "Tie",
    Answer.LEFT_BAD.value: "Left is bad",
    Answer.RIGHT_BAD.value: "Right is bad",
    Answer.LEFT_UNJUDGEABLE.value: "Cannot judge left",
    Answer.RIGHT_UNJUDGEABLE.value: "Cannot judge right",
}
LIST_ANSWERS = {
    ListAnswer.LEFT_MUCH.value: "Left much better",
    ListAnswer.LEFT.value: "Left better",
    ListAnswer.SAME.value: "The same",
    ListAnswer.RIGHT.value: "Right better",
    ListAnswer.RIGHT_MUCH.value: "Right much better",
}


def answer_name(tool: Tool, answer: str) -> str:
    """Return the name of an answer, as its button shows it."""
    if tool is Tool.PAIRS:
        return PAIR_ANSWERS[answer]
    if tool is Tool.LISTS:
        return LIST_ANSWERS[answer]
    return "Cannot judge" if answer == UNJUDGEABLE else answer.capitalize()
