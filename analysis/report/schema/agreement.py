"""Agreement of a tool: pooled, by pair of assessors, by query."""

from dataclasses import dataclass, field

from topkapi.analysis.report.schema.figures import Figure
from topkapi.analysis.report.schema.keys import INLINE

Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of a 3 x 3 table of votes, and the shares of its rows; an empty row has none."""

    counts: Counts
    shares: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over all pairs of assessors who share queries."""

    matrix: Matrix
    matrix_both_orders: Matrix
    votes: int
    queries: int
    assessor_pairs: int
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    fleiss_kappa: Figure
    krippendorff_alpha: Figure
    gwet_ac1: Figure
    tau_b: Figure
    rbo: Figure


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


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """Agreement of all assessors on one query."""

    query: str
    text: str
    assessors: int
    documents: int
    counts: Counts
    overall: Figure
    without_ties: Figure
    tau_b: Figure
    rbo: Figure
