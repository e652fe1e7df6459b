"""Views for the templates of the judging pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.confidence import PageConfidence
from topkapi.app.domain.study import Grade
from topkapi.app.services.judging.context import JudgingContext
from topkapi.app.services.judging.live_sessions import QueryHead
from topkapi.app.services.judging.session_summary import Summary
from topkapi.app.web.judging.display_preferences import DisplayPreferences
from topkapi.app.web.judging.question_view import QuestionView

# A possible next question, with the answers that lead to it.
PossibleQuestion = tuple[list[str], QuestionView]


@dataclass(frozen=True, slots=True)
class TermsView:
    """The highlighted terms, the key that adds one, and the error in the last term entered."""

    assignment_id: int
    terms: Sequence[str]
    key: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Why an entry was refused."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class UndoneView:
    """The answer that was undone, as its button names it, and its note."""

    label: str
    note: str


@dataclass(frozen=True, slots=True)
class WorkView:
    """A judging page: the question, its query and judging context, and display preferences.

    ``stale`` is the reason why an entry was refused; the question is the one that is open now.
    ``undone`` is the answer to it that was undone.
    """

    question: QuestionView
    query: QueryHead
    context: JudgingContext
    terms: TermsView
    reading: DisplayPreferences
    user_id: int
    offered: Sequence[Answer]
    grades: Sequence[Grade]
    guidelines: str
    stale: Refused | None = None
    undone: UndoneView | None = None

    @property
    def keys(self) -> Mapping[str, str]:
        """The key of each action."""
        return self.context.keys


@dataclass(frozen=True, slots=True)
class FragmentView:
    """The parts of a judging page that change after an entry, and the possible next questions."""

    question: QuestionView
    stale: Refused | None = None
    undone: UndoneView | None = None
    possible: Sequence[PossibleQuestion] = ()


@dataclass(frozen=True, slots=True)
class NextView:
    """The possible next questions, each with the answers that lead to it."""

    possible: Sequence[PossibleQuestion]


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of a result; ``tied`` names the ranks that it is tied with."""

    title: str
    url: str
    tied: str = ""
    grade: str | None = None
    confidence: PageConfidence | None = None


@dataclass(frozen=True, slots=True)
class ConfidenceView:
    """Confidence in a list: its expected quality and the error rate of answers, in percent.

    ``near`` are pages outside the list that may belong in it.
    """

    quality: int
    errors: int
    near: Sequence[Listed]


@dataclass(frozen=True, slots=True)
class FinishedView:
    """The person's own result."""

    assignment_id: int
    position: int
    tool: Tool
    query: QueryHead
    summary: Summary
    ranking: Sequence[Listed]
    bad: Sequence[Listed]
    unjudgeable: Sequence[Listed]
    others: int
    confidence: ConfidenceView | None = None


@dataclass(frozen=True, slots=True)
class GuidelinesView:
    """The guidelines of a study, as HTML."""

    assignment_id: int
    study: str
    html: str
