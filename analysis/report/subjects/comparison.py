"""Two tools against each other: is the difference in agreement more than chance?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement import PairTables, agreed, chi_square, permute_queries
from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.report.figures import Explanation, Figure, Reason, figure, why_none
from topkapi.analysis.report.study import Options
from topkapi.analysis.typing import FloatArray

SIGNIFICANT = 0.05  # p below which a difference is a finding


@dataclass(frozen=True, slots=True)
class Compared:
    """Tests of the difference in agreement between two tools."""

    agreed: tuple[int, ...]
    votes: tuple[int, ...]
    shares: tuple[Figure, ...]
    difference: Figure
    chi_square: Figure
    chi_square_yates: Figure
    df: int
    p: Figure
    p_yates: Figure
    phi: Figure
    p_queries: Figure
    exchanges: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two tools, named by ``tools``, compared with and without ties."""

    tools: tuple[str, str]
    all_pairs: Compared
    without_ties: Compared


@dataclass(frozen=True, slots=True)
class NoComparison:
    """Stand-in for the comparison of fewer than two tools."""

    reason: Reason


def comparison(
    tools: tuple[str, str], first: PairTables, second: PairTables, options: Options
) -> Comparison:
    """Test the difference in agreement of two tools, with and without ties.

    Parameters
    ----------
    tools
        Names of the tools.
    first, second
        Votes of the tools.
    options
        Number of resamples and exchanges of queries.
    """
    return Comparison(
        tools,
        all_pairs=_compared(first, second, options, ties=True),
        without_ties=_compared(first, second, options, ties=False),
    )


def _compared(first: PairTables, second: PairTables, options: Options, *, ties: bool) -> Compared:
    counts = [agreed(tables.by_query(), ties=ties) for tables in (first, second)]
    same = np.stack([pair[0] for pair in counts], axis=1)
    total = np.stack([pair[1] for pair in counts], axis=1)
    sums, whole = same.sum(axis=0), total.sum(axis=0)
    plain = chi_square((sums[0], sums[1]), (whole[0], whole[1]))
    exchanged = permute_queries(same, total, draws=options.exchanges, seed=options.seed)
    both = first.strata() * (second.n_queries + 1) + second.strata()
    drawn = options.resamples(total.sum(axis=1), both)
    ends = drawn.interval(np.concatenate([same, total], axis=1), _difference)
    shares = ratio(sums, whole)
    return Compared(
        agreed=tuple(int(n) for n in sums),
        votes=tuple(int(n) for n in whole),
        shares=tuple(_defined(share) for share in shares),
        difference=figure(
            plain.difference,
            reason=Reason.EMPTY_MARGIN,
            ends=ends,
            no_interval=why_none(drawn),
        ),
        chi_square=_defined(plain.statistic),
        chi_square_yates=_defined(plain.yates),
        df=plain.df,
        p=_defined(plain.p),
        p_yates=_defined(plain.p_yates),
        phi=_defined(plain.phi),
        p_queries=_defined(exchanged.p),
        exchanges=exchanged.exchanges,
        exact=exchanged.exact,
    )


def _defined(value: float) -> Figure:
    return figure(value, reason=Reason.EMPTY_MARGIN)


def _difference(sums: FloatArray) -> FloatArray:
    shares = ratio(sums[..., :2], sums[..., 2:])
    return shares[..., 0] - shares[..., 1]


@dataclass(frozen=True, slots=True)
class ToolDifference:
    """Comparison of two tools: their agreement, and p of the permutation test over queries."""

    shares: tuple[float, float]
    p: float

    @property
    def sign(self) -> int:
        """1 if the first tool agrees more, -1 if the second does, 0 without a significant p."""
        first, second = self.shares
        return ((first > second) - (first < second)) if self.p < SIGNIFICANT else 0


@dataclass(frozen=True, slots=True)
class Headline:
    """Comparison of two tools in two sentences; one is None where it is undefined."""

    titles: tuple[str, str]
    all_pairs: ToolDifference
    without_ties: ToolDifference | None


@dataclass(frozen=True, slots=True)
class Tests:
    """Tests of the difference between two tools, named by their titles."""

    first: str
    second: str
    rows: tuple[tuple[str, Compared], ...]
    exchanges: int
    exact: bool


@dataclass(frozen=True, slots=True)
class ToolComparison:
    """Everything the headline and the section of tests show."""

    headline: Headline | None
    tests: Tests | None
    no_tests: Reason | None


def comparison_view(
    comparison: Comparison | NoComparison, titles: Mapping[str, str]
) -> ToolComparison:
    """Build the view from the titles of tools by name."""
    if isinstance(comparison, NoComparison):
        return ToolComparison(None, None, comparison.reason)
    first, second = (titles[name] for name in comparison.tools)
    rows = (("All pairs", comparison.all_pairs), ("Without ties", comparison.without_ties))
    tests = Tests(first, second, rows, comparison.all_pairs.exchanges, comparison.all_pairs.exact)
    all_pairs = _finding(comparison.all_pairs)
    if all_pairs is None:
        return ToolComparison(None, tests, None)
    headline = Headline((first, second), all_pairs, _finding(comparison.without_ties))
    return ToolComparison(headline, tests, None)


def _finding(found: Compared) -> ToolDifference | None:
    first, second = (share.value for share in found.shares)
    p = found.p_queries.value
    return (
        None if first is None or second is None or p is None else ToolDifference((first, second), p)
    )


EXPLANATIONS = {
    "chi": Explanation(
        "The tests",
        "Pearson's chi-square of agreed against disagreed votes, without and with Yates' "
        "correction. It treats every pair as independent. The last p is of a permutation test: it "
        "swaps the tools of whole queries and counts how often the difference is as large. The "
        "interval resamples queries.",
    ),
}
