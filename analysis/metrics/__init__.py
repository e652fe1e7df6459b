"""Measures of rankings.

``evaluate(data, scores, ["ndcg@10", "kappa-err"])`` scores query-grouped data; names are listed by
``MEASURES``. For lists whose items' true ranks are known (simulations),
``kappa_ndcg_of_lists(ranks, k)`` gives kappa-NDCG@k per run from an integer array (runs, length) of
true ranks, 0 = best.
"""

from topkapi.analysis.metrics.gains import Gains, load_gains, usual_gains
from topkapi.analysis.metrics.kappa import kappa_ndcg_of_lists, topk_gains
from topkapi.analysis.metrics.registry import LOSSES, MEASURES, evaluate, measure, usual_names

__all__ = [
    "LOSSES",
    "MEASURES",
    "Gains",
    "evaluate",
    "kappa_ndcg_of_lists",
    "load_gains",
    "measure",
    "topk_gains",
    "usual_gains",
    "usual_names",
]
