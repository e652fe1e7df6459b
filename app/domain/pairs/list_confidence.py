"""Confidence in the list of any session, whichever sorter asked the questions.

It is reported beside the list that the session's sorter returned, and never replaces it.
"""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.confidence import ListConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.conclusion import confidence_from
from topkapi.app.domain.pairs.robust.strategy import RobustStrategy
from topkapi.app.domain.pairs.session import Finished, PairSession, without_attention


def confidence_in(session: PairSession) -> ListConfidence:
    """Return the confidence given the effective answers of ``session``, finished or not.

    This takes about two milliseconds per answer, unless the session's own sorter is `robust`: then
    the confidence was stored at the end of the session, or the chains are in memory.
    """
    state, strategy = session.state, session.strategy
    used = without_attention(session.effective)
    if isinstance(state, Finished) and state.confidence is not None:
        if state.confidence.kappa_ndcg is not None:
            return state.confidence
        # Stored by version 1: its list stays, its quality is stated by the present model.
        return confidence_of(session.plan, used, state.result.ranking)
    concluded = state.result.ranking if isinstance(state, Finished) else ()
    if isinstance(strategy, RobustStrategy):
        return confidence_from(strategy.conclude(), session.plan, used, concluded)
    return confidence_of(session.plan, used, concluded)


def confidence_of(
    plan: Plan, judgments: Sequence[Judgment], concluded: Sequence[ItemId] = ()
) -> ListConfidence:
    """Return the confidence given ``judgments``, the effective answers of a session of ``plan``.

    ``concluded`` is the list of the finished session, if it is finished. Checks count as answers.
    """
    strategy = RobustStrategy(plan)
    done: list[Judgment] = []
    for judgment in judgments:
        done.append(judgment)
        strategy.take(judgment, done)
    return confidence_from(strategy.conclude(), plan, judgments, concluded)
