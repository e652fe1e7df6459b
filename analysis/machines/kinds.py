"""Agreement by kind of assessor: among people, between people and machines, among machines."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement import (
    PairTables,
    Preferences,
    agreement,
    cohen_kappa,
    pair_tables,
    resamples,
)
from topkapi.analysis.resampling import IN_TAIL, known_ends
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

KINDS = ("people", "people and machines", "machines")


@dataclass(frozen=True, slots=True)
class KindAgreement:
    """Agreement of the pairs of assessors of one kind, with intervals (95 %) over queries.

    Attributes
    ----------
    kind
        One of ``KINDS``.
    votes, queries, assessor_pairs
        Answers compared, queries and pairs of assessors that share some.
    overall, overall_ends
        Share of answers that agree, ties included, and its interval.
    decided, decided_ends
        The same where neither tied.
    kappa, kappa_ends
        Cohen's kappa of the summed table, and its interval; None where it is undefined.
    """

    kind: str
    votes: int
    queries: int
    assessor_pairs: int
    overall: float
    overall_ends: tuple[float, float] | None
    decided: float | None
    decided_ends: tuple[float, float] | None
    kappa: float | None
    kappa_ends: tuple[float, float] | None


def agreement_by_kind(
    preferences: Preferences, machines: Collection[int], *, draws: int = 2000
) -> tuple[KindAgreement, ...]:
    """Return agreement among people, between people and machines, and among machines.

    Kinds without two assessors who share answers are left out.

    Parameters
    ----------
    preferences
        Votes of people and machines; grades become pairs by ``from_scores``.
    machines
        Indices of the machines among the assessors.
    draws
        Number of resamples.

    Examples
    --------
    >>> from topkapi.analysis.agreement import Scores, from_scores
    >>> values = np.array([[3.0, 1, 0], [2, 1, 0], [0, 1, 2]])
    >>> votes = from_scores([Scores(q, np.arange(3), values) for q in range(6)], 3, 6)
    >>> [(each.kind, each.overall) for each in agreement_by_kind(votes, {2})]
    [('people', 1.0), ('people and machines', 0.0)]
    """
    tables = pair_tables(preferences)
    number = machines_in(tables, machines)
    found = ((kind, number == i) for i, kind in enumerate(KINDS))
    return tuple(_of_kind(kind, tables, rows, draws) for kind, rows in found if rows.any())


def machines_in(tables: PairTables, machines: Collection[int]) -> IntArray:
    """Return how many assessors of each row are machines: 0, 1 or 2."""
    machine: IntArray = np.isin(np.arange(tables.n_assessors), list(machines)).astype(int)
    return machine[tables.first] + machine[tables.second]


def _of_kind(kind: str, tables: PairTables, rows: BoolArray, draws: int) -> KindAgreement:
    mine = tables.take(rows)
    sums = mine.in_both_orders().astype(float)
    drawn = resamples(sums.sum(axis=(1, 2)), draws=draws, in_tail=IN_TAIL)

    def figure(values: FloatArray) -> FloatArray:
        return np.stack(
            [agreement(values), agreement(values, ties=False), cohen_kappa(values)], axis=-1
        )

    value = [None if np.isnan(each) else each for each in figure(sums.sum(axis=0)).tolist()]
    ends = known_ends(*drawn.interval(sums, figure))
    return KindAgreement(
        kind=kind,
        votes=int(mine.counts.sum()),
        queries=drawn.n_used,
        assessor_pairs=int(mine.pairs()[0].size),
        overall=float(value[0] or 0.0),
        overall_ends=ends[0],
        decided=value[1],
        decided_ends=ends[1],
        kappa=value[2],
        kappa_ends=ends[2],
    )
