"""The result of a session, computed from its recorded answers without replaying its questions.

A recorded answer was validated against its question when it was given. So the sorter run can take
all effective answers at once, as undo does; sides, checks and progress are not computed. This is
many times faster than rebuilding a session, for callers that read thousands of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from topkapi.app.domain.grades.session import UNJUDGEABLE, GradePlan, Grading
from topkapi.app.domain.log import answer
from topkapi.app.domain.pairs.answers import ItemId, Judgment
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Finished, PairSession, Result, result_of
from topkapi.app.domain.pairs.sorter_strategy import sorter_run_after
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.pairs.strategy import Done, step_from_json


def outcome(
    plan: Plan,
    done: Sequence[Judgment],
    *,
    undone: int = 0,
    pending_question: Mapping[str, Any] | None = None,
) -> Result | None:
    """Return the ground truth that the effective answers lead to; None if unfinished.

    ``undone`` is the number of answers that can be redone. ``pending_question`` is stored for
    a sampled sorter, for which the last undone answer is asked again.
    """
    if plan.together:
        end = team_end(plan, pending_question)
        return None if end is None else end.result
    if SORTERS[plan.sorter].sampled:
        return None if undone else _sampled(plan, done, pending_question)
    try:
        next(sorter_run_after(plan, done))
    except StopIteration as stop:
        return result_of(plan, done, Done(stop.value))
    return None


def team_end(plan: Plan, pending_question: Mapping[str, Any] | None) -> Finished | None:
    """Return the list of a team as it is stored with each member; None if it is unfinished."""
    step = None if pending_question is None else step_from_json(pending_question)[1]
    return Finished(result_of(plan, (), step), step.confidence) if isinstance(step, Done) else None


def _sampled(
    plan: Plan, done: Sequence[Judgment], pending_question: Mapping[str, Any] | None
) -> Result | None:
    """Return the result stored with the last answer, or compute it by sampling again."""
    if pending_question is not None:
        after, step = step_from_json(pending_question)
        if after == len(done):
            return result_of(plan, done, step) if isinstance(step, Done) else None
    state = PairSession(plan, map(answer, done)).state
    return state.result if isinstance(state, Finished) else None


def grades_given(plan: GradePlan, done: Sequence[Grading]) -> dict[ItemId, int] | None:
    """Return the effective grades by page, counted from 0; None while one is missing."""
    if len(done) < len(plan.order):
        return None
    levels = {name: level for level, name in enumerate(plan.grades)}
    return {each.document: levels[each.grade] for each in done if each.grade != UNJUDGEABLE}
