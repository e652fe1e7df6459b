"""Request and response bodies of the judging API; clients rely on the names of the fields."""

from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.session import ListComparison
from topkapi.app.domain.pairs.confidence import Expected
from topkapi.app.services.heads import StudyName
from topkapi.app.services.importing.records.types import QueryRecord
from topkapi.app.services.judging.queue import WorkState
from topkapi.app.web.common.received import Body

Name = Annotated[str, Field(max_length=300)]
Position = Annotated[
    int, Field(ge=0, le=2**31 - 1, description="Position in the log that this entry is meant for.")
]
Side = TypeVar("Side")


class DocumentOut(BaseModel):
    """A page as plain text."""

    id: str
    title: str
    url: str
    text: str


class GradeQuestion(BaseModel):
    """T2: the grade of one page."""

    document: DocumentOut


class ListOut(BaseModel):
    """A ranking, best page first; ``id`` names it in this assignment and hides its system."""

    id: str
    documents: list[DocumentOut]


class Sides(BaseModel, Generic[Side]):
    """Which of two pages (T1), or of two rankings (T3), is better."""

    left: Side
    right: Side


class ProgressOut(BaseModel):
    """Effective answers, expected number of remaining questions, and its 90 % interval.

    ``quality`` is the expected quality of the list, for sessions that stop at a quality.
    """

    model_config = ConfigDict(from_attributes=True)

    answered: int
    expected_left: int
    low: int
    high: int
    quality: float | None = None


class PageConfidenceOut(BaseModel):
    """Probability that a page is in the top k, and the 90 % interval of its rank."""

    document: str
    in_top: float
    low: int
    high: int


class ConfidenceOut(BaseModel):
    """Expected quality of the list, estimated error rate of the assessor, and each page.

    ``quality`` is the expected kappa-NDCG, which ``kappa_ndcg`` repeats with its interval;
    ``overlap`` is the expected share of the true top k in the list. Lists that version 1 of
    `robust` concluded have no intervals.
    """

    quality: float
    error_rate: float
    kappa_ndcg: Expected | None = None
    overlap: Expected | None = None
    pages: list[PageConfidenceOut]


class PairResult(BaseModel):
    """Top-k ground truth: the list, its ties, the rest, and the pages removed by the assessor.

    ``confidence`` is set if the sorter is `robust`; for others see the export `confidence.jsonl`.
    """

    ranking: list[str]
    groups: list[list[str]]
    rest: list[str]
    bad: list[str]
    unjudgeable: list[str]
    confidence: ConfidenceOut | None = None


class GradeResult(BaseModel):
    """The grade of every page, or `unjudgeable` if the assessor could not judge it."""

    grades: dict[str, str]


class ListResult(BaseModel):
    """Every answer about two rankings, in the order of the questions."""

    comparisons: list[ListComparison[str]]


class ProblemOut(BaseModel):
    """Why a submission was refused."""

    code: str
    detail: str


class AssignmentOut(BaseModel):
    """State of an assignment: the open question, or the result.

    A member of a team ``waits_for_team`` while the others have the last questions: there is
    neither. Ask again later.
    """

    id: int
    state: Literal["asking", "waits_for_team", "finished"]
    tool: Tool
    study: StudyName
    query: QueryRecord
    position: int
    question: Sides[DocumentOut] | GradeQuestion | Sides[ListOut] | None
    answers: list[str]
    progress: ProgressOut
    result: PairResult | GradeResult | ListResult | None
    can_undo: bool
    can_redo: bool
    active_ms: int
    problem: ProblemOut | None = None


class AssignmentSummary(BaseModel):
    """One of my assignments, without its question."""

    id: int
    state: WorkState
    tool: Tool
    study: StudyName
    query: QueryRecord
    round: int
    round_number: int
    answered: int
    expected_left: int | None
    active_ms: int


class JudgmentIn(Body):
    """An answer, with the pages (or the systems of two lists) as they were shown."""

    position: Position
    left: Name | None = None
    right: Name | None = None
    document: Name | None = None
    answer: Annotated[str, Field(max_length=100)]
    active_ms: Annotated[int, Field(ge=0, le=10**12)] = 0
    note: Annotated[str, Field(max_length=10_000)] | None = None


class StepIn(Body):
    """Undo or redo at a position of the log."""

    position: Position
    active_ms: Annotated[int, Field(ge=0, le=10**12)] = 0
