"""Time efficiency of one tool, as records."""

from dataclasses import asdict

import numpy as np

from analysis.agreement import Resamples, same_assessors
from analysis.efficiency import Spread, by_assessor, course, drift, effort
from analysis.report.figures import Json, figure, numbers, why_none
from analysis.report.options import Options
from analysis.report.study import StudyData, ToolData

NOT_TIMED = "the source has no times"
NOT_FINISHED = "no session is finished"


def effort_of(study: StudyData, tool: ToolData, options: Options) -> Json:
    """Table 1 for one tool, the course of a session, and each assessor's times."""
    if tool.timings is None or tool.sessions is None or not tool.timings.session.size:
        return {"reason": NOT_TIMED}
    query, n = tool.sessions.query, len(study.queries)
    strata = same_assessors(query, tool.sessions.assessor, n)
    drawn = options.resamples(np.bincount(query, minlength=n), strata)
    found = effort(tool.timings, tool.sessions, drawn)
    factor, *ends = drift(tool.timings, tool.sessions, drawn)
    steps = course(tool.timings, tool.sessions, drawn)
    times = by_assessor(tool.timings, tool.sessions)
    return {
        "sessions": found.sessions,
        "seconds_per_judgment": _spread(found.seconds, drawn, NOT_TIMED),
        "wall_seconds_per_judgment": _spread(found.wall_seconds, drawn, NOT_TIMED),
        "judgments_per_query": _spread(found.judgments, drawn, NOT_FINISHED),
        "minutes_per_query": _spread(found.minutes, drawn, NOT_FINISHED),
        "wall_minutes_per_query": _spread(found.wall_minutes, drawn, NOT_FINISHED),
        "complexity": "O(n log k)" if (tool.sessions.k > 0).any() else "O(n)",
        "theory": figure(found.theory, reason=NOT_FINISHED),
        "proven_bound": figure(found.bound, reason="no bound is known for this tool or sorter"),
        "sessions_over_bound": found.over_bound,
        "taken_back": figure(found.taken_back, reason=NOT_TIMED),
        "factor_per_100_judgments": figure(
            factor,
            reason="no session has two timed answers",
            ends=(ends[0], ends[1]),
            no_interval=why_none(drawn),
        ),
        "course": {key: numbers(value) for key, value in asdict(steps).items()},
        "assessors": [
            {"assessor": study.assessors[a], "quantiles": numbers(quantiles)}
            for a, quantiles in sorted(times.items())
        ],
    }


def _spread(found: Spread, drawn: Resamples, reason: str) -> Json:
    why = why_none(drawn)
    mean = (found.mean_low, found.mean_high)
    median = (found.median_low, found.median_high)
    return {
        "count": found.count,
        "mean": figure(found.mean, reason=reason, ends=mean, no_interval=why),
        "median": figure(found.median, reason=reason, ends=median, no_interval=why),
        "quartiles": numbers([found.lower, found.upper]),
        "range": numbers([found.least, found.most]),
    }
