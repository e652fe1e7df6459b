"""Measures of rankings.

``evaluate(data, scores, ["ndcg@10", "kappa-err"])`` scores query-grouped data; names are listed by
``MEASURES``. For lists whose items' true ranks are known (simulations),
``kappa_ndcg_of_lists(ranks, k)`` gives kappa-NDCG@k per run from an integer array (runs, length) of
true ranks, 0 = best. ``evaluate_prefs`` has trec_eval's measures of preferences.
"""

from topkapi.analysis.metrics.gains import Gains, load_gains, usual_gains
from topkapi.analysis.metrics.kappa import kappa_ndcg_of_lists, topk_gains
from topkapi.analysis.metrics.prefs import PREFS_MEASURES, evaluate_prefs, prefs_summary
from topkapi.analysis.metrics.registry import LOSSES, MEASURES, evaluate, measure, usual_names

__all__ = [
    "LOSSES",
    "MEASURES",
    "PREFS_MEASURES",
    "Gains",
    "evaluate",
    "evaluate_prefs",
    "kappa_ndcg_of_lists",
    "load_gains",
    "measure",
    "prefs_summary",
    "topk_gains",
    "usual_gains",
    "usual_names",
]
