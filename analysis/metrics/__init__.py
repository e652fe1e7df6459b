"""Measures of rankings.

For lists whose items' true ranks are known (simulations): ``kappa_ndcg_of_lists(ranks, k)`` gives
kappa-NDCG@k per run from an integer array (runs, length) of true ranks, 0 = best.
"""

from analysis.metrics.kappa import kappa_ndcg_of_lists

__all__ = ["kappa_ndcg_of_lists"]
