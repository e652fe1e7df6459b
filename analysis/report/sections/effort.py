"""Time efficiency of one tool."""

import numpy as np

from topkapi.analysis.agreement import Resamples, agreement, same_assessors
from topkapi.analysis.efficiency import MeasuredSpread, Sessions, by_assessor, course, drift, effort
from topkapi.analysis.report.schema import (
    AssessorTimes,
    ConsistencyThird,
    Effort,
    Figure,
    NoEffort,
    Reason,
    Spread,
)
from topkapi.analysis.report.sections.answers import AnswerQuality
from topkapi.analysis.report.sections.figures import figure, numbers, why_none
from topkapi.analysis.report.study import Options, StudyData, ToolData
from topkapi.analysis.typing import FloatArray, IntArray


def effort_of(study: StudyData, tool: ToolData, options: Options) -> Effort | NoEffort:
    """Compute Table 1 for one tool, the course of a session, and the times of each assessor."""
    if tool.timings is None or tool.sessions is None or not tool.timings.session.size:
        return NoEffort(Reason.NOT_TIMED)
    drawn = _resampled(study, tool.sessions, np.unique(tool.timings.session), options)
    done = _resampled(study, tool.sessions, np.flatnonzero(tool.sessions.finished), options)
    found = effort(tool.timings, tool.sessions, drawn, done)
    factor, *ends = drift(tool.timings, tool.sessions, drawn)
    times = by_assessor(tool.timings, tool.sessions)
    return Effort(
        sessions=found.sessions,
        seconds_per_judgment=_spread(found.seconds, drawn, Reason.NOT_TIMED),
        wall_seconds_per_judgment=_spread(found.wall_seconds, drawn, Reason.NOT_TIMED),
        judgments_per_query=_spread(found.judgments, done, Reason.NOT_FINISHED),
        minutes_per_query=_spread(found.minutes, done, Reason.NOT_FINISHED),
        wall_minutes_per_query=_spread(found.wall_minutes, done, Reason.NOT_FINISHED),
        complexity="O(n log k)" if (tool.sessions.k > 0).any() else "O(n)",
        theory=figure(found.theory, reason=Reason.NOT_FINISHED),
        proven_bound=figure(found.bound, reason=Reason.NO_BOUND),
        sessions_over_bound=found.over_bound,
        taken_back=figure(found.taken_back, reason=Reason.NOT_TIMED),
        factor_per_100_judgments=figure(
            factor,
            reason=Reason.NO_TWO_TIMED,
            ends=(ends[0], ends[1]),
            no_interval=why_none(drawn),
        ),
        course=course(tool.timings, tool.sessions, drawn),
        assessors=tuple(
            AssessorTimes(study.assessors[a], _floats(quantiles))
            for a, quantiles in sorted(times.items())
        ),
    )


def _resampled(study: StudyData, sessions: Sessions, rows: IntArray, options: Options) -> Resamples:
    """Resample the queries of some sessions; those of others say nothing about these."""
    query, n = sessions.query[rows], len(study.queries)
    strata = same_assessors(query, sessions.assessor[rows], n)
    return options.resamples(np.bincount(query, minlength=n), strata)


def _floats(values: FloatArray | IntArray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _spread(found: MeasuredSpread, drawn: Resamples, reason: Reason) -> Spread:
    why = why_none(drawn)
    mean = (found.mean_low, found.mean_high)
    median = (found.median_low, found.median_high)
    return Spread(
        count=found.count,
        mean=figure(found.mean, reason=reason, ends=mean, no_interval=why, flat=True),
        median=figure(found.median, reason=reason, ends=median, no_interval=why, flat=True),
        quartiles=numbers([found.lower, found.upper]),
        range=numbers([found.least, found.most]),
    )


PARTS = ("first third", "second third", "last third")


def consistency_course(
    quality: AnswerQuality,
) -> tuple[ConsistencyThird, ...]:
    """Return the share of repeated pairs answered alike in each third of the sessions."""
    if quality.repeats is None:
        return tuple(ConsistencyThird(part, 0, Figure(None, Reason.NO_REPEATS)) for part in PARTS)
    third = _thirds(quality)
    counts = [quality.repeats.counts[third == part] for part in range(3)]
    return tuple(
        ConsistencyThird(
            name, len(part), figure(agreement(part.sum(axis=0)), reason=Reason.NO_REPEATS)
        )
        for name, part in zip(PARTS, counts, strict=True)
    )


def _thirds(quality: AnswerQuality) -> FloatArray:
    """Return the third of its session in which each repeat was answered: (r,) of 0, 1, 2."""
    assert quality.repeats is not None
    assert quality.judgments is not None
    asked, again = quality.judgments, quality.repeats
    width = int(asked.query.max(initial=0)) + 1
    keys, session = np.unique(asked.assessor * width + asked.query, return_inverse=True)
    length = np.zeros(keys.size)
    np.maximum.at(length, session, asked.position + 1)
    mine = np.searchsorted(keys, again.assessor * width + again.query)
    third: FloatArray = np.minimum(3 * again.position // length[mine], 2)
    return third
