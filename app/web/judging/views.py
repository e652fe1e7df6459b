"""Forms and views of the judging pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, model_validator

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import LogRefusal
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.confidence import ListConfidence, PageConfidence
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.domain.study import Grade
from topkapi.app.services.judging.context import JudgingContext
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import QueryHead
from topkapi.app.services.judging.session_summary import SessionSummary
from topkapi.app.web.common.received import Received
from topkapi.app.web.judging.question_view import QuestionView, SessionProgressView
from topkapi.app.web.pages.open_pages import DisplayPreferences
from topkapi.app.web.pages.page_links import PageLinks

_LEARNT = 10  # answers, after which a person knows what each of them means
Milliseconds = Annotated[int, Field(ge=0, le=10**12)]
Name = Annotated[str, Field(max_length=300)]


@dataclass(frozen=True, slots=True)
class PossibleQuestion:
    """A possible next question, the answers that lead to it, and the questions after it."""

    answers: Sequence[str]
    question: QuestionView
    possible: Sequence["PossibleQuestion"]


@dataclass(frozen=True, slots=True)
class TermsView:
    """The highlighted terms, the key that adds one, and the error in the last term entered."""

    assignment_id: int
    terms: Sequence[str]
    key: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class UndoneView:
    """The answer that was undone, as its button names it, and its note."""

    label: str
    note: str


@dataclass(frozen=True, slots=True)
class WorkView:
    """A judging page: the question, its query and judging context, and display preferences.

    ``stale`` is the reason why an entry was refused; the question is the one that is open now.
    ``layout`` is the template around the question; practice has one of its own.
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
    stale: LogRefusal | None = None
    undone: UndoneView | None = None
    layout: str = "judging/work.html"

    @property
    def look(self) -> str:
        """The look of the page, as classes: from the second question on the header is one line.

        After ten answers the sentences on the answers are shown on demand.
        """
        folded = self.question.progress.answered > 0 and not self.reading.pinned
        brief = self.context.answers >= _LEARNT
        one = self.question.tool == Tool.GRADES
        return " ".join(("work", *["work--one"] * one, *["folded"] * folded, *["brief"] * brief))

    @property
    def flag(self) -> "FlagFormView":
        """The form that flags the question."""
        return FlagFormView(self.question.assignment_id)

    @property
    def keys(self) -> Mapping[str, str]:
        """The key of each action."""
        return self.context.keys


@dataclass(frozen=True, slots=True)
class FragmentView:
    """The parts of a judging page that change after an entry, and the possible next questions."""

    question: QuestionView
    stale: LogRefusal | None = None
    undone: UndoneView | None = None
    possible: Sequence[PossibleQuestion] = ()


@dataclass(frozen=True, slots=True)
class NextView:
    """The possible next questions, each with the answers that lead to it."""

    possible: Sequence[PossibleQuestion]


@dataclass(frozen=True, slots=True)
class FlagFormView:
    """The form that flags a question; ``sent`` confirms a flag, ``error`` explains a refusal."""

    assignment_id: int
    reason: str = ""
    error: str | None = None
    sent: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of a result.

    ``tied`` names the ranks that it is tied with; ``source`` is the link that opens it in a frame.
    """

    id: int
    title: str
    url: str
    tied: str = ""
    grade: str | None = None
    confidence: PageConfidence | None = None
    source: str = ""
    light: bool = False


@dataclass(frozen=True, slots=True)
class ListConfidenceView:
    """Confidence in a list; ``near`` are pages outside the list that may belong in it."""

    found: ListConfidence
    near: Sequence[Listed]


@dataclass(frozen=True, slots=True)
class FinishedView:
    """The person's own result, or that of their team; who ``adjudicates`` makes no list."""

    assignment_id: int
    position: int
    tool: Tool
    query: QueryHead
    summary: SessionSummary
    progress: SessionProgressView
    ranking: Sequence[Listed]
    bad: Sequence[Listed]
    unjudgeable: Sequence[Listed]
    others: int
    confidence: ListConfidenceView | None = None
    together: bool = False
    waits: bool = False
    adjudicates: bool = False

    @property
    def pages(self) -> int:
        """Number of pages that the result is about."""
        return sum(map(len, (self.ranking, self.bad, self.unjudgeable))) + self.others


@dataclass(frozen=True, slots=True)
class GuidelinesView:
    """The guidelines of a study, as HTML."""

    assignment_id: int
    study: str
    html: str


class EntryForm(Received):
    """An answer, undo or redo, with its position and the pages asked about.

    ``shown`` has the tokens of the pages that the frames really showed, in their order, separated
    by spaces; a browser without scripts sends none.
    """

    position: Annotated[int, Field(ge=0, le=2**31 - 1)]
    left: Name | None = None
    right: Name | None = None
    document: Name | None = None
    answer: Annotated[str, Field(max_length=100)] | None = None
    step: EntryKind | None = None
    shown: Annotated[str, Field(max_length=20_000)] = ""
    active_ms: Milliseconds = 0
    note: Annotated[str, Field(max_length=10_000)] = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.answer is None) == (self.step is None) or self.step is EntryKind.ANSWER:
            raise ValueError("send an answer, or the step undo or redo")
        return self

    def to_submission(self, links: PageLinks) -> Submission:
        """Convert the form to a submission for the labeling service."""
        if self.answer is None:
            assert self.step is not None
            return Submission(self.position, self.step, active_ms=self.active_ms)
        answer = SubmittedAnswer(
            self.answer, left=self.left, right=self.right, document=self.document
        )
        return Submission(
            self.position,
            answer=answer,
            active_ms=self.active_ms,
            note=self.note.strip() or None,
            shown=tuple(map(links.document_of, self.shown.split())),
        )


class TermsForm(Received):
    """A term to highlight, or one to stop highlighting."""

    term: Annotated[str, Field(max_length=1000)] = ""
    drop: Annotated[str, Field(max_length=1000)] | None = None
