"""Each assessor: agreement with the rest, estimated error rate, quality of raw answers."""

import numpy as np

from topkapi.analysis.agreement import ErrorRates, PairTables, Resamples, rest_counts
from topkapi.analysis.report.schema import Figure, Person, Reason
from topkapi.analysis.report.sections.answers import (
    AnswerQuality,
    left_shares,
    self_consistencies,
    triads_by_assessor,
)
from topkapi.analysis.report.sections.figures import (
    COHEN_KAPPA,
    OVERALL,
    WITHOUT_TIES,
    figure,
    group_figures,
)
from topkapi.analysis.typing import IntArray


def people(
    tables: PairTables,
    rates: ErrorRates,
    quality: AnswerQuality,
    names: tuple[str, ...],
    drawn: Resamples,
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
        Resamples of queries with shared votes; its level is that of the intervals.
    active
        Indices of the assessors to report.
    """
    query, who, counts = rest_counts(tables)
    votes = counts.astype(float)
    of = (query, who, votes, len(names), drawn)
    overall, without_ties, kappa = (
        group_figures(measure, *of) for measure in (OVERALL, WITHOUT_TIES, COHEN_KAPPA)
    )
    pairs = np.unique(who * tables.n_queries + query) // max(tables.n_queries, 1)
    shared = np.bincount(pairs, minlength=len(names))
    consistency = self_consistencies(quality, len(names), drawn)
    left = left_shares(quality, len(names))
    triads = triads_by_assessor(quality, len(names), drawn)
    return tuple(
        Person(
            assessor=names[a],
            shared_queries=int(shared[a]),
            overall=overall[a],
            without_ties=without_ties[a],
            cohen_kappa=kappa[a],
            error_rate=_error_rate(rates, a),
            self_consistency=consistency[a],
            left=left[a],
            triads=triads[a],
        )
        for a in active.tolist()
    )


def _error_rate(rates: ErrorRates, assessor: int) -> Figure:
    ends = rates.low[assessor], rates.high[assessor]
    return figure(rates.value[assessor], reason=Reason.NOT_IDENTIFIED, ends=ends)
