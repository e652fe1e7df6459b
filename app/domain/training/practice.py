"""Practice questions: what is shown, the answers that count as right, and an explanation."""

from collections.abc import Sequence
from dataclasses import dataclass

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.study import StudySettings

MAX_QUESTIONS = 200  # of a study
MAX_EXPLANATION = 600  # it is read in a notice over the pages
_PAGES = {
    Tool.PAIRS: "A pair has one page on each side.",
    Tool.GRADES: "A grade is about one page; name it on the left only.",
    Tool.LISTS: "Both lists have at least one page.",
}


@dataclass(frozen=True, slots=True)
class PracticeQuestion:
    """One practice question; pages are names of documents.

    T1 has one page per side, T2 one page on the left, T3 a list per side. Each of ``answers``
    counts as right.
    """

    tool: Tool
    query: str
    description: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    answers: tuple[str, ...]
    explanation: str

    def agrees(self, answer: str) -> bool:
        """Return whether ``answer`` is one of the known answers."""
        return answer in self.answers

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages shown, each once."""
        return tuple(dict.fromkeys((*self.left, *self.right)))


def allowed_answers(settings: StudySettings, tool: Tool) -> tuple[str, ...]:
    """Return the answers that the study offers with ``tool``."""
    if tool is Tool.GRADES:
        return (*(grade.name for grade in settings.grades), UNJUDGEABLE)
    if tool is Tool.LISTS:
        return tuple(answer.value for answer in ListAnswer)
    return tuple(answer.value for answer in settings.plan((), "").answers)


def check_question(question: PracticeQuestion, settings: StudySettings) -> None:
    """Raise `Invalid` for a question that the study could not ask, naming the field."""
    if question.tool not in settings.tools:
        tools = ", ".join(settings.tools)
        raise Invalid(
            f"The study does not use the tool {question.tool.value!r}; it uses {tools}.",
            field="tool",
        )
    _check_pages(question)
    for field in ("query", "explanation"):
        if not getattr(question, field).strip():
            raise Invalid(f"The {field} is empty; write one.", field=field)
    if len(question.explanation) > MAX_EXPLANATION:
        raise Invalid(
            f"The explanation is too long: use at most {MAX_EXPLANATION} characters.",
            field="explanation",
        )
    _check_answers(question.answers, allowed_answers(settings, question.tool))


def _check_pages(question: PracticeQuestion) -> None:
    counts = len(question.left), len(question.right)
    wanted = {Tool.PAIRS: counts == (1, 1), Tool.GRADES: counts == (1, 0), Tool.LISTS: all(counts)}
    if not wanted[question.tool]:
        raise Invalid(_PAGES[question.tool], field="right" if question.left else "left")
    if question.tool is Tool.PAIRS and question.left == question.right:
        raise Invalid("The pair has the same page on both sides.", field="right")
    for field, pages in (("left", question.left), ("right", question.right)):
        if len(set(pages)) != len(pages):
            raise Invalid("A page appears twice in one list.", field=field)


def _check_answers(answers: Sequence[str], allowed: Sequence[str]) -> None:
    if not answers:
        raise Invalid("The right answer is missing.", field="answer")
    for answer in answers:
        if answer not in allowed:
            known = ", ".join(allowed)
            raise Invalid(f"There is no answer {answer!r}; use one of: {known}.", field="answer")
