"""Quality of raw answers to pairs: self-consistency, sides, intransitive triads."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topkapi.analysis.agreement import (
    Judgments,
    Repeated,
    Resamples,
    TriadCounts,
    agreement,
    count_triads,
    left_bias,
    repeated,
)
from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.report.schema import (
    Figure,
    IntransitiveTriads,
    LeftShare,
    Reason,
    SelfConsistency,
)
from topkapi.analysis.report.sections.figures import (
    OVERALL,
    Measure,
    figure,
    group_figures,
    why_none,
)
from topkapi.analysis.report.sections.pooled import nested
from topkapi.analysis.report.study import ToolData

BROKEN = Measure(lambda sums: ratio(sums[..., 0], sums[..., 1]), Reason.NO_TRIPLES, "share")


@dataclass(frozen=True, slots=True)
class AnswerQuality:
    """Raw answers of a tool with their repeats and triads; None where it has no raw answers."""

    judgments: Judgments | None
    sides: bool
    repeats: Repeated | None
    triads: TriadCounts | None


def answer_quality(tool: ToolData) -> AnswerQuality:
    """Find the repeats and triads among the raw answers of a tool."""
    asked = tool.judgments
    if asked is None or not len(asked):
        return AnswerQuality(None, tool.sides, None, None)
    return AnswerQuality(asked, tool.sides, repeated(asked), count_triads(asked))


def self_consistency(quality: AnswerQuality, drawn: Resamples) -> SelfConsistency:
    """Return the share of repeated pairs answered alike by all assessors."""
    if quality.repeats is None:
        return SelfConsistency(Figure(None, Reason.NO_ANSWERS), asked=0)
    table = quality.repeats.counts.sum(axis=0)
    if not table.any():
        return SelfConsistency(Figure(None, Reason.NO_REPEATS), asked=0)
    sums = np.zeros((drawn.weights.shape[1], 9))
    np.add.at(sums, quality.repeats.query, quality.repeats.counts.reshape(-1, 9))
    ends = drawn.interval(sums, lambda drawn: agreement(drawn.reshape(-1, 3, 3)))
    found = figure(agreement(table), ends=ends, no_interval=why_none(drawn))
    return SelfConsistency(found, asked=int(table.sum()), counts=nested(table))


def self_consistencies(
    quality: AnswerQuality, n_assessors: int, drawn: Resamples
) -> list[SelfConsistency]:
    """Return the same for every assessor."""
    repeats = quality.repeats
    if repeats is None:
        return [SelfConsistency(Figure(None, Reason.NO_ANSWERS), asked=0)] * n_assessors
    rows = repeats.counts.reshape(-1, 9).astype(float)
    found = group_figures(OVERALL, repeats.query, repeats.assessor, rows, n_assessors, drawn)
    tables = np.zeros((n_assessors, 3, 3), dtype=np.int64)
    np.add.at(tables, repeats.assessor, repeats.counts)
    return [
        SelfConsistency(each, asked=int(table.sum()), counts=nested(table))
        if table.any()
        else SelfConsistency(Figure(None, Reason.NO_REPEATS), asked=0)
        for each, table in zip(found, tables, strict=True)
    ]


def left_share(quality: AnswerQuality) -> LeftShare:
    """Return the share of answers for the left page by all assessors."""
    if quality.judgments is None:
        return LeftShare(Figure(None, Reason.NO_ANSWERS))
    return _left_share(quality.judgments, quality.sides)


def left_shares(quality: AnswerQuality, n_assessors: int) -> list[LeftShare]:
    """Return the same for every assessor."""
    asked = quality.judgments
    if asked is None:
        return [LeftShare(Figure(None, Reason.NO_ANSWERS))] * n_assessors
    order = np.argsort(asked.assessor, kind="stable")
    borders = np.searchsorted(asked.assessor[order], np.arange(n_assessors + 1))
    return [_left_share(asked.take(order[a:b]), quality.sides) for a, b in pairwise(borders)]


def _left_share(asked: Judgments, sides: bool) -> LeftShare:
    if not sides:
        return LeftShare(Figure(None, Reason.NO_SIDES))
    found = left_bias(asked)
    return LeftShare(
        figure(found.share, reason=Reason.ONLY_TIES),
        left=found.left,
        answers=found.total,
        p=figure(found.p, reason=Reason.ONLY_TIES),
        p_queries=figure(found.p_queries, reason=Reason.ONE_QUERY_OF_SIDES),
    )


def intransitive_triads(quality: AnswerQuality, drawn: Resamples) -> IntransitiveTriads:
    """Return the share of triples whose answers fit no order, of all assessors."""
    found = quality.triads
    if found is None:
        return IntransitiveTriads(Figure(None, Reason.NO_ANSWERS))
    sums = np.zeros((drawn.weights.shape[1], 2))
    np.add.at(sums, found.query, np.stack([found.broken, found.triples], axis=1))
    ends = drawn.interval(sums, BROKEN.of)
    share = figure(
        BROKEN.of(sums.sum(axis=0)),
        reason=Reason.NO_TRIPLES,
        ends=ends,
        no_interval=why_none(drawn),
    )
    counts = (int(each.sum()) for each in (found.broken, found.cycles, found.triples))
    return IntransitiveTriads(share, *counts)


def triads_by_assessor(
    quality: AnswerQuality, n_assessors: int, drawn: Resamples
) -> list[IntransitiveTriads]:
    """Return the same for every assessor."""
    found = quality.triads
    if found is None:
        return [IntransitiveTriads(Figure(None, Reason.NO_ANSWERS))] * n_assessors
    kept = found.triples > 0
    rows = np.stack([found.broken, found.triples], axis=1)[kept].astype(float)
    shares = group_figures(
        BROKEN, found.query[kept], found.assessor[kept], rows, n_assessors, drawn
    )
    columns = (found.broken, found.cycles, found.triples)
    counts = [np.bincount(found.assessor, column, n_assessors).astype(int) for column in columns]
    broken, cycles, triples = (each.tolist() for each in counts)
    return [
        IntransitiveTriads(share if n else Figure(None, Reason.NO_TRIPLES), b, c, n)
        for share, b, c, n in zip(shares, broken, cycles, triples, strict=True)
    ]
