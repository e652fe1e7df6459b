"""Tests of the reliability of members: intervals, pooling over queries, people at random."""

from math import log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.reliability import reliability_of
from topkapi.app.domain.pairs.robust.team import TeamStrategy
from topkapi.app.domain.pairs.strategy import AskPair

numbers = st.floats(-3, 3)
models = st.tuples(
    st.lists(numbers, min_size=5, max_size=5),
    st.lists(st.floats(0, 2), min_size=5, max_size=5),
    st.lists(st.floats(0, 0.5), min_size=1, max_size=1),
)


@given(st.lists(st.tuples(st.integers(1, 100), models), min_size=1, max_size=4))
def test_values_are_within_their_intervals_and_between_those_of_the_queries(
    found: list[tuple[int, tuple[list[float], list[float], list[float]]]],
) -> None:
    pooled = reliability_of(found)
    assert pooled is not None
    for value in (pooled.lapse, pooled.width, pooled.tie_width):
        assert value.low <= value.mean <= value.high
    assert pooled.answers == sum(answers for answers, _ in found)
    widths = [stored[0][1] for _, stored in found]
    assert min(widths) - 1e-2 <= log(max(pooled.width.mean, 1e-4)) <= max(widths) + 1e-2
    one = reliability_of(found[:1] * 4)
    alone = reliability_of(found[:1])
    assert one is not None
    assert alone is not None
    assert one.lapse.high - one.lapse.low <= alone.lapse.high - alone.lapse.low + 1e-3


def test_without_answers_nothing_is_known() -> None:
    assert reliability_of([]) is None


@pytest.mark.thorough
def test_who_answers_at_random_is_found_and_nobody_else() -> None:
    """Answer by the numbers of the pages in teams of four, but the last one by a coin."""
    found = [team_with_a_coin(seed) for seed in range(8)]
    assert [sum(each) for each in zip(*found, strict=True)][:3] == [0, 0, 0]
    assert sum(each[3] for each in found) >= 3  # about half, after so few answers


def team_with_a_coin(seed: int) -> list[bool]:
    """Return who of four members seems to answer at random after 35 answers each."""
    plan = Plan(tuple(range(30)), 5, "robust", seed=f"team/{seed}", budget=200, together=True)
    coin = Random(seed)
    given_answers: list[tuple[int, Judgment]] = []
    team = TeamStrategy(plan)
    for number in range(140):
        member = number % 4
        team.join(given_answers, member, [None] * 4, ())
        step = team.step()
        assert isinstance(step, AskPair)
        left, right = step.pair
        is_left = coin.random() < 0.5 if member == 3 else left < right
        answer = Answer.LEFT if is_left else Answer.RIGHT
        given_answers.append((member, Judgment(QuestionKind.SORT, left, right, answer)))
    team.join(given_answers, 0, [None] * 4, ())
    found = [reliability_of([(35, team.errors_of(member))]) for member in range(4)]
    return [each is not None and each.is_random for each in found]
