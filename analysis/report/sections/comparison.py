"""Two tools against each other: is the difference in agreement more than chance?"""

import numpy as np

from topkapi.analysis.agreement import PairTables, agreed, chi_square, permute_queries
from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.report.schema import Compared, Comparison, Figure, Reason
from topkapi.analysis.report.sections.figures import figure, why_none
from topkapi.analysis.report.study import Options
from topkapi.analysis.typing import FloatArray


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
    difference: FloatArray = shares[..., 0] - shares[..., 1]
    return difference
