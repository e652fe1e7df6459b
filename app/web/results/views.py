"""View data of exports, reports, and the results of one query with its bump chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from topkapi.app.db.queries.results.query_results import QueryText
from topkapi.app.services.results.compared_lists import ComparedLists, ListChoices, UnjudgedPages
from topkapi.app.services.results.exports import ListedExport
from topkapi.app.services.results.query_results import (
    DISPUTED,
    AnswersAbout,
    Asked,
    PersonResult,
    QueryResults,
    RankedDocument,
    SessionAnswers,
)
from topkapi.app.web.jobs.views import Computed
from topkapi.app.web.pages.open_pages import OpenPage
from topkapi.app.web.studies.visit import StudyHead

STEP, ROW, TOP, LEFT, RIGHT = 132, 30, 34, 380, 60  # pixels of the chart
WIDTH = 926  # of a card at 1024 px: fewer columns have larger steps


@dataclass(frozen=True, slots=True)
class BumpLine:
    """The way of a document through the lists: points, and a circle per list that has it."""

    title: str
    points: str
    dots: Sequence[tuple[int, int, int]]
    label_y: int | None
    disputed: bool


@dataclass(frozen=True, slots=True)
class BumpChart:
    """Lists side by side, one column each; rank 1 at the top, outside a list at the bottom."""

    width: int
    height: int
    columns: Sequence[tuple[int, str]]
    outside_y: int
    lines: Sequence[BumpLine]


@dataclass(frozen=True, slots=True)
class QueryResultsView:
    """The results of one query."""

    head: StudyHead
    results: QueryResults
    pages: Mapping[str, OpenPage]
    chart: BumpChart | None
    people: Sequence[PersonResult]
    choices: ListChoices
    compared: ComparedLists | None
    answer_names: Mapping[str, str]

    @property
    def chosen(self) -> tuple[str, str]:
        """Keys of the two lists that the form selects."""
        if self.compared is not None:
            return self.compared.first.key, self.compared.second.key
        keys = [each.key for each in (*self.choices.people, *self.choices.systems)]
        return (keys[0], keys[1]) if len(keys) > 1 else ("", "")


@dataclass(frozen=True, slots=True)
class UnjudgedView:
    """The pages of each system that nobody has judged."""

    systems: Sequence[UnjudgedPages]
    pages: Mapping[str, OpenPage]


@dataclass(frozen=True, slots=True)
class QuestionsView:
    """The questions of one session; ``address`` is that of each, without its number."""

    answers: SessionAnswers
    pages: Mapping[str, OpenPage]
    answer_names: Mapping[str, str]
    address: str


@dataclass(frozen=True, slots=True)
class AnswersAboutView:
    """The answers behind a page of a query, with titles of pages and addresses of sessions."""

    addresses: Mapping[int, str]
    document: str
    titles: Mapping[str, str]
    found: Sequence[AnswersAbout]


@dataclass(frozen=True, slots=True)
class QuestionShownView:
    """One question of a session, the pages as they were shown."""

    head: StudyHead
    query: QueryText
    address: str
    assessor: str
    asked: Asked
    of: int
    pages: Sequence[OpenPage]
    answer_names: Mapping[str, str]


def bump_chart(results: QueryResults) -> BumpChart | None:
    """Return the chart; None if fewer than two columns could be compared."""
    columns = column_names(results)
    if len(columns) < 2:
        return None
    outside = TOP + ROW * results.k
    step = max(STEP, (WIDTH - LEFT - RIGHT) // (len(columns) - 1))
    return BumpChart(
        width=LEFT + step * (len(columns) - 1) + RIGHT,
        height=outside + ROW,
        columns=[(LEFT + step * at, name) for at, name in enumerate(columns)],
        outside_y=outside,
        lines=[_line(each, step, outside) for each in results.ranked if each.is_listed],
    )


def column_names(results: QueryResults) -> list[str]:
    """Return the names of the lists: the consensus, then the assessors."""
    names = list_names(results)
    return ["Consensus", *names] if results.consensus is not None else names


def list_names(results: QueryResults) -> list[str]:
    """Return the names of the finished lists: their assessors, with rounds if needed."""
    many = len({each.assessor for each in results.finished}) < len(results.finished)
    return [
        f"{each.assessor}, round {each.round + 1}" if many else each.assessor
        for each in results.finished
    ]


def _line(ranked: RankedDocument, step: int, outside: int) -> BumpLine:
    ranks = [ranked.consensus, *ranked.ranks]
    places = [
        (LEFT + step * at, outside if rank is None else TOP + ROW * (rank - 1), rank)
        for at, rank in enumerate(ranks)
    ]
    return BumpLine(
        title=ranked.document.title,
        points=" ".join(f"{x},{y}" for x, y, _ in places),
        dots=[(x, y, rank) for x, y, rank in places if rank is not None],
        label_y=None if ranked.consensus is None else places[0][1],
        disputed=ranked.spread >= DISPUTED,
    )


@dataclass(frozen=True, slots=True)
class ExportsView:
    """The export formats of a study, and the assessor they are filtered by.

    ``chosen`` is the query string of their addresses.
    """

    head: StudyHead
    exports: Sequence[ListedExport]
    chosen: str
    assessors: Sequence[str]
    assessor: str
    pseudonyms: bool


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as markup; its parts are escaped where they are rendered.

    ``body`` is None while the report of a large study is not computed; ``computed`` is its state.
    ``confidence_at`` is when an outdated confidence was computed.
    """

    head: StudyHead
    body: str | None
    pseudonyms: bool
    confidence: bool
    empty: bool
    has_lists: bool
    machines: bool  # whether one has judged
    confidence_missing: bool = False
    confidence_at: datetime | None = None
    computed: Computed | None = None

    @property
    def chosen(self) -> str:
        """The options of this page, as a query string."""
        return self.address(self.pseudonyms, self.confidence)

    def address(self, pseudonyms: bool, confidence: bool) -> str:
        """Return the query string of a page with these options."""
        wanted = {"pseudonyms": pseudonyms, "confidence": confidence}
        return "?" + "&".join(f"{name}=true" for name, chosen in wanted.items() if chosen)


@dataclass(frozen=True, slots=True)
class ListReportView:
    """The report on lists as markup; empty while nobody has compared any."""

    head: StudyHead
    body: str
