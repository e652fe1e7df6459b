"""Consensus of several rankings of one query."""

from topkapi.analysis.aggregation.borda import borda_order
from topkapi.analysis.aggregation.consensus import (
    Consensus,
    consensus_lists,
    consensus_of,
    consensus_qrels,
    known_weights,
)
from topkapi.analysis.aggregation.kemeny import (
    kemeny_cost,
    kemeny_order,
    majority_table,
    supervised_kemeny,
    votes_of_scores,
)

__all__ = [
    "Consensus",
    "borda_order",
    "consensus_lists",
    "consensus_of",
    "consensus_qrels",
    "kemeny_cost",
    "kemeny_order",
    "known_weights",
    "majority_table",
    "supervised_kemeny",
    "votes_of_scores",
]
