"""What came of a session, told from its recorded answers without asking its questions again.

A recorded answer was held against its question when it was given. So the contest can be handed all
answers that stand at once, which is what undo does too; sides, checks and progress are not worked
out. This is many times quicker than a session, for those who read thousands of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from topkapi.app.domain.grades.session import UNJUDGEABLE, GradePlan, Grading
from topkapi.app.domain.log import answer
from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.pending_question import step_from_json
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Finished, PairSession, Result, result_of
from topkapi.app.domain.pairs.sorter_strategy import sorter_run_after
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.pairs.strategy import Done


def outcome(
    plan: Plan,
    done: Sequence[Judgment],
    *,
    undone: int = 0,
    offered: Mapping[str, Any] | None = None,
) -> Result | None:
    """The ground truth that the answers that stand have led to; None while there is none.

    ``undone`` answers wait for a redo; ``offered`` is what was stored where questions are sampled,
    and then the answer taken back last is asked again.
    """
    if SORTERS[plan.sorter].sampled:
        return None if undone else _sampled(plan, done, offered)
    try:
        next(sorter_run_after(plan, done))
    except StopIteration as stop:
        return result_of(plan, done, stop.value)
    return None


def _sampled(
    plan: Plan, done: Sequence[Judgment], offered: Mapping[str, Any] | None
) -> Result | None:
    """The same from what was stored with the last answer, or by sampling once more."""
    if offered is not None:
        after, step = step_from_json(offered)
        if after == len(done):
            return result_of(plan, done, step.ranking) if isinstance(step, Done) else None
    state = PairSession(plan, map(answer, done)).state
    return state.result if isinstance(state, Finished) else None


def grades_given(plan: GradePlan, done: Sequence[Grading]) -> dict[ItemId, int] | None:
    """The grades that stand, from 0, by page; None while a page waits for one."""
    if len(done) < len(plan.order):
        return None
    steps = {name: step for step, name in enumerate(plan.grades)}
    return {each.document: steps[each.grade] for each in done if each.grade != UNJUDGEABLE}
