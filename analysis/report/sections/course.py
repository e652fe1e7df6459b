"""Consistency over a session: pairs asked again early against late."""

import numpy as np

from analysis.agreement import agreement
from analysis.report.schema import ConsistencyThird, Figure, Reason, UnansweredThird
from analysis.report.sections.answers import AnswerQuality
from analysis.report.sections.figures import figure
from analysis.typing import FloatArray

PARTS = ("first third", "second third", "last third")


def consistency_course(
    quality: AnswerQuality,
) -> tuple[ConsistencyThird | UnansweredThird, ...]:
    """Return the share of repeated pairs answered alike in each third of the sessions."""
    if quality.repeats is None:
        return tuple(UnansweredThird(part, Figure(None, Reason.NO_REPEATS)) for part in PARTS)
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
