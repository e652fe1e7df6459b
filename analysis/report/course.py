"""Consistency over a session: pairs asked again early against late."""

import numpy as np

from analysis.agreement import agreement
from analysis.report.figures import Json, figure
from analysis.report.people import NO_REPEATS, Conduct
from analysis.typing import FloatArray

PARTS = ("first third", "second third", "last third")


def consistency_course(seen: Conduct) -> list[Json]:
    """Share of repeated pairs answered alike in each third of the sessions."""
    if seen.again is None or seen.judgments is None:
        return [{"part": part, "value": None, "reason": NO_REPEATS, "asked": 0} for part in PARTS]
    third = _thirds(seen)
    counts = [seen.again.counts[third == part] for part in range(3)]
    return [
        {"part": name, "asked": len(part)} | figure(agreement(part.sum(axis=0)), reason=NO_REPEATS)
        for name, part in zip(PARTS, counts, strict=True)
    ]


def _thirds(seen: Conduct) -> FloatArray:
    """The third of its session in which each repeat was answered: (r,) of 0, 1, 2."""
    assert seen.again is not None
    assert seen.judgments is not None
    asked, again = seen.judgments, seen.again
    width = int(asked.query.max(initial=0)) + 1
    keys, session = np.unique(asked.assessor * width + asked.query, return_inverse=True)
    length = np.zeros(keys.size)
    np.maximum.at(length, session, asked.position + 1)
    mine = np.searchsorted(keys, again.assessor * width + again.query)
    third: FloatArray = np.minimum(3 * again.position // length[mine], 2)
    return third
