"""The strategy of each sorter."""

from topkapi.app.domain.pairs.pair_list import PairListStrategy
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorter_strategy import SorterStrategy
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.pairs.strategy import Strategy


def strategy_for(plan: Plan) -> Strategy:
    """Return a new strategy: for the plan's pairs, if it has any, or for its sorter."""
    if plan.pairs:
        return PairListStrategy(plan)
    if SORTERS[plan.sorter].sampled:
        from topkapi.app.domain.pairs.robust.strategy import RobustStrategy  # loads NumPy

        return RobustStrategy(plan)
    return SorterStrategy(plan)
