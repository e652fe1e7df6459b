"""Consistency over a session: pairs asked again early against late."""

import numpy as np

from topkapi.analysis.agreement import agreement
from topkapi.analysis.report.schema import ConsistencyThird, Figure, Reason
from topkapi.analysis.report.sections.answers import AnswerQuality
from topkapi.analysis.report.sections.figures import figure
from topkapi.analysis.typing import FloatArray

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
