"""View of the sections about assessors: raw answers, agreement with the rest, pairs."""

from dataclasses import dataclass

from markupsafe import Markup

from topkapi.analysis.report.page.svg import forest, histogram
from topkapi.analysis.report.schema import Answers, Figure, PairRow, Person, Report, ToolReport
from topkapi.analysis.resampling import LEAST_QUERIES

MOST_IN_GRID = 16  # assessors shown as a grid of pairs; above, the pairs that agree least
MOST_PAIRS = 20
PAGE = 100  # assessors in one part of the table; further parts open on demand


@dataclass(frozen=True, slots=True)
class AnswersView:
    """Quality of the raw answers of one tool."""

    tool: str
    title: str
    answers: Answers


@dataclass(frozen=True, slots=True)
class AssessorView:
    """An assessor, and the share of preferences that the consensus reverses, if any."""

    person: Person
    departure: Figure | None


@dataclass(frozen=True, slots=True)
class PeoplePart:
    """Some rows of the table of assessors: ranks from ``start`` to ``end``."""

    start: int
    end: int
    people: tuple[AssessorView, ...]


@dataclass(frozen=True, slots=True)
class PairGrid:
    """Agreement of every two assessors; None where two share nothing."""

    names: tuple[str, ...]
    rows: tuple[tuple[PairRow | None, ...], ...]


@dataclass(frozen=True, slots=True)
class ToolPeople:
    """Assessors of one tool, in ``parts`` of the table; ``histograms`` where there are several.

    At most one of ``grid`` and ``least`` is filled; ``pairs`` is the number of all pairs.
    """

    tool: str
    title: str
    answers_given: bool
    parts: tuple[PeoplePart, ...]
    count: int
    histograms: tuple[Markup, ...]
    plot: Markup | None
    grid: PairGrid | None
    least: tuple[PairRow, ...]
    crowded: bool
    pairs: int
    support: int


@dataclass(frozen=True, slots=True)
class AssessorsView:
    """Everything the sections show."""

    answers: tuple[AnswersView, ...]
    tools: tuple[ToolPeople, ...]


def people_view(report: Report) -> AssessorsView:
    """Build the view of the sections."""
    return AssessorsView(
        answers=tuple(
            AnswersView(tool.tool, tool.title, tool.answers)
            for tool in report.tools
            if tool.answers.given
        ),
        tools=tuple(_tool(tool) for tool in report.tools),
    )


def _tool(tool: ToolReport) -> ToolPeople:
    people = sorted(tool.people, key=_by_error_rate)
    departures = {row.assessor: row.mean for row in tool.consensus.departures}
    estimated = [row for row in people if row.error_rate.value is not None]
    names = tuple(sorted({name for row in tool.pairs for name in (row.first, row.second)}))
    fits = len(names) <= MOST_IN_GRID
    views = [AssessorView(row, departures.get(row.assessor)) for row in people]
    return ToolPeople(
        tool=tool.tool,
        title=tool.title,
        answers_given=tool.answers.given,
        parts=_parts(views),
        count=len(views),
        histograms=_histograms(people) if len(people) > PAGE else (),
        plot=forest(estimated[:MOST_IN_GRID]) if estimated and len(people) <= PAGE else None,
        grid=_grid(names, tool.pairs) if fits and len(names) > 2 else None,
        least=() if fits else _least(tool.pairs),
        crowded=not fits,
        pairs=tool.agreement.assessor_pairs,
        support=LEAST_QUERIES,
    )


def _parts(people: list[AssessorView]) -> tuple[PeoplePart, ...]:
    starts = range(0, len(people), PAGE)
    return tuple(
        PeoplePart(start + 1, min(start + PAGE, len(people)), tuple(people[start : start + PAGE]))
        for start in starts
    )


def _histograms(people: list[Person]) -> tuple[Markup, ...]:
    """Draw how agreement with the rest and error rates are distributed."""
    columns = (
        ("Agreement with the rest", [row.overall.value for row in people]),
        ("Estimated error rate", [row.error_rate.value for row in people]),
    )
    return tuple(
        histogram(title, [value for value in values if value is not None])
        for title, values in columns
        if any(value is not None for value in values)
    )


def _by_error_rate(row: Person) -> tuple[bool, float, float]:
    rate, agreement = row.error_rate.value, row.overall.value
    return rate is None, rate or 0.0, -(agreement or 0.0)


def _grid(names: tuple[str, ...], pairs: tuple[PairRow, ...]) -> PairGrid:
    found = {
        frozenset((row.first, row.second)): row for row in pairs if row.overall.value is not None
    }
    rows = (tuple(found.get(frozenset((a, b))) for b in names) for a in names)
    return PairGrid(names, tuple(rows))


def _least(pairs: tuple[PairRow, ...]) -> tuple[PairRow, ...]:
    """Return the pairs of assessors that agree least, of those who share enough queries."""
    known = [
        (row.overall.value, row)
        for row in pairs
        if row.overall.value is not None and row.queries >= LEAST_QUERIES
    ]
    return tuple(row for _, row in sorted(known, key=lambda each: each[0])[:MOST_PAIRS])
