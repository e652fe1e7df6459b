"""Agreement of every two assessors who share queries."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from analysis.agreement import ListSimilarity, PairTables, Resamples, grouped_sums, tau_b
from analysis.report.schema import Figure, PairRow, Reason
from analysis.report.sections.figures import (
    ALPHA,
    COHEN_KAPPA,
    GWET_AC1,
    OVERALL,
    UNDEFINED,
    WITHOUT_TIES,
    Measure,
    figure,
    why_none,
)
from analysis.report.sections.pooled import defined_columns, matrix, mean_of
from analysis.typing import FloatArray, IntArray

CELLS = 4_000_000  # of the tables of one chunk: resamples x pairs x 9
RESAMPLED = 2_500_000  # resamples x pairs of assessors in all; more pairs get fewer resamples
LEAST_DRAWS = 200
TABLE_MEASURES = (OVERALL, WITHOUT_TIES, COHEN_KAPPA, ALPHA, GWET_AC1)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows that are summed over queries: their ``query``, ``pair`` and ``values`` (r, width)."""

    query: IntArray
    pair: IntArray
    values: FloatArray


def pair_rows(
    tables: PairTables,
    lists: ListSimilarity | None,
    drawn: Resamples,
    names: tuple[str, ...],
) -> tuple[PairRow, ...]:
    """Return one row per pair of assessors, with intervals over queries."""
    first, second, row = tables.pairs()
    if not first.size:
        return ()
    drawn = replace(drawn, weights=drawn.weights[: max(LEAST_DRAWS, RESAMPLED // first.size)])
    shared = np.bincount(row, minlength=first.size).tolist()
    votes = _Rows(tables.query, row, tables.counts.reshape(-1, 9).astype(float))
    of_table = _figures(TABLE_MEASURES, votes, shared, drawn)
    tau = _Rows(tables.query, row, defined_columns(tau_b(tables.counts)))
    (taus,) = _figures((Measure(mean_of, Reason.ALL_TIED),), tau, shared, drawn)
    overlaps = _overlaps(tables, lists, shared, drawn)
    columns = (first.tolist(), second.tolist(), shared, tables.by_pair()[2])
    return tuple(
        PairRow(
            first=names[a],
            second=names[b],
            queries=n,
            matrix=matrix(counts),
            overall=overall,
            without_ties=without_ties,
            cohen_kappa=kappa,
            krippendorff_alpha=alpha,
            gwet_ac1=ac1,
            tau_b=tau_b,
            rbo=rbo,
        )
        for (a, b, n, counts), overall, without_ties, kappa, alpha, ac1, tau_b, rbo in zip(
            zip(*columns, strict=True), *of_table, taus, overlaps, strict=True
        )
    )


def _overlaps(
    tables: PairTables, lists: ListSimilarity | None, shared: list[int], drawn: Resamples
) -> list[Figure]:
    """Return the mean rank-biased overlap of every two assessors."""
    if lists is None:
        return [Figure(None, Reason.NO_LISTS)] * len(shared)
    first, second, _ = tables.pairs()
    known = {pair: i for i, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True))}
    pairs = zip(lists.first.tolist(), lists.second.tolist(), strict=True)
    row = np.array([known.get(pair, -1) for pair in pairs], dtype=np.int64)
    kept = row >= 0
    rows = _Rows(lists.query[kept], row[kept], defined_columns(lists.rbo[kept]))
    return _figures((Measure(mean_of, Reason.NOTHING_SHARED),), rows, shared, drawn)[0]


def _figures(
    measures: tuple[Measure, ...], rows: _Rows, shared: list[int], drawn: Resamples
) -> list[list[Figure]]:
    """Return each measure of each pair, computed by chunks of pairs."""
    columns: list[list[Figure]] = [[] for _ in measures]
    width = rows.values.shape[1]
    for start, end, chosen in _chunks(rows.pair, len(shared), drawn.weights.shape[0] * width):
        group, values = rows.pair[chosen] - start, rows.values[chosen]
        sums = np.zeros((end - start, width))
        np.add.at(sums, group, values)
        draws = grouped_sums(drawn.weights, rows.query[chosen], group, values, end - start)
        for measure, column in zip(measures, columns, strict=True):
            column += _measured(measure, sums, draws, shared[start:end], drawn)
    return columns


def _measured(
    measure: Measure, sums: FloatArray, draws: FloatArray, shared: list[int], drawn: Resamples
) -> Iterator[Figure]:
    ends = drawn.ends(measure.of(draws))
    for value, low, high, queries in zip(measure.of(sums), *ends, shared, strict=True):
        yield figure(
            value,
            reason=measure.reason,
            ends=(low, high) if queries > 1 else UNDEFINED,  # one query is always drawn the same
            no_interval=why_none(drawn, queries),
        )


def _chunks(row: IntArray, n_pairs: int, cells_each: int) -> Iterator[tuple[int, int, IntArray]]:
    """Yield ranges of neighbouring pairs from start to end, and the rows that belong to them."""
    order = np.argsort(row, kind="stable")
    step = max(1, CELLS // cells_each)
    for start in range(0, n_pairs, step):
        end = min(start + step, n_pairs)
        low, high = np.searchsorted(row[order], [start, end])
        yield start, end, order[low:high]
