"""Agreement of every two assessors who share queries."""

import numpy as np

from topkapi.analysis.agreement import ListSimilarity, PairTables, Resamples
from topkapi.analysis.report.schema import Figure, PairRow, Reason
from topkapi.analysis.report.sections.figures import (
    ALPHA,
    COHEN_KAPPA,
    GWET_AC1,
    OVERALL,
    WITHOUT_TIES,
    Measure,
    group_figures,
)
from topkapi.analysis.report.sections.pooled import (
    defined_columns,
    matrix,
    mean_of,
    supported_tau,
)
from topkapi.analysis.typing import BoolArray

MOST_PAIRS = 5000  # rows of a report; beyond, the pairs of assessors who share most
TAU = Measure(mean_of, Reason.ALL_TIED)
OVERLAP = Measure(mean_of, Reason.NOTHING_SHARED, "share")


def pair_rows(
    tables: PairTables,
    lists: ListSimilarity | None,
    drawn: Resamples,
    names: tuple[str, ...],
) -> tuple[PairRow, ...]:
    """Return one row per pair of assessors, with intervals over the queries they share.

    Of more than ``MOST_PAIRS`` pairs those who share most queries, then most votes, are returned.
    """
    tables = _most_shared(tables)
    first, second, row = tables.pairs()
    if not first.size:
        return ()
    of = (tables.query, row)
    votes = tables.counts.reshape(-1, 9).astype(float)
    measures = (OVERALL, WITHOUT_TIES, COHEN_KAPPA, ALPHA, GWET_AC1)
    figures = [group_figures(each, *of, votes, first.size, drawn) for each in measures]
    tau = defined_columns(supported_tau(tables))
    figures.append(group_figures(TAU, *of, tau, first.size, drawn))
    figures.append(_overlaps(tables, lists, drawn))
    shared = np.bincount(row, minlength=first.size).tolist()
    columns = (first.tolist(), second.tolist(), shared, tables.by_pair()[2])
    return tuple(
        PairRow(names[a], names[b], n, matrix(counts + counts[::-1, ::-1]), *found)
        for a, b, n, counts, *found in zip(*columns, *figures, strict=True)
    )


def _most_shared(tables: PairTables) -> PairTables:
    """Keep the rows of the pairs of assessors who share most."""
    first, _, row = tables.pairs()
    if first.size <= MOST_PAIRS:
        return tables
    queries = np.bincount(row)
    votes = np.bincount(row, tables.counts.sum(axis=(1, 2)))
    kept = np.zeros(first.size, dtype=bool)
    kept[np.lexsort((np.arange(first.size), -votes, -queries))[:MOST_PAIRS]] = True
    return _rows(tables, kept[row])


def _rows(tables: PairTables, kept: BoolArray) -> PairTables:
    parts = (tables.query[kept], tables.first[kept], tables.second[kept], tables.counts[kept])
    return PairTables(tables.n_assessors, tables.n_queries, *parts)


def _overlaps(tables: PairTables, lists: ListSimilarity | None, drawn: Resamples) -> list[Figure]:
    """Return the mean rank-biased overlap of every two assessors."""
    first, second, _ = tables.pairs()
    if lists is None:
        return [Figure(None, Reason.NO_LISTS)] * first.size
    known = first * tables.n_assessors + second
    wanted = lists.first * tables.n_assessors + lists.second
    row = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    kept = known[row] == wanted
    values = defined_columns(lists.rbo[kept])
    return group_figures(OVERLAP, lists.query[kept], row[kept], values, first.size, drawn)
