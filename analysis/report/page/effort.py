"""View of the section about time: Table 1, times by assessor, the course of a session."""

from dataclasses import dataclass

from markupsafe import Markup

from topkapi.analysis.report.page.svg import boxes, courses
from topkapi.analysis.report.schema import (
    ConfidenceRow,
    Effort,
    MeanConfidence,
    MemberErrors,
    Report,
    Spread,
)

MOST_BOXES = 16


@dataclass(frozen=True, slots=True)
class TimedTool:
    """Title and effort of a tool with times."""

    title: str
    effort: Effort


@dataclass(frozen=True, slots=True)
class EffortRow:
    """A row of the table: a value of each tool, and the ratio of the first two means."""

    name: str
    spreads: tuple[Spread, ...]
    ratio: float | None


@dataclass(frozen=True, slots=True)
class EffortView:
    """Everything the section shows; no tools where the source has no times."""

    tools: tuple[TimedTool, ...]
    rows: tuple[EffortRow, ...]
    assessors: int
    most: int
    boxes: Markup
    courses: Markup


def effort_view(report: Report) -> EffortView:
    """Build the view of the section."""
    tools = tuple(
        TimedTool(tool.title, tool.effort)
        for tool in report.tools
        if isinstance(tool.effort, Effort)
    )
    names = sorted({row.assessor for tool in tools for row in tool.effort.assessors})
    shown = [(tool.title, tool.effort) for tool in tools]
    return EffortView(
        tools=tools,
        rows=_rows([tool.effort for tool in tools]),
        assessors=len(names),
        most=MOST_BOXES,
        boxes=boxes([effort for _, effort in shown], names[:MOST_BOXES]),
        courses=courses(shown),
    )


def _rows(found: list[Effort]) -> tuple[EffortRow, ...]:
    return (
        _row("Seconds per judgment", [each.seconds_per_judgment for each in found]),
        _row("Seconds per judgment, wall", [each.wall_seconds_per_judgment for each in found]),
        _row("Judgments per query", [each.judgments_per_query for each in found]),
        _row("Minutes per query", [each.minutes_per_query for each in found]),
        _row("Minutes per query, wall", [each.wall_minutes_per_query for each in found]),
    )


def _row(name: str, spreads: list[Spread]) -> EffortRow:
    means = [spread.mean.value for spread in spreads[:2]]
    ratio = means[0] / means[1] if len(means) == 2 and means[0] and means[1] else None
    return EffortRow(name, tuple(spreads), ratio)


MOST_LISTS = 200


@dataclass(frozen=True, slots=True)
class ConfidenceView:
    """Confidence by assessor and by list, least confident first; ``count`` is of all lists.

    ``members`` are the people who judged in teams.
    """

    people: tuple[MeanConfidence, ...]
    lists: tuple[ConfidenceRow, ...]
    count: int
    members: tuple[MemberErrors, ...] = ()


def confidence_view(report: Report) -> ConfidenceView | None:
    """Build the view of the section; None where the report has none."""
    if report.confidence is None:
        return None
    rows = sorted(report.confidence.lists, key=lambda row: row.expected_quality)
    members = report.confidence.members or ()
    return ConfidenceView(report.confidence.people, tuple(rows[:MOST_LISTS]), len(rows), members)
