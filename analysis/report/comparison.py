"""Two tools against each other: is the difference in agreement more than chance?"""

import numpy as np

from analysis.agreement import PairTables, agreed, chi_square, permute_queries
from analysis.agreement.ratios import ratio
from analysis.report.figures import Json, figure, why_none
from analysis.report.options import Options
from analysis.typing import FloatArray

EMPTY_MARGIN = "one tool has no shared votes, or nobody agreed, or nobody disagreed"
ONE_TOOL = "fewer than two tools have shared judgments"


def comparison(first: PairTables, second: PairTables, options: Options) -> Json:
    """Chi-square, permutation of queries and interval of the difference; with and without ties."""
    return {
        "all_pairs": _compared(first, second, options, ties=True),
        "without_ties": _compared(first, second, options, ties=False),
    }


def _compared(first: PairTables, second: PairTables, options: Options, *, ties: bool) -> Json:
    counts = [agreed(tables.by_query(), ties=ties) for tables in (first, second)]
    same = np.stack([pair[0] for pair in counts], axis=1)
    total = np.stack([pair[1] for pair in counts], axis=1)
    sums, whole = same.sum(axis=0), total.sum(axis=0)
    plain = chi_square((sums[0], sums[1]), (whole[0], whole[1]))
    exchanged = permute_queries(same, total, draws=options.exchanges, seed=options.seed)
    both = first.strata() * (second.n_queries + 1) + second.strata()
    drawn = options.resamples(total.sum(axis=1), both)
    ends = drawn.interval(np.concatenate([same, total], axis=1), _difference)
    return {
        "agreed": sums.astype(int).tolist(),
        "votes": whole.astype(int).tolist(),
        "shares": [figure(share, reason=EMPTY_MARGIN) for share in ratio(sums, whole)],
        "difference": figure(
            plain.difference, reason=EMPTY_MARGIN, ends=ends, no_interval=why_none(drawn)
        ),
        "chi_square": figure(plain.statistic, reason=EMPTY_MARGIN),
        "chi_square_yates": figure(plain.yates, reason=EMPTY_MARGIN),
        "df": plain.df,
        "p": figure(plain.p, reason=EMPTY_MARGIN),
        "p_yates": figure(plain.p_yates, reason=EMPTY_MARGIN),
        "phi": figure(plain.phi, reason=EMPTY_MARGIN),
        "p_queries": figure(exchanged.p, reason=EMPTY_MARGIN),
        "exchanges": exchanged.exchanges,
        "exact": exchanged.exact,
    }


def _difference(sums: FloatArray) -> FloatArray:
    shares = ratio(sums[..., :2], sums[..., 2:])
    difference: FloatArray = shares[..., 0] - shares[..., 1]
    return difference
