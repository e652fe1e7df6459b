"""Time efficiency of labeling tools: Table 1 of [NGLC12]_, and the course of a session."""

from topkapi.analysis.efficiency.drift import Course, by_assessor, course, drift
from topkapi.analysis.efficiency.table import (
    MeasuredEffort,
    MeasuredSpread,
    effort,
    resampled_medians,
    spread,
)
from topkapi.analysis.efficiency.timings import Sessions, Timings

__all__ = [
    "Course",
    "MeasuredEffort",
    "MeasuredSpread",
    "Sessions",
    "Timings",
    "by_assessor",
    "course",
    "drift",
    "effort",
    "resampled_medians",
    "spread",
]
