"""Consensus of several rankings of one query."""

from topkapi.analysis.aggregation.adjudication import open_pairs
from topkapi.analysis.aggregation.bradley_terry import (
    PairCounts,
    Worths,
    bradley_terry,
    pair_counts,
    worth_intervals,
)
from topkapi.analysis.aggregation.consensus import (
    BRADLEY_TERRY,
    KEMENY,
    METHODS,
    Consensus,
    Method,
    bradley_terry_consensus,
    consensus_lists,
    consensus_of,
    consensus_qrels,
    known_weights,
)
from topkapi.analysis.voting import (
    borda_order,
    kemeny_cost,
    kemeny_order,
    local_kemenization,
    majority_table,
    supervised_kemeny,
    votes_of_scores,
)

__all__ = [
    "BRADLEY_TERRY",
    "KEMENY",
    "METHODS",
    "Consensus",
    "Method",
    "PairCounts",
    "Worths",
    "borda_order",
    "bradley_terry",
    "bradley_terry_consensus",
    "consensus_lists",
    "consensus_of",
    "consensus_qrels",
    "kemeny_cost",
    "kemeny_order",
    "known_weights",
    "local_kemenization",
    "majority_table",
    "open_pairs",
    "pair_counts",
    "supervised_kemeny",
    "votes_of_scores",
    "worth_intervals",
]
