"""Questions beside the sorter's: pairs asked again with sides swapped, and gold pairs.

The sorter does not use the answers.
"""

from collections.abc import Sequence

from topkapi.app.domain.draws import draw_below, draw_fraction, draw_integer, shuffled
from topkapi.app.domain.pairs.answers import Judgment, Question, QuestionKind
from topkapi.app.domain.pairs.plan import Plan


def due_check(plan: Plan, done: Sequence[Judgment], answered: int) -> Question | None:
    """Return the check to ask after the answers ``done``; None if no check is due.

    ``answered`` is the number of sorting answers among them.
    """
    if plan.check_share == 0 or not done or done[-1].kind is QuestionKind.CHECK:
        return None
    if draw_fraction(plan.seed, "check", answered) >= plan.check_share:
        return None
    pairs = _unchecked(done)
    if not pairs:
        return None
    left, right = pairs[draw_below(len(pairs), plan.seed, "checked pair", answered)]
    return Question(QuestionKind.CHECK, left=right, right=left)


def due_attention(plan: Plan, done: Sequence[Judgment], answered: int) -> Question | None:
    """Return the gold pair to ask after the answers ``done``; None if none is due.

    Gold pairs are asked in an order drawn from the seed, each once, without removed pages.
    """
    every = plan.attention_every
    if not every or not answered or answered % every or done[-1].kind is not QuestionKind.SORT:
        return None
    gone = {judgment.removed for judgment in done}
    asked = {
        frozenset((judgment.left, judgment.right))
        for judgment in done
        if judgment.kind is QuestionKind.ATTENTION
    }
    for first, second in shuffled(plan.gold, plan.seed, "attention"):
        if frozenset((first, second)) not in asked and not {first, second} & gone:
            swapped = draw_integer(plan.seed, "attention sides", answered) & 1
            pair = (second, first) if swapped else (first, second)
            return Question(QuestionKind.ATTENTION, *pair)
    return None


def _unchecked(done: Sequence[Judgment]) -> list[tuple[int, int]]:
    """Return the pairs that can be checked, with their original sides.

    These are all but the latest pair, not checked yet, and without removed pages.
    """
    removed = {judgment.removed for judgment in done}
    checked = {
        frozenset((judgment.left, judgment.right))
        for judgment in done
        if judgment.kind is QuestionKind.CHECK
    }
    return [
        (judgment.left, judgment.right)
        for judgment in done[:-1]
        if judgment.kind is QuestionKind.SORT
        and judgment.answer.is_preference
        and frozenset((judgment.left, judgment.right)) not in checked
        and not {judgment.left, judgment.right} & removed
    ]


def self_consistency(done: Sequence[Judgment]) -> tuple[int, int]:
    """Return the number of checks answered by a preference, and how many agreed."""
    first: dict[tuple[int, int], Judgment] = {}
    checks = agreed = 0
    for judgment in done:
        if not judgment.answer.is_preference:
            continue
        if judgment.kind is QuestionKind.SORT:
            first.setdefault((judgment.left, judgment.right), judgment)
        elif judgment.kind is not QuestionKind.CHECK:
            continue
        elif original := first.get((judgment.right, judgment.left)):
            checks += 1
            agreed += judgment.answer.preference() is original.answer.preference().swapped()
    return checks, agreed
