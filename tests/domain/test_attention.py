"""Questions of attention: interleaved, replayed, and used by no sorter."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.outcome import outcome
from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Asking, Finished, PairSession, Result

ORDER = tuple(range(1, 9))
GOLD = ((1, 2), (5, 3), (8, 7), (2, 6))
Log = list[Entry[Judgment]]


def judged(plan: Plan, marks_gold: bool) -> tuple[Log, Result]:
    """Judge by number; with ``marks_gold`` call the left page bad whenever attention is tested."""
    session, log = PairSession(plan), Log()
    while isinstance(state := session.state, Asking):
        asked = state.question
        answer = Answer.LEFT if asked.left > asked.right else Answer.RIGHT
        if marks_gold and asked.kind is QuestionKind.ATTENTION:
            answer = Answer.LEFT_BAD
        log.append(Entry(EntryKind.ANSWER, Judgment(asked.kind, asked.left, asked.right, answer)))
        session.append(log[-1])
    assert isinstance(session.state, Finished)
    return log, session.state.result


def kinds(log: Log) -> list[QuestionKind]:
    return [entry.judgment.kind for entry in log if entry.judgment is not None]


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["heap", "tournament", "insertion", "buckets"]),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.4]),
    st.booleans(),
)
def test_attention_changes_nothing_but_the_log(
    sorter: str, every: int, checks: float, marks: bool
) -> None:
    without = Plan(ORDER, 3, sorter=sorter, check_share=checks, seed="s")
    plan = Plan(
        ORDER, 3, sorter=sorter, check_share=checks, seed="s", attention_every=every, gold=GOLD
    )
    plain, result = judged(without, marks)
    log, same = judged(plan, marks)
    done = [entry.judgment for entry in log if entry.judgment is not None]
    sorting = [each for each in done if each.kind is QuestionKind.SORT]
    assert sorting == [entry.judgment for entry in plain if kinds([entry]) == [QuestionKind.SORT]]
    assert same == result == outcome(plan, done)
    gold = [
        frozenset((each.left, each.right)) for each in done if each.kind not in ("sort", "check")
    ]
    assert set(gold) <= {frozenset(pair) for pair in GOLD}
    assert len(set(gold)) == len(gold) == min(len(GOLD), (len(sorting) - 1) // every)
    assert Plan.from_json(plan.as_json()) == plan
    session = PairSession(plan, log)
    for undone in range(1, len(log) + 1):
        session.append(Entry(EntryKind.UNDO))
        assert session.state == PairSession(plan, log[:-undone]).state


def test_a_sampled_sorter_does_not_use_it_either() -> None:
    plan = Plan(
        ORDER,
        2,
        sorter="robust",
        sorter_version=2,
        budget=9,
        seed="s",
        attention_every=3,
        gold=GOLD,
    )
    log, result = judged(plan, marks_gold=True)
    assert kinds(log).count(QuestionKind.ATTENTION) == 2
    assert result.bad == ()
    assert outcome(plan, [each.judgment for each in log if each.judgment is not None]) == result


def test_plans_without_attention_are_stored_as_before() -> None:
    assert not {"attention_every", "gold", "pairs"} & set(Plan(ORDER, 3).as_json())
    with pytest.raises(Exception, match="attention_every is -1"):
        Plan(ORDER, 3, attention_every=-1)
