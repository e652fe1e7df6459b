"""Robust sessions: replay, undo, redo, removal, ties, resume, budgets, early ends, forks."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.domain.people import answer_all, answer_once, answering_at_random, truthful
from tests.domain.test_session import random_session
from tests.strategies import orders, seeds
from topkapi.app.domain.errors import Invalid, OutOfTurn
from topkapi.app.domain.log import Entry, EntryKind, answer
from topkapi.app.domain.pairs.answers import Answer, Judgment, Question
from topkapi.app.domain.pairs.confidence import ListConfidence
from topkapi.app.domain.pairs.list_confidence import confidence_in, confidence_of
from topkapi.app.domain.pairs.plan import BOUNDS, Plan
from topkapi.app.domain.pairs.session import Asking, Finished, PairSession
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.study import SETTINGS, StudySettings

UNDO: Entry[Judgment] = Entry(EntryKind.UNDO)
REDO: Entry[Judgment] = Entry(EntryKind.REDO)


@st.composite
def robust_plans(draw: st.DrawFn) -> Plan:
    order = draw(orders(8))
    guide = tuple(map(float, range(len(order))))
    return Plan(
        order=order,
        guide=draw(st.sampled_from([(), (), guide])),
        k=draw(st.integers(1, 6)),
        sorter="robust",
        budget=draw(st.integers(1, 14)),
        pair_limit=draw(st.sampled_from([1, 1, 2])),
        stop_at=draw(st.sampled_from([None, None, 0.7])),
        check_share=draw(st.sampled_from([0.0, 0.0, 0.5])),
        seed=draw(seeds),
    )


@pytest.mark.thorough
@settings(max_examples=30)
@given(plan=robust_plans(), random=st.randoms(use_true_random=False), steps=st.integers(0, 24))
def test_a_replay_of_the_recorded_pairs_is_in_the_same_state(
    plan: Plan, random: Random, steps: int
) -> None:
    alive, log = random_session(plan, random, steps)
    rebuilt = PairSession(plan, log)
    assert rebuilt.state == alive.state
    assert rebuilt.effective == alive.effective
    assert rebuilt.pending_question == alive.pending_question
    assert rebuilt.progress == alive.progress
    resumed = PairSession(plan, log, alive.pending_question)
    assert resumed.state == alive.state


@pytest.mark.thorough
@settings(max_examples=20)
@given(plan=robust_plans(), random=st.randoms(use_true_random=False), steps=st.integers(1, 20))
def test_undo_then_redo_is_the_identity(plan: Plan, random: Random, steps: int) -> None:
    session, _ = random_session(plan, random, steps)
    assume(session.can_undo)
    before, effective_before = session.state, session.effective
    back = random.randint(1, session.answered)
    for _ in range(back):
        session.append(UNDO)
        undone = effective_before[session.answered]
        assert session.state == Asking(undone.question), "the pair of the undone answer is back"
    for _ in range(back):
        session.append(REDO)
    assert (session.state, session.effective) == (before, effective_before)


@pytest.mark.thorough
@settings(max_examples=20)
@given(plan=robust_plans(), random=st.randoms(use_true_random=False))
def test_a_fork_goes_its_own_way_and_the_session_stays(plan: Plan, random: Random) -> None:
    session, log = random_session(plan, random, 6)
    before = session.state
    twin = session.fork()
    assert twin.state == before
    if not answer_once(twin, answering_at_random(random)):
        return
    assert twin.last is not None
    rebuilt = PairSession(plan, [*log, twin.last])
    assert twin.state == rebuilt.state
    assert session.state == before
    session.append(twin.last)
    assert session.state == twin.state


@pytest.mark.thorough
@settings(max_examples=20)
@given(plan=robust_plans(), random=st.randoms(use_true_random=False))
def test_pages_taken_out_are_gone_and_no_pair_is_asked_too_often(
    plan: Plan, random: Random
) -> None:
    session = PairSession(plan)
    chooses = answering_at_random(random, removals=0.25)
    out: set[int] = set()
    sorts: Counter[frozenset[int]] = Counter()

    def person(question: Question) -> Answer:
        assert not {question.left, question.right} & out
        chosen = chooses(question)
        if question.kind.value == "sort":
            sorts[frozenset((question.left, question.right))] += 1
        removed = Judgment(question.kind, question.left, question.right, chosen).removed
        out.update(() if removed is None else (removed,))
        return chosen

    answer_all(session, person)
    assert max(sorts.values(), default=0) <= plan.pair_limit
    assert sum(sorts.values()) <= plan.most_questions
    state = session.state
    assert isinstance(state, Finished)
    result = state.result
    assert {*result.bad, *result.unjudgeable} == out
    assert not set(result.ranking) & out
    assert len(result.ranking) == min(plan.k, len(plan.order) - len(out))
    assert sorted((*result.ranking, *result.rest, *out)) == sorted(plan.order)


def test_progress_is_exact_with_a_budget() -> None:
    plan = Plan(tuple(range(12)), 4, "robust", budget=20, seed="p")
    session = PairSession(plan)
    person = truthful({item: float(item) for item in plan.order})
    for left in range(20, 0, -1):
        progress = session.progress
        assert (progress.expected_left, progress.low, progress.high) == (left, left, left)
        assert progress.quality is None
        assert answer_once(session, person)
    assert session.progress.expected_left == 0
    assert isinstance(session.state, Finished)


def test_an_early_end_tells_its_quality_and_comes_once_it_is_reached() -> None:
    plan = Plan(tuple(range(12)), 4, "robust", budget=60, stop_at=0.9, seed="e")
    session = PairSession(plan)
    person = truthful({item: float(item * 5 % 13) for item in plan.order})
    qualities = []
    while isinstance(session.state, Asking):
        progress = session.progress
        assert progress.quality is not None
        assert (progress.low, progress.high) == (1, 60 - session.answered)
        qualities.append(progress.quality)
        answer_once(session, person)
    assert 10 < session.answered < 60
    assert qualities[-1] > qualities[0] + 0.2
    assert confidence_of(plan, session.effective).quality >= 0.9


def test_pairs_can_run_out_before_the_budget() -> None:
    plan = Plan((5, 6, 7), 2, "robust", budget=50, seed="s")
    session = PairSession(plan)
    assert session.progress.expected_left == 3
    assert answer_all(session, truthful({5: 1.0, 6: 2.0, 7: 3.0})) == 3
    state = session.state
    assert isinstance(state, Finished)
    assert state.result.ranking == (7, 6)


def test_neighbours_called_equal_form_a_group() -> None:
    plan = Plan((1, 2, 3), 3, "robust", budget=3, seed="t")
    session = PairSession(plan)
    answer_all(session, truthful({1: 1.0, 2: 1.0, 3: 2.0}))
    state = session.state
    assert isinstance(state, Finished)
    assert sorted(map(len, state.result.groups)) == [1, 2]
    assert state.result.groups[0] == (3,)


def test_a_careful_assessor_is_understood() -> None:
    plan = Plan(tuple(range(20)), 5, "robust", seed="c", pair_limit=2)
    session = PairSession(plan)
    answer_all(session, truthful({item: float(item * 7 % 23) for item in plan.order}))
    state = session.state
    assert isinstance(state, Finished)
    assert session.answered == heap_questions(20, 5)
    best = sorted(plan.order, key=lambda item: -(item * 7 % 23))
    assert state.result.ranking[0] == best[0]
    assert len(set(state.result.ranking) & set(best[:5])) >= 4


def test_the_first_question_needs_no_sampling() -> None:
    for seed in ("a", "b", "c"):
        state = PairSession(Plan((9, 4, 7, 1), 2, "robust", seed=seed)).state
        assert isinstance(state, Asking)
        assert {state.question.left, state.question.right} == {9, 4}


def test_an_answer_to_another_pair_is_refused_unless_it_is_recorded() -> None:
    plan = Plan(tuple(range(6)), 2, "robust", seed="s")
    other = answer(Judgment(PairSession(plan).state.question.kind, 4, 5, Answer.LEFT))  # type: ignore[union-attr]
    session = PairSession(plan)
    with pytest.raises(OutOfTurn):
        session.append(other)
    assert session.length == 0
    assert PairSession(plan, [other]).answered == 1, "on another machine it was asked"


@pytest.mark.thorough
def test_the_posterior_of_a_heap_session_stands_beside_its_list() -> None:
    plan = Plan(tuple(range(14)), 4, "heap", seed="h")
    session = PairSession(plan)
    answer_all(session, truthful({item: float(item * 5 % 17) for item in plan.order}))
    state = session.state
    assert isinstance(state, Finished)
    found = confidence_in(session)
    assert session.state == state
    assert found.answers == session.answered
    assert found.concluded_quality is not None
    assert 0 < found.concluded_quality <= found.quality + 1e-9 <= 1 + 1e-9
    assert [page.item for page in found.pages[:4]] == list(found.ranking)
    assert len(found.pages) <= 14
    assert len({page.item for page in found.pages}) == len(found.pages)
    assert all(1 <= page.low <= page.high <= 14 for page in found.pages)
    assert sum(page.in_top for page in found.pages) == pytest.approx(4, abs=0.01)
    assert found.ranking[0] == state.result.ranking[0]


def test_the_posterior_of_a_robust_session_is_its_own_conclusion() -> None:
    plan = Plan(tuple(range(10)), 3, "robust", seed="r")
    session = PairSession(plan)
    answer_all(session, truthful({item: float(item) for item in plan.order}))
    state = session.state
    assert isinstance(state, Finished)
    found = confidence_in(session)
    assert found == confidence_of(plan, session.effective, state.result.ranking)
    assert session.state == state
    assert found.ranking == state.result.ranking
    assert found.concluded_quality == pytest.approx(found.quality)


def test_a_study_fixes_the_budget_when_a_plan_is_made() -> None:
    plan = StudySettings(k=5, sorter="robust").plan(range(30), "seed")
    assert plan.budget == heap_questions(30, 5)
    assert Plan.from_json(plan.as_json()) == plan
    assert StudySettings(k=5).plan(range(30), "seed").budget is None
    named = StudySettings(k=5, sorter="robust", budget=12, stop_at=0.9, pair_limit=2)
    plan = named.plan(range(30), "seed")
    assert (plan.budget, plan.stop_at, plan.pair_limit) == (12, 0.9, 2)
    assert StudySettings.from_json(named.as_json()) == named


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("field", "value"), [("budget", 0), ("stop_at", 1.0), ("stop_at", 0.0), ("pair_limit", 0)]
)
def test_settings_that_cannot_be_are_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(Invalid) as refused:
        StudySettings(sorter="robust", **{field: value})  # type: ignore[arg-type]
    assert refused.value.field == field
    with pytest.raises(Invalid) as by_plan:
        Plan((1, 2), 1, sorter="robust", **{field: value})  # type: ignore[arg-type]
    assert str(by_plan.value) == str(refused.value)
    assert SETTINGS[field].bounds is BOUNDS[field]


@pytest.mark.thorough
def test_a_ranker_chooses_questions_and_the_list_follows_from_the_answers_alone() -> None:
    worth = {item: float(-item) for item in range(30)}
    alone = Plan(order=tuple(worth), k=4, sorter="robust", budget=25, seed="s")
    plan = replace(alone, guide=tuple(worth.values()))
    session, without = PairSession(plan), PairSession(alone)
    answer_all(session, truthful(worth))
    answer_all(without, truthful(worth))
    near, usual = (
        sum(item < 8 for each in one.effective for item in (each.left, each.right))
        for one in (session, without)
    )
    assert near > 1.25 * usual, "it asks about the pages that the ranker has at the top"
    end = session.state
    assert isinstance(end, Finished)
    assert end.confidence is not None
    ranking = confidence_of(alone, session.effective).ranking
    assert end.result.ranking == ranking, "the ranker has no part in it"
    assert (
        end.confidence.without_prior == confidence_of(alone, session.effective, ranking).kappa_ndcg
    )
    assert end.confidence.kappa_ndcg != end.confidence.without_prior
    assert ListConfidence.from_json(end.confidence.as_json()) == end.confidence


def test_a_guide_has_a_score_for_each_document() -> None:
    with pytest.raises(Invalid, match="score for each document"):
        Plan(order=(1, 2, 3), k=1, sorter="robust", guide=(0.5,))
