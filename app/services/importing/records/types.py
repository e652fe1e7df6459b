"""The records of a study: queries, documents, candidates, rankings, known answers."""

from dataclasses import dataclass
from typing import NamedTuple

from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.services.values import Features

HTML, PLAIN, MARKDOWN = "text/html", "text/plain", "text/markdown"


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query and the information need behind it."""

    id: str
    text: str
    description: str
    narrative: str


class DocumentRecord(NamedTuple):
    """One page with its bytes; ``path`` is the path of its file in the study, if it has one."""

    id: str
    title: str
    url: str
    media_type: str
    data: bytes
    path: str = ""


class CandidateRecord(NamedTuple):
    """A page to judge for a query."""

    query: str
    document: str
    grade: int | None = None
    features: Features | None = None


class RankingRecord(NamedTuple):
    """The list of one system for one query, best first."""

    query: str
    system: str
    documents: tuple[str, ...]


class GoldRecord(NamedTuple):
    """A pair of candidates of a query with its right answer."""

    query: str
    left: str
    right: str
    answer: str
    explanation: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The query and the two pages in the order of their names."""
        return self.query, min(self.left, self.right), max(self.left, self.right)

    @property
    def facts(self) -> tuple[str, str]:
        """The right answer as the better page, ``tie`` for none, and the explanation."""
        better = {"left": self.left, "right": self.right}.get(self.answer, self.answer)
        return better, self.explanation


class PracticeRecord(NamedTuple):
    """A practice question with its id."""

    id: str
    question: PracticeQuestion
