"""Agreement among assessors: tables of votes, coefficients, tests, intervals over queries.

Preferences come from top-k ground truths or grades (``from_scores``) or from raw answers
(``from_judgments``). ``pair_tables`` counts them once; nearly every figure is a sum of these
counts. Sources are in ``analysis/REFERENCES.md``; settled questions in ``docs/method.md``.

>>> import numpy as np
>>> from topkapi.analysis.agreement import Scores, agreement, from_scores, pair_tables
>>> grades = Scores(query=0, assessors=np.array([0, 1]), values=np.array([[4, 2, 0], [3, 0, 0]]))
>>> table = pair_tables(from_scores([grades], n_assessors=2, n_queries=1)).pooled()
>>> float(agreement(table)), float(agreement(table, ties=False))
(0.667, 1.0)
"""

from topkapi.analysis.agreement.chisquare import ChiSquare, Permuted, chi_square, permute_queries
from topkapi.analysis.agreement.coefficients import (
    RatingSums,
    alpha_of_table,
    both_orders,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac1_of_table,
    krippendorff_alpha,
    rating_sums,
)
from topkapi.analysis.agreement.consistency import LeftBias, Repeated, left_bias, repeated
from topkapi.analysis.agreement.judgments import Judgments
from topkapi.analysis.agreement.lists import ListSimilarity, list_similarity, rbo_matrix, tau_b
from topkapi.analysis.agreement.preferences import (
    BETTER,
    MISSING,
    TIE,
    WORSE,
    Preferences,
    QueryVotes,
    Scores,
    from_judgments,
    from_scores,
    joined,
    topk_scores,
)
from topkapi.analysis.agreement.reliability import (
    ErrorRates,
    errors_of_answers,
    errors_of_lists,
)
from topkapi.analysis.agreement.tables import (
    PairTables,
    agreed,
    agreement,
    agreement_matrix,
    pair_tables,
    rest_counts,
)
from topkapi.analysis.agreement.transitivity import TriadCounts, count_triads
from topkapi.analysis.resampling import Resamples, grouped_sums, resamples, same_assessors

__all__ = [
    "BETTER",
    "MISSING",
    "TIE",
    "WORSE",
    "ChiSquare",
    "ErrorRates",
    "Judgments",
    "LeftBias",
    "ListSimilarity",
    "PairTables",
    "Permuted",
    "Preferences",
    "QueryVotes",
    "RatingSums",
    "Repeated",
    "Resamples",
    "Scores",
    "TriadCounts",
    "agreed",
    "agreement",
    "agreement_matrix",
    "alpha_of_table",
    "both_orders",
    "chi_square",
    "cohen_kappa",
    "count_triads",
    "errors_of_answers",
    "errors_of_lists",
    "fleiss_kappa",
    "from_judgments",
    "from_scores",
    "grouped_sums",
    "gwet_ac1",
    "gwet_ac1_of_table",
    "joined",
    "krippendorff_alpha",
    "left_bias",
    "list_similarity",
    "pair_tables",
    "permute_queries",
    "rating_sums",
    "rbo_matrix",
    "repeated",
    "resamples",
    "rest_counts",
    "same_assessors",
    "tau_b",
    "topk_scores",
]
