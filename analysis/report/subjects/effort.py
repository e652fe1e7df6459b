"""Time efficiency of one tool: Table 1, times by assessor, the course of a session."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from topkapi.analysis.agreement import Resamples
from topkapi.analysis.efficiency import (
    Course,
    MeasuredSpread,
    Sessions,
    by_assessor,
    course,
    drift,
    effort,
)
from topkapi.analysis.report.figures import (
    Explanation,
    Figure,
    Numbers,
    Reason,
    figure,
    numbers,
    why_none,
)
from topkapi.analysis.report.study import Options, StudyData, ToolData
from topkapi.analysis.report.svg import boxes, courses
from topkapi.analysis.typing import IntArray

MOST_BOXES = 16


@dataclass(frozen=True, slots=True)
class NoEffort:
    """Stand-in for the effort of a tool without times."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, median, quartiles and range of some values."""

    count: int
    mean: Figure
    median: Figure
    quartiles: Numbers
    range: Numbers


@dataclass(frozen=True, slots=True)
class AssessorTimes:
    """Quantiles .05, .25, .5, .75 and .95 of an assessor's seconds per judgment."""

    assessor: str
    quantiles: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """Time per judgment and per query, beside theory and the proven bound of the sorter."""

    sessions: int
    seconds_per_judgment: Spread
    wall_seconds_per_judgment: Spread
    judgments_per_query: Spread
    minutes_per_query: Spread
    wall_minutes_per_query: Spread
    complexity: str
    theory: Figure
    proven_bound: Figure
    sessions_over_bound: int
    taken_back: Figure
    factor_per_100_judgments: Figure
    course: Course
    assessors: tuple[AssessorTimes, ...]


def effort_of(study: StudyData, tool: ToolData, options: Options) -> Effort | NoEffort:
    """Compute Table 1 for one tool, the course of a session, and the times of each assessor."""
    if tool.timings is None or tool.sessions is None or not tool.timings.session.size:
        return NoEffort(Reason.NOT_TIMED)
    drawn = _resampled(study, tool.sessions, np.unique(tool.timings.session), options)
    done = _resampled(study, tool.sessions, np.flatnonzero(tool.sessions.finished), options)
    measured = effort(tool.timings, tool.sessions, drawn, done)
    factor, *ends = drift(tool.timings, tool.sessions, drawn)
    times = by_assessor(tool.timings, tool.sessions)
    return Effort(
        sessions=measured.sessions,
        seconds_per_judgment=_spread(measured.seconds, drawn, Reason.NOT_TIMED),
        wall_seconds_per_judgment=_spread(measured.wall_seconds, drawn, Reason.NOT_TIMED),
        judgments_per_query=_spread(measured.judgments, done, Reason.NOT_FINISHED),
        minutes_per_query=_spread(measured.minutes, done, Reason.NOT_FINISHED),
        wall_minutes_per_query=_spread(measured.wall_minutes, done, Reason.NOT_FINISHED),
        complexity="O(n log k)" if (tool.sessions.k > 0).any() else "O(n)",
        theory=figure(measured.theory, reason=Reason.NOT_FINISHED),
        proven_bound=figure(measured.bound, reason=Reason.NO_BOUND),
        sessions_over_bound=measured.over_bound,
        taken_back=figure(measured.taken_back, reason=Reason.NOT_TIMED),
        factor_per_100_judgments=figure(
            factor,
            reason=Reason.NO_TWO_TIMED,
            ends=(ends[0], ends[1]),
            no_interval=why_none(drawn),
        ),
        course=course(tool.timings, tool.sessions, drawn),
        assessors=tuple(
            AssessorTimes(study.assessors[a], tuple(quantiles.tolist()))
            for a, quantiles in sorted(times.items())
        ),
    )


def _resampled(study: StudyData, sessions: Sessions, rows: IntArray, options: Options) -> Resamples:
    """Resample the queries of some sessions; those of others say nothing about these."""
    return options.resamples_of(sessions.query[rows], sessions.assessor[rows], len(study.queries))


def _spread(measured: MeasuredSpread, drawn: Resamples, reason: Reason) -> Spread:
    why = why_none(drawn)
    mean = (measured.mean_low, measured.mean_high)
    median = (measured.median_low, measured.median_high)
    return Spread(
        count=measured.count,
        mean=figure(measured.mean, reason=reason, ends=mean, no_interval=why, flat=True),
        median=figure(measured.median, reason=reason, ends=median, no_interval=why, flat=True),
        quartiles=numbers([measured.lower, measured.upper]),
        range=numbers([measured.least, measured.most]),
    )


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


def effort_view(found: Iterable[tuple[str, Effort | NoEffort]]) -> EffortView:
    """Build the view of the section from the titles and efforts of tools."""
    tools = tuple(TimedTool(title, each) for title, each in found if isinstance(each, Effort))
    names = sorted({row.assessor for tool in tools for row in tool.effort.assessors})
    times = [{row.assessor: row.quantiles for row in tool.effort.assessors} for tool in tools[:2]]
    return EffortView(
        tools=tools,
        rows=_rows([tool.effort for tool in tools]),
        assessors=len(names),
        most=MOST_BOXES,
        boxes=boxes(times, names[:MOST_BOXES]),
        courses=courses([(tool.title, tool.effort.course) for tool in tools[:2]]),
    )


def _rows(efforts: list[Effort]) -> tuple[EffortRow, ...]:
    return (
        _row("Seconds per judgment", [each.seconds_per_judgment for each in efforts]),
        _row("Seconds per judgment, wall", [each.wall_seconds_per_judgment for each in efforts]),
        _row("Judgments per query", [each.judgments_per_query for each in efforts]),
        _row("Minutes per query", [each.minutes_per_query for each in efforts]),
        _row("Minutes per query, wall", [each.wall_minutes_per_query for each in efforts]),
    )


def _row(name: str, spreads: list[Spread]) -> EffortRow:
    means = [spread.mean.value for spread in spreads[:2]]
    ratio = means[0] / means[1] if len(means) == 2 and means[0] and means[1] else None
    return EffortRow(name, tuple(spreads), ratio)


EXPLANATIONS = {
    "effort": Explanation(
        "Effort",
        "Seconds are of effective answers. Judgments and minutes per query are of finished "
        "sessions; minutes include undone answers. Intervals resample whole queries.",
    ),
}
