"""What the answers of any session make probable, whichever sorter asked for them.

It stands beside the list that the assessor's sorter concluded, and never in its place.
"""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.confidence import ListConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.page_confidence import confidence_from
from topkapi.app.domain.pairs.robust.strategy import RobustStrategy
from topkapi.app.domain.pairs.session import Finished, PairSession


def confidence_in(session: PairSession) -> ListConfidence:
    """What the answers that stand in ``session`` make probable, finished or not.

    It takes some two milliseconds an answer, unless the session's own sorter is `robust`: that has
    said how sure it is when it ended, or has its chains alive.
    """
    state, strategy = session.state, session.strategy
    if isinstance(state, Finished) and state.confidence is not None:
        return state.confidence
    concluded = state.result.ranking if isinstance(state, Finished) else ()
    if isinstance(strategy, RobustStrategy):
        return confidence_from(strategy.conclude(), session.plan, session.effective, concluded)
    return confidence_of(session.plan, session.effective, concluded)


def confidence_of(
    plan: Plan, judgments: Sequence[Judgment], concluded: Sequence[ItemId] = ()
) -> ListConfidence:
    """What ``judgments``, the answers that stand in a session of ``plan``, make probable.

    ``concluded`` is the list the session ended with, if it did. Checks count as answers.
    """
    strategy = RobustStrategy(plan)
    done: list[Judgment] = []
    for judgment in judgments:
        done.append(judgment)
        strategy.take(judgment, done)
    return confidence_from(strategy.conclude(), plan, judgments, concluded)
