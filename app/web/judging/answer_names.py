"""Answers as the buttons name them."""

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.web.judging.list_results import ANSWER_NAMES as LIST_NAMES

PAIR_NAMES = {
    Answer.LEFT: "Left is better",
    Answer.RIGHT: "Right is better",
    Answer.TIE: "Tie",
    Answer.LEFT_BAD: "Left is bad",
    Answer.RIGHT_BAD: "Right is bad",
    Answer.LEFT_UNJUDGEABLE: "Cannot judge left",
    Answer.RIGHT_UNJUDGEABLE: "Cannot judge right",
}


def answer_name(tool: Tool, answer: str) -> str:
    """Return the name of an answer, as its button shows it."""
    if tool is Tool.PAIRS:
        return PAIR_NAMES[Answer(answer)]
    if tool is Tool.LISTS:
        return LIST_NAMES[ListAnswer(answer)]
    return "Cannot judge" if answer == UNJUDGEABLE else answer.capitalize()
