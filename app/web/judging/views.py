"""What the templates of the judging pages read."""

from collections.abc import Sequence
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

ProspectView = tuple[list[str], QuestionView]  # answers, and what is asked after any of them


@dataclass(frozen=True, slots=True)
class TermsView:
    """The chips: what is highlighted, and what was wrong with the last term typed."""

    assignment_id: int
    terms: Sequence[str]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Why an entry was not taken."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class WorkView:
    """A judging page: the question, what is known of the query, and how the person reads.

    ``stale`` says why an entry was refused; the question is the one that is open now.
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


@dataclass(frozen=True, slots=True)
class FragmentView:
    """What changes on a judging page when an entry was taken or refused, and what may come then."""

    question: QuestionView
    stale: Refused | None = None
    prospects: Sequence[ProspectView] = ()


@dataclass(frozen=True, slots=True)
class NextView:
    """The questions that may come, each with the answers that lead to it."""

    prospects: Sequence[ProspectView]


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of a result."""

    title: str
    url: str
    tied: int = 0
    grade: str | None = None
    sure: PageConfidence | None = None


@dataclass(frozen=True, slots=True)
class SureView:
    """How sure a list is: in percent, how right it should be and how often answers slip.

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
    sure: SureView | None = None


@dataclass(frozen=True, slots=True)
class GuidelinesView:
    """The guidelines of a study, as HTML."""

    assignment_id: int
    study: str
    html: str
