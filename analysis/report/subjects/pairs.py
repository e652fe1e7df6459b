"""Agreement of every two assessors who share queries."""

from dataclasses import dataclass, field

import numpy as np

from topkapi.analysis.agreement import (
    ListSimilarity,
    PairTables,
    Resamples,
    alpha_of_table,
    gwet_ac1_of_table,
)
from topkapi.analysis.agreement.tables import mean_of
from topkapi.analysis.report.figures import (
    COHEN_KAPPA,
    INLINE,
    OVERALL,
    WITHOUT_TIES,
    Figure,
    Matrix,
    Measure,
    Reason,
    defined_columns,
    group_figures,
    matrix,
    of_table,
    supported_tau,
)
from topkapi.analysis.resampling import LEAST_QUERIES

MOST_PAIRS = 5000  # rows of a report; beyond, the pairs of assessors who share most
TAU = Measure(mean_of, Reason.ALL_TIED)
OVERLAP = Measure(mean_of, Reason.NOTHING_SHARED, "share")
MOST_IN_GRID = 16  # assessors shown as a grid of pairs; above, the pairs that agree least
MOST_SHOWN = 20  # pairs that agree least


@dataclass(frozen=True, slots=True)
class PairRow:
    """Agreement of two assessors over the queries they share."""

    first: str
    second: str
    queries: int
    matrix: Matrix = field(metadata=INLINE)
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    krippendorff_alpha: Figure
    gwet_ac1: Figure
    tau_b: Figure
    rbo: Figure


ALPHA = Measure(of_table(alpha_of_table), Reason.ONE_CATEGORY)


GWET_AC1 = Measure(of_table(gwet_ac1_of_table), Reason.ONE_CATEGORY)


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
    return tables.take(kept[row])


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


@dataclass(frozen=True, slots=True)
class PairGrid:
    """Agreement of every two assessors; None where two share nothing."""

    names: tuple[str, ...]
    rows: tuple[tuple[PairRow | None, ...], ...]


def pair_grid(names: tuple[str, ...], pairs: tuple[PairRow, ...]) -> PairGrid:
    """Return the agreement of every two of the assessors."""
    found = {
        frozenset((row.first, row.second)): row for row in pairs if row.overall.value is not None
    }
    rows = (tuple(found.get(frozenset((a, b))) for b in names) for a in names)
    return PairGrid(names, tuple(rows))


def least_agreeing(pairs: tuple[PairRow, ...]) -> tuple[PairRow, ...]:
    """Return the pairs of assessors that agree least, of those who share enough queries."""
    known = [
        (row.overall.value, row)
        for row in pairs
        if row.overall.value is not None and row.queries >= LEAST_QUERIES
    ]
    return tuple(row for _, row in sorted(known, key=lambda each: each[0])[:MOST_SHOWN])
