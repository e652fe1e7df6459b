"""Sessions of tool T3: every prefix replays, sides are balanced, no pair is repeated."""

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.errors import Conflict, Invalid, NothingToRedo, NothingToUndo, OutOfTurn
from topkapi.app.domain.lists.plan import (
    ListPlan,
    ListRules,
    PairChoice,
    ShownList,
    SidedPair,
    plan_lists,
    unordered,
)
from topkapi.app.domain.lists.session import (
    AskingLists,
    ListAnswer,
    ListComparison,
    ListsCompared,
    ListSession,
)
from topkapi.app.domain.log import Entry, EntryKind, answer, effective

KINDS = st.sampled_from(PairChoice)


def lists_of(systems: int, depth: int = 4) -> list[ShownList]:
    """Return distinct rankings: each starts with another page."""
    pages = list(range(100, 100 + max(systems, depth)))
    return [
        ShownList(number + 1, f"s{number}", tuple(pages[number:] + pages[:number])[:depth])
        for number in range(systems)
    ]


def make_plan(
    choice: PairChoice, systems: int = 5, size: int | None = None, seed: str = "s"
) -> ListPlan:
    rules = ListRules(choice, size=size if choice is not PairChoice.RANDOM else size or 4)
    return plan_lists(lists_of(systems), rules, seed, query="q")


def answer_to(
    session: ListSession, what: ListAnswer = ListAnswer.LEFT
) -> Entry[ListComparison[int]]:
    state = session.state
    assert isinstance(state, AskingLists)
    return answer(ListComparison(state.left.id, state.right.id, what))


def offer(session: ListSession, pick: int = 0) -> None:
    """Choose a pair if one is needed, as the service does."""
    if session.needs_pair:
        free = [pair for pair in session.plan.pairs if pair not in session.asked]
        session.ask(free[pick % len(free)])


steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(ListAnswer), st.integers(0, 99)),
        st.sampled_from([EntryKind.UNDO, EntryKind.REDO]),
    ),
    max_size=25,
)


@given(choice=KINDS, moves=steps, seed=st.text(max_size=8))
def test_every_prefix_of_a_log_replays_to_the_question_asked_next(
    choice: PairChoice, moves: list[Any], seed: str
) -> None:
    plan = make_plan(choice, seed=seed)
    live = ListSession(plan)
    offer(live)
    log: list[Entry[ListComparison[int]]] = []
    for move in moves:
        try:
            if isinstance(move, tuple):
                if isinstance(live.state, ListsCompared):
                    continue
                entry = answer_to(live, move[0])
            else:
                entry = Entry(move)
            live.append(entry)
        except (NothingToUndo, NothingToRedo):
            continue
        log.append(entry)
        offer(live, move[1] if isinstance(move, tuple) else 0)
        again = ListSession(ListPlan.from_json(plan.as_json()), log, live.pending_question)
        assert again.state == live.state
        assert again.effective == live.effective == tuple(effective(log))
        assert (again.can_undo, again.can_redo) == (live.can_undo, live.can_redo)
        assert again.pending_question == live.pending_question
        assert again.asked == live.asked


@given(choice=KINDS, answers=st.lists(st.sampled_from(ListAnswer), min_size=1, max_size=4))
def test_undo_then_redo_changes_nothing_and_undo_asks_the_same_pair(
    choice: PairChoice, answers: list[ListAnswer]
) -> None:
    live = ListSession(make_plan(choice))
    shown = []
    for what in answers:
        offer(live)
        shown.append(live.state)
        live.append(answer_to(live, what))
    offer(live)
    before = live.state, live.effective
    for state in reversed(shown):
        live.append(Entry(EntryKind.UNDO))
        assert live.state == state
    for _ in shown:
        live.append(Entry(EntryKind.REDO))
    assert (live.state, live.effective) == before


def test_another_answer_after_undo_leads_to_the_pair_that_was_chosen_before() -> None:
    live = ListSession(make_plan(PairChoice.ACTIVE))
    offer(live, 3)
    live.append(answer_to(live))
    offer(live, 5)
    second = live.state
    live.append(Entry(EntryKind.UNDO))
    live.append(answer_to(live, ListAnswer.RIGHT_MUCH))
    assert not live.can_redo
    assert live.state == second


@given(choice=KINDS, systems=st.integers(2, 7), seed=st.text(max_size=8))
def test_no_pair_comes_twice_and_sides_are_even(
    choice: PairChoice, systems: int, seed: str
) -> None:
    live = ListSession(make_plan(choice, systems, seed=seed))
    turned = 0
    while isinstance(state := live.state, AskingLists):
        turned += state.left.id > state.right.id
        live.append(answer_to(live))
        offer(live)
        if live.answered % 2 == 0:
            assert turned * 2 == live.answered
    pairs = [unordered((each.left, each.right)) for each in live.effective]
    assert len(set(pairs)) == len(pairs) == live.plan.size
    if choice is not PairChoice.RANDOM:
        assert len(pairs) == systems * (systems - 1) // 2


@given(
    choice=KINDS,
    size=st.integers(1, 9),
    people=st.integers(1, 8),
    picks=st.lists(st.integers(0, 99), min_size=40, max_size=40),
)
def test_without_repeats_no_two_people_are_asked_the_same(
    choice: PairChoice, size: int, people: int, picks: list[int]
) -> None:
    rules = ListRules(choice, size=size)
    taken: Counter[SidedPair] = Counter()
    reserved = 0
    at_work: list[ListSession] = []
    for person in range(people):
        try:
            plan = plan_lists(
                lists_of(5), rules, str(person), query="q", taken=taken, reserved=reserved
            )
        except Conflict:
            assert reserved == 10, "all pairs are assigned"
            break
        live = ListSession(plan)
        at_work.append(live)
        reserved += plan.size
        taken += Counter(live.asked)
    for pick in picks * 2:
        live = at_work[pick % len(at_work)]
        if live.needs_pair:
            free = [pair for pair in live.plan.pairs if pair not in taken]
            live.ask(free[pick % len(free)])
            taken[free[pick % len(free)]] += 1
        elif isinstance(live.state, AskingLists):
            live.append(answer_to(live))
    assert max(taken.values()) == 1


def test_with_repeats_everyone_is_asked_everything() -> None:
    rules = ListRules(repeats=True)
    everything = list(combinations(range(1, 6), 2))
    plan = plan_lists(lists_of(5), rules, "b", query="q", taken=everything, reserved=10)
    assert sorted(plan.pairs) == everything


def test_lists_that_cannot_be_compared_ask_nothing() -> None:
    same = [ShownList(1, "a", (1, 2, 3)), ShownList(2, "b", (1, 2, 4))]
    for lists in ([], lists_of(1), same):
        for choice in PairChoice:
            plan = plan_lists(lists, ListRules(choice, size=2, depth=2), "", query="q7")
            assert (plan.size, plan.pairs) == (0, ())
            assert not ListSession(plan).state.shown
    assert plan_lists(same, ListRules(depth=3), "", query="q7").size == 1
    with pytest.raises(Invalid, match="needs a size"):
        ListRules(PairChoice.RANDOM)
    with pytest.raises(Invalid, match="at least 1"):
        ListRules(size=0)


def test_an_answer_about_other_lists_is_refused() -> None:
    live = ListSession(make_plan(PairChoice.ALL))
    state = live.state
    assert isinstance(state, AskingLists)
    with pytest.raises(OutOfTurn):
        live.append(answer(ListComparison(state.right.id, state.left.id, ListAnswer.SAME)))
    while isinstance(live.state, AskingLists):
        last = answer_to(live)
        live.append(last)
    with pytest.raises(OutOfTurn, match="finished"):
        live.append(last)


def test_only_the_depth_is_shown() -> None:
    plan = plan_lists(lists_of(3), ListRules(depth=2), "", query="q")
    assert {len(each.documents) for each in plan.lists} == {2}
    assert set(plan.as_json()["order"]) == {100, 101, 102, 103}
