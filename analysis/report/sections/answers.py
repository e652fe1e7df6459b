"""Quality of raw answers to pairs: self-consistency, sides, intransitive triads."""

from dataclasses import dataclass

import numpy as np

from analysis.agreement import (
    Judgments,
    Repeated,
    Resamples,
    TriadCounts,
    agreement,
    count_triads,
    left_bias,
    repeated,
)
from analysis.agreement.ratios import ratio
from analysis.report.schema import Figure, IntransitiveTriads, LeftShare, Reason, SelfConsistency
from analysis.report.sections.figures import figure, why_none
from analysis.report.sections.pooled import nested
from analysis.report.study import ToolData
from analysis.typing import BoolArray, IntArray


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


def self_consistency(
    quality: AnswerQuality, drawn: Resamples, assessor: int | None = None
) -> SelfConsistency:
    """Return the share of repeated pairs answered alike, by one assessor or by all."""
    if quality.repeats is None:
        return SelfConsistency(Figure(None, Reason.NO_ANSWERS), asked=0)
    mine = _mine(quality.repeats.assessor, assessor)
    if not mine.any():
        return SelfConsistency(Figure(None, Reason.NO_REPEATS), asked=0)
    counts = quality.repeats.counts[mine]
    sums = np.zeros((drawn.weights.shape[1], 9))
    np.add.at(sums, quality.repeats.query[mine], counts.reshape(-1, 9))
    ends = drawn.interval(sums, lambda drawn: agreement(drawn.reshape(-1, 3, 3)))
    table = counts.sum(axis=0)
    found = figure(agreement(table), ends=ends, no_interval=why_none(drawn))
    return SelfConsistency(found, asked=int(mine.sum()), counts=nested(table))


def left_share(quality: AnswerQuality, assessor: int | None = None) -> LeftShare:
    """Return the share of answers for the left page, by one assessor or by all."""
    if quality.judgments is None:
        return LeftShare(Figure(None, Reason.NO_ANSWERS))
    if not quality.sides:
        return LeftShare(Figure(None, Reason.NO_SIDES))
    found = left_bias(quality.judgments.take(_mine(quality.judgments.assessor, assessor)))
    return LeftShare(
        figure(found.share, reason=Reason.ONLY_TIES),
        left=found.left,
        answers=found.total,
        p=figure(found.p, reason=Reason.ONLY_TIES),
        p_queries=figure(found.p_queries, reason=Reason.ONE_QUERY_OF_SIDES),
    )


def intransitive_triads(
    quality: AnswerQuality, drawn: Resamples, assessor: int | None = None
) -> IntransitiveTriads:
    """Return the share of triples whose answers fit no order, of one assessor or of all."""
    if quality.triads is None:
        return IntransitiveTriads(Figure(None, Reason.NO_ANSWERS))
    found = quality.triads
    mine = _mine(found.assessor, assessor)
    columns = [found.broken[mine], found.triples[mine], found.cycles[mine]]
    sums = np.zeros((drawn.weights.shape[1], 2))
    np.add.at(sums, found.query[mine], np.stack(columns[:2], axis=1))
    broken, triples, cycles = (int(column.sum()) for column in columns)
    ends = drawn.interval(sums, lambda drawn: ratio(drawn[:, 0], drawn[:, 1]))
    share = figure(
        ratio(broken, triples),
        reason=Reason.NO_TRIPLES,
        ends=ends,
        no_interval=why_none(drawn),
    )
    return IntransitiveTriads(share, broken, cycles, triples)


def _mine(who: IntArray, assessor: int | None) -> BoolArray:
    mine: BoolArray = np.ones(who.shape, dtype=bool) if assessor is None else who == assessor
    return mine
