"""View of the agreement section: headline, first figures, matrices, measures, tests."""

from collections.abc import Sequence
from dataclasses import dataclass

from topkapi.analysis.report.page.explanations import EXPLANATIONS
from topkapi.analysis.report.page.numbers import Form
from topkapi.analysis.report.page.queries import MOST_QUERIES
from topkapi.analysis.report.schema import (
    Agreement,
    Compared,
    Figure,
    NoComparison,
    Reason,
    Report,
    ToolReport,
)

BEHIND = 6  # queries named for a cell of a matrix
NAMES = ("A", "tie", "B")
SIGNIFICANT = 0.05  # p below which a difference is a finding


@dataclass(frozen=True, slots=True)
class MeasureFigures:
    """A row of the table of measures: its explanation, its form, a figure per tool."""

    key: str
    form: Form
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class UndefinedMeasures:
    """Titles of the measures of a tool that are undefined for one reason."""

    tool: str
    titles: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ToolDifference:
    """Comparison of two tools: their agreement, and p of the permutation test over queries."""

    shares: tuple[float, float]
    p: float

    @property
    def sign(self) -> int:
        """1 if the first tool agrees more, -1 if the second does, 0 without a significant p."""
        first, second = self.shares
        return ((first > second) - (first < second)) if self.p < SIGNIFICANT else 0


@dataclass(frozen=True, slots=True)
class Headline:
    """Comparison of two tools in two sentences; one is None where it is undefined."""

    titles: tuple[str, str]
    all_pairs: ToolDifference
    without_ties: ToolDifference | None
    queries: tuple[int, int]


@dataclass(frozen=True, slots=True)
class QueryLink:
    """A query behind a cell; ``row`` is its row in the table of queries, None if not shown."""

    query: str
    text: str
    votes: int
    row: int | None


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A cell of a matrix of votes, and the queries with the most votes in it."""

    anchor: str
    first: str
    second: str
    count: int
    share: float | None
    links: tuple[QueryLink, ...]
    more: int


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The matrix of one tool; ``decided`` votes have a preference of both assessors."""

    title: str
    agreement: Agreement
    cells: tuple[tuple[MatrixCell, ...], ...]
    same: int
    strict: int
    decided: int


@dataclass(frozen=True, slots=True)
class Tests:
    """Tests of the difference between two tools, named by their titles."""

    first: str
    second: str
    rows: tuple[tuple[str, Compared], ...]
    exchanges: int
    exact: bool


@dataclass(frozen=True, slots=True)
class AgreementView:
    """Everything the section shows."""

    headline: Headline | None
    matrices: tuple[MatrixView, ...]
    measures: tuple[MeasureFigures, ...]
    undefined: tuple[UndefinedMeasures, ...]
    tests: Tests | None
    no_tests: Reason | None


def agreement_view(report: Report) -> AgreementView:
    """Build the view of the section."""
    return AgreementView(
        headline=_headline(report),
        matrices=tuple(_matrix(tool) for tool in report.tools),
        measures=_measures(report.tools),
        undefined=tuple(_undefined(report.tools)),
        tests=_tests(report),
        no_tests=_no_tests(report),
    )


def _headline(report: Report) -> Headline | None:
    found = report.comparison
    if isinstance(found, NoComparison):
        return None
    all_pairs = _finding(found.all_pairs)
    if all_pairs is None:
        return None
    one, two = (report.tool(name) for name in found.tools)
    queries = (one.agreement.queries, two.agreement.queries)
    return Headline((one.title, two.title), all_pairs, _finding(found.without_ties), queries)


def _finding(found: Compared) -> ToolDifference | None:
    first, second = (share.value for share in found.shares)
    p = found.p_queries.value
    return (
        None if first is None or second is None or p is None else ToolDifference((first, second), p)
    )


def _matrix(tool: ToolReport) -> MatrixView:
    counts = tool.agreement.matrix.counts
    times = sum(map(sum, counts)) // max(tool.agreement.votes, 1) or 1  # that each vote is counted
    strict = counts[0][0] + counts[2][2]
    return MatrixView(
        title=tool.title,
        agreement=tool.agreement,
        cells=tuple(tuple(_cell(tool, i, j) for j in range(3)) for i in range(3)),
        same=(strict + counts[1][1]) // times,
        strict=strict // times,
        decided=(strict + counts[0][2] + counts[2][0]) // times,
    )


def _cell(tool: ToolReport, i: int, j: int) -> MatrixCell:
    matrix = tool.agreement.matrix
    rows = [
        QueryLink(row.query, row.text, row.counts[i][j], at if at < MOST_QUERIES else None)
        for at, row in enumerate(tool.queries_by_disagreement)
        if row.counts[i][j]
    ]
    rows.sort(key=lambda row: -row.votes)
    return MatrixCell(
        anchor=f"behind-{tool.tool}-{i}{j}",
        first=NAMES[i],
        second=NAMES[j],
        count=matrix.counts[i][j],
        share=matrix.shares[i][j],
        links=tuple(rows[:BEHIND]),
        more=max(len(rows) - BEHIND, 0),
    )


def _measures(tools: Sequence[ToolReport]) -> tuple[MeasureFigures, ...]:
    found = [tool.agreement for tool in tools]
    return (
        MeasureFigures("overall", "percent", tuple(each.overall for each in found)),
        MeasureFigures("without_ties", "percent", tuple(each.without_ties for each in found)),
        MeasureFigures("cohen_kappa", "number", tuple(each.cohen_kappa for each in found)),
        MeasureFigures("fleiss_kappa", "number", tuple(each.fleiss_kappa for each in found)),
        MeasureFigures(
            "krippendorff_alpha", "number", tuple(each.krippendorff_alpha for each in found)
        ),
        MeasureFigures("gwet_ac1", "number", tuple(each.gwet_ac1 for each in found)),
        MeasureFigures("tau_b", "number", tuple(each.tau_b for each in found)),
        MeasureFigures("rbo", "number", tuple(each.rbo for each in found)),
    )


def _undefined(tools: Sequence[ToolReport]) -> list[UndefinedMeasures]:
    """Group the undefined measures of each tool by reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for number, tool in enumerate(tools):
        for measure in _measures(tools):
            figure = measure.figures[number]
            if figure.value is None and figure.reason is not None:
                titles = found.setdefault((tool.title, figure.reason), [])
                titles.append(EXPLANATIONS[measure.key].title)
    return [
        UndefinedMeasures(title, tuple(titles), reason) for (title, reason), titles in found.items()
    ]


def _no_tests(report: Report) -> Reason | None:
    found = report.comparison
    return found.reason if isinstance(found, NoComparison) else None


def _tests(report: Report) -> Tests | None:
    found = report.comparison
    if isinstance(found, NoComparison):
        return None
    first, second = (report.tool(name).title for name in found.tools)
    rows = (("All pairs", found.all_pairs), ("Without ties", found.without_ties))
    return Tests(first, second, rows, found.all_pairs.exchanges, found.all_pairs.exact)
