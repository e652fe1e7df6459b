"""Each assessor: agreement with the rest, estimated errors, consistency, side, circles."""

from dataclasses import dataclass

import numpy as np

from analysis.agreement import (
    Circles,
    Judgments,
    PairTables,
    Repeated,
    Resamples,
    agreement,
    circles,
    error_rates,
    grouped_sums,
    left_bias,
    repeated,
    rest_counts,
    tau_b,
)
from analysis.agreement.ratios import ratio
from analysis.report.figures import NOTHING_SHARED, TABLE_MEASURES, Json, figure, why_none
from analysis.report.pooled import defined_columns, mean_of
from analysis.report.study import ToolData
from analysis.typing import BoolArray, FloatArray, IntArray

RATE_DRAWS = 200  # resamples of the least-squares fit, one solution each
NOT_TOLD_APART = "the pairs of assessors form no odd ring, so their errors cannot be told apart"
NO_REPEATS = "no pair was asked twice"
NO_SIDES = "the source does not say that sides were drawn at random"
NO_ANSWERS = "no raw answers to pairs"
NO_TRIPLES = "no three pages were all compared with each other"


@dataclass(frozen=True, slots=True)
class Conduct:
    """What raw answers show: repeats and circles, or nothing where there are none."""

    judgments: Judgments | None
    sides: bool
    again: Repeated | None
    rings: Circles | None


def conduct(tool: ToolData) -> Conduct:
    """Look at the raw answers of a tool once."""
    asked = tool.judgments
    if asked is None or not len(asked):
        return Conduct(None, tool.sides, None, None)
    return Conduct(asked, tool.sides, repeated(asked), circles(asked))


def people(
    tables: PairTables,
    seen: Conduct,
    names: tuple[str, ...],
    drawn: Resamples,
    asked: Resamples,
    active: IntArray,
) -> list[Json]:
    """One record for each assessor in ``active``; ``asked`` resamples queries with raw answers."""
    records: dict[int, Json] = {a: {"assessor": names[a]} for a in active.tolist()}
    _with_rest(records, tables, drawn)
    _errors(records, tables, drawn)
    for assessor, record in records.items():
        record |= answers(seen, asked, assessor)
    return list(records.values())


def _with_rest(records: dict[int, Json], tables: PairTables, drawn: Resamples) -> None:
    query, who, counts = rest_counts(tables)
    sums = np.zeros((tables.n_assessors, 9))
    np.add.at(sums, who, counts)
    draws = grouped_sums(drawn.weights, query, who, counts.astype(float), tables.n_assessors)
    shared = np.zeros((tables.n_assessors, tables.n_queries), dtype=bool)
    shared[who, query] = True
    for assessor, record in records.items():
        record["shared_queries"] = int(shared[assessor].sum())
        for measure in TABLE_MEASURES:
            several = record["shared_queries"] > 1  # one query is always drawn the same
            ends = drawn.ends(measure.of(draws[:, assessor])) if several else (np.nan, np.nan)
            reason = measure.reason if sums[assessor].any() else NOTHING_SHARED
            value = measure.of(sums[assessor])
            record[measure.name] = figure(
                value,
                reason=reason,
                ends=ends,
                no_interval=why_none(drawn, record["shared_queries"]),
            )


def _errors(records: dict[int, Json], tables: PairTables, drawn: Resamples) -> None:
    """The error rate of each assessor, whoever they were paired with."""
    first, second, row = tables.pairs()
    values = defined_columns(tau_b(tables.counts))
    sums = np.zeros((first.size, 2))
    np.add.at(sums, row, values)
    weights = drawn.weights[:RATE_DRAWS]
    draws = grouped_sums(weights, tables.query, row, values, first.size)
    found = _fit(first, second, sums, tables.n_assessors)
    low, high = drawn.ends(_fit(first, second, draws, tables.n_assessors))
    for assessor, record in records.items():
        record["error_rate"] = figure(
            found[assessor],
            reason=NOT_TOLD_APART,
            ends=(low[assessor], high[assessor]),
            no_interval=why_none(drawn),
        )


def _fit(first: IntArray, second: IntArray, sums: FloatArray, n: int) -> FloatArray:
    return error_rates(first, second, mean_of(sums), sums[..., 1], n)


def answers(seen: Conduct, drawn: Resamples, assessor: int | None = None) -> Json:
    """Self-consistency, side and circles of one assessor, or of all together."""
    return {
        "self_consistency": _again(seen, drawn, assessor),
        "left": _side(seen, assessor),
        "circles": _rings(seen, drawn, assessor),
    }


def _again(seen: Conduct, drawn: Resamples, assessor: int | None) -> Json:
    if seen.again is None or not (mine := _mine(seen.again.assessor, assessor)).any():
        return {"value": None, "reason": NO_REPEATS if seen.judgments else NO_ANSWERS, "asked": 0}
    counts = seen.again.counts[mine]
    sums = np.zeros((drawn.weights.shape[1], 9))
    np.add.at(sums, seen.again.query[mine], counts.reshape(-1, 9))
    ends = drawn.interval(sums, lambda drawn: agreement(drawn.reshape(-1, 3, 3)))
    found = figure(agreement(counts.sum(axis=0)), ends=ends, no_interval=why_none(drawn))
    return found | {"asked": int(mine.sum()), "counts": counts.sum(axis=0).tolist()}


def _side(seen: Conduct, assessor: int | None) -> Json:
    if seen.judgments is None:
        return {"value": None, "reason": NO_ANSWERS}
    if not seen.sides:
        return {"value": None, "reason": NO_SIDES}
    found = left_bias(seen.judgments.take(_mine(seen.judgments.assessor, assessor)))
    share = figure(found.share, reason="no answer that is not a tie")
    return share | {
        "left": found.left,
        "answers": found.total,
        "p": figure(found.p, reason="no answer that is not a tie"),
        "p_queries": figure(found.p_queries, reason="one query: nothing to turn around"),
    }


def _rings(seen: Conduct, drawn: Resamples, assessor: int | None) -> Json:
    if seen.rings is None:
        return {"value": None, "reason": NO_ANSWERS, "triples": 0}
    mine = _mine(seen.rings.assessor, assessor)
    columns = [seen.rings.broken[mine], seen.rings.triples[mine], seen.rings.cycles[mine]]
    sums = np.zeros((drawn.weights.shape[1], 2))
    np.add.at(sums, seen.rings.query[mine], np.stack(columns[:2], axis=1))
    broken, triples, cycles = (int(column.sum()) for column in columns)
    ends = drawn.interval(sums, lambda drawn: ratio(drawn[:, 0], drawn[:, 1]))
    share = ratio(broken, triples)
    found = figure(share, reason=NO_TRIPLES, ends=ends, no_interval=why_none(drawn))
    return found | {"broken": broken, "cycles": cycles, "triples": triples}


def _mine(who: IntArray, assessor: int | None) -> BoolArray:
    mine: BoolArray = np.ones(who.shape, dtype=bool) if assessor is None else who == assessor
    return mine
