"""Agreement of one tool, pooled over assessors: matrix, shares, coefficients, list similarity."""

import numpy as np

from topkapi.analysis.agreement import (
    ListSimilarity,
    PairTables,
    RatingSums,
    Resamples,
    agreement_matrix,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    tau_b,
)
from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.report.schema import Agreement, Figure, Matrix, Reason
from topkapi.analysis.report.sections.figures import (
    COHEN_KAPPA,
    OVERALL,
    WITHOUT_TIES,
    Measure,
    measured,
    numbers,
)
from topkapi.analysis.typing import FloatArray, IntArray

LEAST_PAIRS = 3  # page pairs, as of three pages: fewer are no ranking to correlate
FLEISS_KAPPA = Measure(lambda sums: fleiss_kappa(RatingSums(sums)), Reason.ONE_CATEGORY)
ALPHA = Measure(lambda sums: krippendorff_alpha(RatingSums(sums)), Reason.ONE_CATEGORY)
GWET_AC1 = Measure(lambda sums: gwet_ac1(RatingSums(sums)), Reason.ONE_CATEGORY)


def matrix(counts: IntArray) -> Matrix:
    """Return the counts of a table with the shares of its rows."""
    shares = tuple(numbers(row) for row in agreement_matrix(counts))
    return Matrix(nested(counts), shares)


def nested(counts: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return a table of counts as tuples of whole numbers."""
    return tuple(tuple(row) for row in counts.tolist())


def pooled(
    tables: PairTables, ratings: RatingSums, lists: ListSimilarity | None, drawn: Resamples
) -> Agreement:
    """Sum agreement over all pairs of assessors who share queries."""
    counts = tables.in_both_orders()
    by_query = counts.reshape(-1, 9).astype(float)
    table = tables.pooled(symmetric=True)
    tau, rbo = _similarity(tables, lists, drawn)
    return Agreement(
        matrix=matrix(counts.sum(axis=0)),
        matrix_both_orders=matrix(table + table[::-1, ::-1]),
        votes=int(tables.counts.sum()),
        queries=int(np.unique(tables.query).size),
        assessor_pairs=int(tables.pairs()[0].size),
        overall=measured(OVERALL, by_query, drawn),
        without_ties=measured(WITHOUT_TIES, by_query, drawn),
        cohen_kappa=measured(COHEN_KAPPA, by_query, drawn),
        fleiss_kappa=measured(FLEISS_KAPPA, ratings.values, drawn),
        krippendorff_alpha=measured(ALPHA, ratings.values, drawn),
        gwet_ac1=measured(GWET_AC1, ratings.values, drawn),
        tau_b=tau,
        rbo=rbo,
    )


def _similarity(
    tables: PairTables, lists: ListSimilarity | None, drawn: Resamples
) -> tuple[Figure, Figure]:
    """Return mean tau-b and rank-biased overlap over queries and pairs of assessors."""
    sums = mean_sums(tables.query, supported_tau(tables), tables.n_queries)
    tau = measured(Measure(mean_of, Reason.ALL_TIED), sums, drawn)
    if lists is None:
        return tau, Figure(None, Reason.NO_LISTS)
    overlaps = mean_sums(lists.query, lists.rbo, tables.n_queries)
    return tau, measured(Measure(mean_of, Reason.NOTHING_SHARED), overlaps, drawn)


def supported_tau(tables: PairTables) -> FloatArray:
    """Return tau-b of every row of ``tables``, NaN where fewer than ``LEAST_PAIRS`` are shared."""
    shared = tables.counts.sum(axis=(1, 2))
    return np.where(shared >= LEAST_PAIRS, tau_b(tables.counts), np.nan)


def mean_sums(query: IntArray, values: FloatArray, n_queries: int) -> FloatArray:
    """Sum and number of the defined values of each query: (n_queries, 2)."""
    known = ~np.isnan(values)
    sums = np.bincount(query[known], values[known], n_queries)
    counts = np.bincount(query[known], minlength=n_queries)
    return np.stack([sums, counts], axis=1).astype(float)


def defined_columns(values: FloatArray) -> FloatArray:
    """Return each value and a 1, or two zeros where it is undefined: (r, 2)."""
    known = ~np.isnan(values)
    return np.stack([np.where(known, values, 0.0), known.astype(float)], axis=1)


def mean_of(sums: FloatArray) -> FloatArray:
    """Compute the mean from sum and count on the last axis."""
    return ratio(sums[..., 0], sums[..., 1])
