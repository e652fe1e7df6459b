"""Query-grouped data: readers and writers, top-k ground truth, normalisation, folds."""

from topkapi.analysis.data.exports import (
    read_confidence,
    read_consensus,
    read_judgments,
    read_letor_export,
    read_list_answers,
    read_pairs,
    read_preferences,
    read_qrels,
    read_reliability,
    read_timers,
    read_topk,
)
from topkapi.analysis.data.folds import Fold, make_folds, normalise_by_query, read_folds
from topkapi.analysis.data.letor import format_letor, parse_letor, read_letor, write_letor
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.synthetic import noisy_orders
from topkapi.analysis.data.topk import from_orders, full_order, to_topk, truth_order, truth_ranks

__all__ = [
    "Fold",
    "RankingData",
    "format_letor",
    "from_orders",
    "full_order",
    "make_folds",
    "noisy_orders",
    "normalise_by_query",
    "parse_letor",
    "read_confidence",
    "read_consensus",
    "read_folds",
    "read_judgments",
    "read_letor",
    "read_letor_export",
    "read_list_answers",
    "read_pairs",
    "read_preferences",
    "read_qrels",
    "read_reliability",
    "read_timers",
    "read_topk",
    "to_topk",
    "truth_order",
    "truth_ranks",
    "write_letor",
]
