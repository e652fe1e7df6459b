"""Agreement of every two assessors who share queries."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analysis.agreement import (
    ListSimilarity,
    PairTables,
    Resamples,
    grouped_sums,
    tau_b,
)
from analysis.report.figures import (
    NOTHING_SHARED,
    PAIR_MEASURES,
    Json,
    Measure,
    figure,
    why_none,
)
from analysis.report.pooled import ALL_TIED, NO_LISTS, defined_columns, matrix, mean_of
from analysis.typing import FloatArray, IntArray

CELLS = 4_000_000  # of the tables of one chunk: resamples x pairs x 9
RESAMPLED = 2_500_000  # resamples x pairs of assessors in all; more pairs get fewer resamples
LEAST_DRAWS = 200


def pair_rows(
    tables: PairTables,
    lists: ListSimilarity | None,
    drawn: Resamples,
    names: tuple[str, ...],
) -> list[Json]:
    """One record a pair of assessors, with intervals over queries."""
    first, second, row = tables.pairs()
    if not first.size:
        return []
    drawn = _fewer(drawn, first.size)
    queries = np.bincount(row, minlength=first.size)
    records: list[Json] = [
        {"first": names[a], "second": names[b], "queries": n}
        for a, b, n in zip(first.tolist(), second.tolist(), queries.tolist(), strict=True)
    ]
    for record, counts in zip(records, tables.by_pair()[2], strict=True):
        record |= matrix(counts)
    values = tables.counts.reshape(-1, 9).astype(float)
    _fill(records, PAIR_MEASURES, tables.query, row, values, drawn)
    tau = defined_columns(tau_b(tables.counts))
    _fill(records, (Measure("tau_b", mean_of, ALL_TIED),), tables.query, row, tau, drawn)
    _fill_lists(records, tables, lists, drawn)
    return records


def _fewer(drawn: Resamples, pairs: int) -> Resamples:
    draws = max(LEAST_DRAWS, RESAMPLED // pairs)
    return replace(drawn, weights=drawn.weights[:draws])


def _fill_lists(
    records: list[Json], tables: PairTables, lists: ListSimilarity | None, drawn: Resamples
) -> None:
    if lists is None:
        for record in records:
            record["rbo"] = {"value": None, "reason": NO_LISTS}
        return
    keys = {pair: i for i, pair in enumerate(zip(*_ids(tables), strict=True))}
    pairs = zip(lists.first.tolist(), lists.second.tolist(), strict=True)
    row = np.array([keys.get(pair, -1) for pair in pairs], dtype=np.int64)
    kept = row >= 0
    rbo = (Measure("rbo", mean_of, NOTHING_SHARED),)
    values = defined_columns(lists.rbo[kept])
    _fill(records, rbo, lists.query[kept], row[kept], values, drawn)


def _ids(tables: PairTables) -> tuple[list[int], list[int]]:
    first, second, _ = tables.pairs()
    return first.tolist(), second.tolist()


def _fill(
    records: list[Json],
    measures: tuple[Measure, ...],
    query: IntArray,
    row: IntArray,
    values: FloatArray,
    drawn: Resamples,
) -> None:
    """Add each measure to each record, a chunk of records at a time."""
    for start, end, rows in _chunks(row, len(records), drawn.weights.shape[0] * values.shape[1]):
        group, width = row[rows] - start, end - start
        sums = np.zeros((width, values.shape[1]))
        np.add.at(sums, group, values[rows])
        draws = grouped_sums(drawn.weights, query[rows], group, values[rows], width)
        for measure in measures:
            found, ends = measure.of(sums), drawn.ends(measure.of(draws))
            for record, value, low, high in zip(records[start:end], found, *ends, strict=True):
                several = record["queries"] > 1  # one query is always drawn the same
                record[measure.name] = figure(
                    value,
                    reason=measure.reason,
                    ends=(low, high) if several else (np.nan, np.nan),
                    no_interval=why_none(drawn, record["queries"]),
                )


def _chunks(row: IntArray, n_records: int, cells_each: int) -> Iterator[tuple[int, int, IntArray]]:
    """Neighbouring records from start to end, and the rows that belong to them."""
    order = np.argsort(row, kind="stable")
    step = max(1, CELLS // cells_each)
    for start in range(0, n_records, step):
        end = min(start + step, n_records)
        low, high = np.searchsorted(row[order], [start, end])
        yield start, end, order[low:high]
