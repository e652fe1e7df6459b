"""Each assessor: agreement with the rest, estimated error rate, quality of raw answers."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement import (
    ErrorRates,
    PairTables,
    Resamples,
    grouped_sums,
    rest_counts,
)
from topkapi.analysis.report.schema import Figure, Person, Reason
from topkapi.analysis.report.sections.answers import (
    AnswerQuality,
    intransitive_triads,
    left_share,
    self_consistency,
)
from topkapi.analysis.report.sections.figures import (
    COHEN_KAPPA,
    OVERALL,
    UNDEFINED,
    WITHOUT_TIES,
    Measure,
    figure,
    why_none,
)
from topkapi.analysis.typing import FloatArray, IntArray


def people(
    tables: PairTables,
    rates: ErrorRates,
    quality: AnswerQuality,
    names: tuple[str, ...],
    drawn: Resamples,
    asked: Resamples,
    active: IntArray,
) -> tuple[Person, ...]:
    """Return one row for each assessor in ``active``.

    Parameters
    ----------
    tables
        Votes of every two assessors.
    rates
        Estimated error rates of all assessors.
    quality
        Raw answers, their repeats and triads.
    names
        Names of all assessors.
    drawn
        Resamples of queries with shared votes.
    asked
        Resamples of queries with raw answers.
    active
        Indices of the assessors to report.
    """
    rest = _rest(tables, drawn)
    return tuple(
        Person(
            assessor=names[a],
            shared_queries=int(rest.shared[a]),
            overall=_with_rest(rest, OVERALL, a, drawn),
            without_ties=_with_rest(rest, WITHOUT_TIES, a, drawn),
            cohen_kappa=_with_rest(rest, COHEN_KAPPA, a, drawn),
            error_rate=_error_rate(rates, a),
            self_consistency=self_consistency(quality, asked, a),
            left=left_share(quality, a),
            triads=intransitive_triads(quality, asked, a),
        )
        for a in active.tolist()
    )


@dataclass(frozen=True, slots=True)
class _Rest:
    """Votes of each assessor against those of the rest.

    ``sums`` (n_assessors, 9), the same in every resample (draws, n_assessors, 9), and the number
    of ``shared`` queries (n_assessors,).
    """

    sums: FloatArray
    draws: FloatArray
    shared: IntArray


def _rest(tables: PairTables, drawn: Resamples) -> _Rest:
    query, who, counts = rest_counts(tables)
    sums = np.zeros((tables.n_assessors, 9))
    np.add.at(sums, who, counts)
    draws = grouped_sums(drawn.weights, query, who, counts.astype(float), tables.n_assessors)
    shared = np.zeros((tables.n_assessors, tables.n_queries), dtype=bool)
    shared[who, query] = True
    return _Rest(sums, draws, shared.sum(axis=1))


def _with_rest(rest: _Rest, measure: Measure, assessor: int, drawn: Resamples) -> Figure:
    sums, shared = rest.sums[assessor], int(rest.shared[assessor])
    several = shared > 1  # one query is always drawn the same
    ends = drawn.ends(measure.of(rest.draws[:, assessor])) if several else UNDEFINED
    reason = measure.reason if sums.any() else Reason.NOTHING_SHARED
    return figure(measure.of(sums), reason=reason, ends=ends, no_interval=why_none(drawn, shared))


def _error_rate(rates: ErrorRates, assessor: int) -> Figure:
    ends = rates.low[assessor], rates.high[assessor]
    return figure(rates.value[assessor], reason=Reason.NOT_IDENTIFIED, ends=ends)
