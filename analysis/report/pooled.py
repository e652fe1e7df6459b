"""Agreement of one tool, pooled over assessors: matrix, shares, coefficients, list similarity."""

import numpy as np

from analysis.agreement import (
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
from analysis.agreement.ratios import ratio
from analysis.report.figures import (
    NOTHING_SHARED,
    ONE_CATEGORY,
    TABLE_MEASURES,
    Json,
    Measure,
    measured,
    numbers,
)
from analysis.typing import FloatArray, IntArray

RATING_MEASURES = (
    Measure("fleiss_kappa", lambda sums: fleiss_kappa(RatingSums(sums)), ONE_CATEGORY),
    Measure("krippendorff_alpha", lambda sums: krippendorff_alpha(RatingSums(sums)), ONE_CATEGORY),
    Measure("gwet_ac1", lambda sums: gwet_ac1(RatingSums(sums)), ONE_CATEGORY),
)
ALL_TIED = "in every shared query one of the two tied everything"
NO_LISTS = "the source has no ranked lists, only single pairs"


def matrix(counts: IntArray) -> Json:
    """Counts of a table and the shares of its rows; an empty row has none."""
    return {"counts": counts.tolist(), "shares": numbers(agreement_matrix(counts))}


def pooled(
    tables: PairTables, ratings: RatingSums, lists: ListSimilarity | None, drawn: Resamples
) -> Json:
    """Everything that sums over all pairs of assessors who share queries."""
    by_query = tables.by_query().reshape(-1, 9).astype(float)
    table = tables.pooled()
    found: Json = {
        "matrix": matrix(table),
        "matrix_both_orders": matrix(tables.pooled(symmetric=True)),
        "votes": int(table.sum()),
        "queries": int(np.unique(tables.query).size),
        "assessor_pairs": int(tables.pairs()[0].size),
    }
    found |= {m.name: measured(m, by_query, drawn) for m in TABLE_MEASURES}
    found |= {m.name: measured(m, ratings.values, drawn) for m in RATING_MEASURES}
    return found | list_figures(tables, lists, drawn)


def list_figures(tables: PairTables, lists: ListSimilarity | None, drawn: Resamples) -> Json:
    """Mean tau-b and rank-biased overlap over queries and pairs of assessors."""
    tau = mean_sums(tables.query, tau_b(tables.counts), tables.n_queries)
    found = {"tau_b": measured(Measure("tau_b", mean_of, ALL_TIED), tau, drawn)}
    if lists is None:
        return found | {"rbo": {"value": None, "reason": NO_LISTS}}
    rbo = mean_sums(lists.query, lists.rbo, tables.n_queries)
    return found | {"rbo": measured(Measure("rbo", mean_of, NOTHING_SHARED), rbo, drawn)}


def mean_sums(query: IntArray, values: FloatArray, n_queries: int) -> FloatArray:
    """Sum and number of the defined values of each query: (n_queries, 2)."""
    known = ~np.isnan(values)
    sums = np.bincount(query[known], values[known], n_queries)
    counts = np.bincount(query[known], minlength=n_queries)
    return np.stack([sums, counts], axis=1).astype(float)


def defined_columns(values: FloatArray) -> FloatArray:
    """(r, 2): each value and a 1, or two zeros where it is undefined."""
    known = ~np.isnan(values)
    return np.stack([np.where(known, values, 0.0), known.astype(float)], axis=1)


def mean_of(sums: FloatArray) -> FloatArray:
    """Mean from sum and number on the last axis."""
    return ratio(sums[..., 0], sums[..., 1])
