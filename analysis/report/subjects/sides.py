"""Quality of raw answers to pairs: self-consistency, sides, intransitive triads."""

from dataclasses import dataclass, field
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
from topkapi.analysis.agreement.tables import mean_of
from topkapi.analysis.report.figures import (
    INLINE,
    OPTIONAL,
    OVERALL,
    Counts,
    Explanation,
    Figure,
    Measure,
    Reason,
    figure,
    group_figures,
    key,
    nested,
    why_none,
)
from topkapi.analysis.report.study import Options, ToolData
from topkapi.analysis.typing import FloatArray

BROKEN = Measure(mean_of, Reason.NO_TRIPLES, "share")
PARTS = ("first third", "second third", "last third")


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Share of repeated pairs with the same answer; ``counts`` cross-tabulates the answers."""

    figure: Figure = field(metadata=INLINE)
    asked: int
    counts: Counts | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class LeftShare:
    """Share of answers for the left page, with two tests against one half."""

    figure: Figure = field(metadata=INLINE)
    left: int | None = field(default=None, metadata=OPTIONAL)
    answers: int | None = field(default=None, metadata=OPTIONAL)
    p: Figure | None = field(default=None, metadata=OPTIONAL)
    p_queries: Figure | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class IntransitiveTriads:
    """Share of compared triples of pages whose answers fit no order.

    ``cycles`` counts the strict cycles among the ``broken`` triples.
    """

    figure: Figure = field(metadata=INLINE)
    broken: int | None = field(default=None, metadata=OPTIONAL)
    cycles: int | None = field(default=None, metadata=OPTIONAL)
    triples: int = 0


@dataclass(frozen=True, slots=True)
class ConsistencyThird:
    """Self-consistency in one third of the sessions."""

    part: str
    asked: int
    figure: Figure = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class Answers:
    """Quality of the raw answers of a tool, and self-consistency over a session.

    ``given`` is False for a tool without raw answers.
    """

    self_consistency: SelfConsistency
    left: LeftShare
    triads: IntransitiveTriads = field(metadata=key("circles"))
    course: tuple[ConsistencyThird, ...]
    given: bool = field(metadata={"internal": True})


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


def left_shares(quality: AnswerQuality, n_assessors: int) -> list[LeftShare]:
    """Return the share of answers for the left page by every assessor."""
    asked = quality.judgments
    if asked is None:
        return [LeftShare(Figure(None, Reason.NO_ANSWERS))] * n_assessors
    order = np.argsort(asked.assessor, kind="stable")
    borders = np.searchsorted(asked.assessor[order], np.arange(n_assessors + 1))
    return [_left_share(asked.take(order[a:b]), quality.sides) for a, b in pairwise(borders)]


def _left_share(asked: Judgments | None, sides: bool) -> LeftShare:
    if asked is None:
        return LeftShare(Figure(None, Reason.NO_ANSWERS))
    if not sides:
        return LeftShare(Figure(None, Reason.NO_SIDES))
    bias = left_bias(asked)
    return LeftShare(
        figure(bias.share, reason=Reason.ONLY_TIES),
        left=bias.left,
        answers=bias.total,
        p=figure(bias.p, reason=Reason.ONLY_TIES),
        p_queries=figure(bias.p_queries, reason=Reason.ONE_QUERY_OF_SIDES),
    )


def intransitive_triads(quality: AnswerQuality, drawn: Resamples) -> IntransitiveTriads:
    """Return the share of triples whose answers fit no order, of all assessors."""
    triads = quality.triads
    if triads is None:
        return IntransitiveTriads(Figure(None, Reason.NO_ANSWERS))
    sums = np.zeros((drawn.weights.shape[1], 2))
    np.add.at(sums, triads.query, np.stack([triads.broken, triads.triples], axis=1))
    ends = drawn.interval(sums, BROKEN.of)
    share = figure(
        BROKEN.of(sums.sum(axis=0)),
        reason=Reason.NO_TRIPLES,
        ends=ends,
        no_interval=why_none(drawn),
    )
    counts = (int(each.sum()) for each in (triads.broken, triads.cycles, triads.triples))
    return IntransitiveTriads(share, *counts)


def triads_by_assessor(
    quality: AnswerQuality, n_assessors: int, drawn: Resamples
) -> list[IntransitiveTriads]:
    """Return the same for every assessor."""
    triads = quality.triads
    if triads is None:
        return [IntransitiveTriads(Figure(None, Reason.NO_ANSWERS))] * n_assessors
    kept = triads.triples > 0
    rows = np.stack([triads.broken, triads.triples], axis=1)[kept].astype(float)
    shares = group_figures(
        BROKEN, triads.query[kept], triads.assessor[kept], rows, n_assessors, drawn
    )
    columns = (triads.broken, triads.cycles, triads.triples)
    counts = [np.bincount(triads.assessor, column, n_assessors).astype(int) for column in columns]
    broken, cycles, triples = (each.tolist() for each in counts)
    return [
        IntransitiveTriads(share if n else Figure(None, Reason.NO_TRIPLES), b, c, n)
        for share, b, c, n in zip(shares, broken, cycles, triples, strict=True)
    ]


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
    return np.minimum(3 * again.position // length[mine], 2)


def answers_of(quality: AnswerQuality, n_queries: int, options: Options) -> Answers:
    """Compute the figures of all assessors together."""
    asked = _resampled_answers(quality, n_queries, options)
    return Answers(
        self_consistency=self_consistency(quality, asked),
        left=_left_share(quality.judgments, quality.sides),
        triads=intransitive_triads(quality, asked),
        course=consistency_course(quality),
        given=quality.judgments is not None,
    )


def _resampled_answers(quality: AnswerQuality, n_queries: int, options: Options) -> Resamples:
    """Resample the queries that have raw answers."""
    none = np.zeros(0, dtype=np.int64)
    asked = quality.judgments
    query, who = (none, none) if asked is None else (asked.query, asked.assessor)
    return options.resamples_of(query, who, n_queries)


EXPLANATIONS = {
    "again": Explanation(
        "Self-consistency",
        "Share of repeated pairs, shown with sides swapped, that got the same answer as the first "
        "time.",
    ),
    "left": Explanation(
        "Left",
        "Share of answers for the page on the left, without ties. Sides are drawn at random, so "
        "it should be near 50 %. The p by query swaps the sides of whole queries.",
    ),
    "circles": Explanation(
        "Intransitive triples",
        "Share of triples of pages, all compared with each other, whose answers fit no order; ties "
        "are allowed in the order. Strict cycles (A over B over C over A) are among them.",
    ),
}
