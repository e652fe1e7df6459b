"""Sessions: replay, undo and redo, removed pages, checks, sides."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.domain.people import answer_all, answer_once, answering_at_random, truthful
from tests.strategies import plans
from topkapi.app.domain.errors import AnswerNotAllowed, OutOfTurn
from topkapi.app.domain.log import Entry, EntryKind, answer, effective
from topkapi.app.domain.outcome import outcome
from topkapi.app.domain.pairs.answers import Answer, Judgment, Preference, Question, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Asking, Finished, PairSession, Result
from topkapi.app.domain.pairs.sorters.ranking import singly, with_ties_grouped
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.pairs.strategy import AskPair

UNDO: Entry[Judgment] = Entry(EntryKind.UNDO)
REDO: Entry[Judgment] = Entry(EntryKind.REDO)


def random_session(
    plan: Plan, random: Random, steps: int
) -> tuple[PairSession, list[Entry[Judgment]]]:
    """Return a session after random answers, removals, undos and redos, and its log."""
    session = PairSession(plan)
    log: list[Entry[Judgment]] = []
    person = answering_at_random(random)
    for _ in range(steps):
        draw = random.random()
        if draw < 0.15 and session.can_undo:
            session.append(UNDO)
        elif draw < 0.25 and session.can_redo:
            session.append(REDO)
        elif not answer_once(session, person):
            if not session.can_undo:
                break
            session.append(UNDO)
        assert session.last is not None
        log.append(session.last)
    return session, log


def result_of(session: PairSession) -> Result:
    state = session.state
    assert isinstance(state, Finished)
    return state.result


@given(plan=plans(), random=st.randoms(use_true_random=False), steps=st.integers(0, 60))
def test_every_prefix_of_a_log_replays_to_the_same_question(
    plan: Plan, random: Random, steps: int
) -> None:
    _, log = random_session(plan, random, steps)
    alive = PairSession(plan)
    for length in range(len(log) + 1):
        rebuilt = PairSession(plan, log[:length])
        assert rebuilt.state == alive.state
        assert rebuilt.effective == tuple(effective(log[:length])) == alive.effective
        assert (rebuilt.can_undo, rebuilt.can_redo) == (alive.can_undo, alive.can_redo)
        if length < len(log):
            alive.append(log[length])


@given(plan=plans(), random=st.randoms(use_true_random=False), steps=st.integers(0, 40))
def test_undo_then_redo_is_the_identity(plan: Plan, random: Random, steps: int) -> None:
    session, _ = random_session(plan, random, steps)
    assume(session.can_undo)
    before, answers = session.state, session.effective
    back = random.randint(1, session.answered)
    for _ in range(back):
        session.append(UNDO)
    assert session.effective == answers[: len(answers) - back]
    for _ in range(back):
        session.append(REDO)
    assert (session.state, session.effective) == (before, answers)


@given(
    plan=plans(),
    random=st.randoms(use_true_random=False),
    grades=st.sampled_from([2, 4, 1000]),
    removals=st.sampled_from([0.0, 0.05, 0.3]),
)
def test_the_result_is_a_correct_top_k_of_the_pages_that_remain(
    plan: Plan, random: Random, grades: int, removals: float
) -> None:
    worth = {item: float(random.randrange(grades)) for item in plan.order}
    honest, wild = truthful(worth), answering_at_random(random, removals=1.0)

    def person(question: Question) -> Answer:
        return wild(question) if random.random() < removals else honest(question)

    session = PairSession(plan)
    answer_all(session, person)
    result = result_of(session)
    out = {*result.bad, *result.unjudgeable}
    remaining = sorted((worth[item] for item in plan.order if item not in out), reverse=True)
    assert [worth[item] for item in result.ranking] == remaining[: plan.k]
    parts = [*result.ranking, *result.rest, *out]
    assert sorted(parts) == sorted(plan.order), "every page is in the list, outside it, or out"
    grouped = [item for group in result.groups for item in group]
    assert tuple(grouped[: len(result.ranking)]) == result.ranking
    assert all(worth[item] == worth[group[0]] for group in result.groups for item in group)


@given(plan=plans(), random=st.randoms(use_true_random=False), added=st.integers(0, 3))
def test_a_list_calls_no_two_pages_equal_that_its_author_put_in_order(
    plan: Plan, random: Random, added: int
) -> None:
    """Ties are not transitive: A ties with B and B with C, but A was preferred to C."""
    assume(plan.best_of == 1 and plan.reuse_answers)
    person = answering_at_random(random, removals=0.0)
    session = PairSession(plan)
    answer_all(session, person)
    if added:
        log = list(map(answer, session.effective))
        new = [-number for number in range(1, added + 1)]
        session = PairSession(Plan.from_json(plan.grown(new, {}, True).as_json()), log)
        answer_all(session, person)
    said = {
        frozenset((each.left, each.right)): each.answer
        for each in session.effective
        if each.kind is QuestionKind.SORT
    }
    for group in result_of(session).groups:
        pairs = [frozenset(pair) for pair in combinations(group, 2)]
        assert all(said.get(pair, Answer.TIE) is Answer.TIE for pair in pairs)


def test_ties_are_joined_only_if_no_member_was_preferred() -> None:
    first, tie = Preference.FIRST, Preference.TIE
    ranking = singly([1, 2, 3, 4])
    chain = {(1, 2): tie, (2, 3): tie, (3, 4): tie}
    assert with_ties_grouped(ranking, chain) == ((1, 2, 3, 4),)
    assert with_ties_grouped(ranking, {**chain, (1, 3): first}) == ((1, 2), (3, 4))
    assert with_ties_grouped(ranking, {**chain, (1, 4): first}) == ((1, 2, 3), (4,))
    assert with_ties_grouped(((1, 2), (3, 4)), {(1, 2): first}) == ((1,), (2,), (3, 4))


@pytest.mark.thorough
@given(
    plan=plans(),
    random=st.randoms(use_true_random=False),
    grades=st.sampled_from([3, 1000]),
    steps=st.integers(0, 60),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=2),
)
def test_a_session_continues_with_added_pages_where_it_was(
    plan: Plan, random: Random, grades: int, steps: int, sizes: list[int]
) -> None:
    """Old logs replay, finished or not, and only pages added to a finished list are asked about."""
    worth = {item: float(random.randrange(grades)) for item in range(-99, 1000)}
    honest, session = truthful(worth), PairSession(plan)
    log: list[Entry[Judgment]] = []
    for size in sizes:
        while len(log) < steps and answer_once(session, honest):
            assert session.last is not None
            log.append(session.last)
        finished = isinstance(session.state, Finished)
        added = {-len(plan.order) - number for number in range(size)}
        plan = Plan.from_json(plan.grown(sorted(added), {}, finished).as_json())
        session = PairSession(plan, log)
    answer_all(session, honest)
    result = result_of(session)
    best = sorted((worth[item] for item in plan.order), reverse=True)
    assert [worth[item] for item in result.ranking] == best[: plan.k]
    assert all(worth[item] == worth[group[0]] for group in result.groups for item in group)
    later = [each for each in session.effective[len(log) :] if each.kind is QuestionKind.SORT]
    assert not finished or all({each.left, each.right} & added for each in later)
    assert PairSession(plan, map(answer, session.effective)).state == session.state
    assert session.fork().state == session.state
    assert outcome(plan, session.effective) == result


@given(plan=plans(), random=st.randoms(use_true_random=False))
def test_with_reused_answers_no_pair_is_asked_twice(plan: Plan, random: Random) -> None:
    assume(plan.reuse_answers and plan.best_of == 1 and plan.recheck == 0)
    session = PairSession(plan)
    answer_all(session, answering_at_random(random))
    pairs = Counter(
        frozenset((judgment.left, judgment.right))
        for judgment in session.effective
        if judgment.kind is QuestionKind.SORT
    )
    assert max(pairs.values(), default=1) == 1


@given(plan=plans(), random=st.randoms(use_true_random=False))
def test_without_removals_the_bound_holds_for_any_answers(plan: Plan, random: Random) -> None:
    assume(plan.check_share == 0)
    session = PairSession(plan)
    asked = answer_all(session, answering_at_random(random, removals=0.0))
    n = len(plan.order)
    bound = SORTERS[plan.sorter].bound(n, plan.k) * plan.best_of
    assert asked <= bound + plan.recheck * max(0, min(plan.k, n) - 1)


@each_case("name", SORTERS)
def test_sides_are_balanced_and_not_all_alike(name: str) -> None:
    plan = Plan(tuple(range(40)), 10, name, seed="sides")
    session = PairSession(plan)
    swapped = []
    worth = {item: float(item * 7 % 41) for item in plan.order}
    person = truthful(worth)
    while isinstance(session.state, Asking):
        question = session.state.question
        step = session.strategy.step()
        assert isinstance(step, AskPair)
        swapped.append((question.left, question.right) != step.pair)
        answer_once(session, person)
    assert abs(sum(swapped) - len(swapped) / 2) <= 0.5
    for start in range(0, len(swapped) - 1, 2):
        assert swapped[start] != swapped[start + 1]
    assert len({swapped[start] for start in range(0, len(swapped), 2)}) == 2


def test_checks_ask_an_earlier_pair_with_sides_swapped_and_do_not_feed_the_sorter() -> None:
    worth = {item: float(item * 7 % 23) for item in range(20)}
    plain = PairSession(Plan(tuple(range(20)), 5, seed="x"))
    checked = PairSession(Plan(tuple(range(20)), 5, check_share=0.5, seed="x"))
    answer_all(plain, truthful(worth))
    answer_all(checked, truthful(worth))
    assert result_of(plain) == result_of(checked)
    shown: dict[frozenset[int], Judgment] = {}
    checks = []
    for judgment in checked.effective:
        pair = frozenset((judgment.left, judgment.right))
        if judgment.kind is QuestionKind.CHECK:
            first = shown.pop(pair)
            assert (first.left, first.right) == (judgment.right, judgment.left)
            checks.append(judgment)
        else:
            shown[pair] = judgment
    sorts = plain.answered
    assert 0.3 * sorts <= len(checks) <= 0.7 * sorts
    assert checked.answered == sorts + len(checks)


def test_a_contradicting_check_changes_nothing_in_the_list() -> None:
    worth = {item: float(item) for item in range(12)}
    honest = truthful(worth)

    def fickle(question: Question) -> Answer:
        true = honest(question)
        if question.kind is QuestionKind.CHECK:
            return Answer.RIGHT if true is Answer.LEFT else Answer.LEFT
        return true

    session = PairSession(Plan(tuple(range(12)), 4, check_share=1.0, seed="y"))
    answer_all(session, fickle)
    assert result_of(session).ranking == (11, 10, 9, 8)


def test_a_page_called_bad_leaves_without_trace_of_its_answers() -> None:
    """Remove a page raised by a wrong answer: the order of the others stays intact."""
    worth = {item: float(item) for item in range(8)}
    honest = truthful(worth)

    def person(question: Question) -> Answer:
        for side, bad in ((question.left, Answer.LEFT_BAD), (question.right, Answer.RIGHT_BAD)):
            if side == 0 and session.answered > 6:
                return bad
        if 0 in (question.left, question.right):
            return Answer.LEFT if question.left == 0 else Answer.RIGHT
        return honest(question)

    session = PairSession(Plan(tuple(range(8)), 3, seed="z"))
    answer_all(session, person)
    result = result_of(session)
    assert result.ranking == (7, 6, 5)
    assert result.bad == (0,)


def test_an_answer_to_another_question_is_refused_and_nothing_changes() -> None:
    session = PairSession(Plan((1, 2, 3, 4), 2, seed="s"))
    state = session.state
    assert isinstance(state, Asking)
    question = state.question
    wrong = Judgment(question.kind, question.right, question.left, Answer.LEFT)
    with pytest.raises(OutOfTurn):
        session.append(answer(wrong))
    assert session.state == state
    assert session.length == 0


def test_answers_that_the_study_does_not_offer_are_refused() -> None:
    session = PairSession(Plan((1, 2, 3), 2, allow_ties=False, allow_bad=False, seed="s"))
    state = session.state
    assert isinstance(state, Asking)
    question = state.question
    for refused in (Answer.TIE, Answer.LEFT_BAD, Answer.RIGHT_BAD):
        with pytest.raises(AnswerNotAllowed):
            session.append(answer(Judgment(question.kind, question.left, question.right, refused)))
    session.append(
        answer(Judgment(question.kind, question.left, question.right, Answer.LEFT_UNJUDGEABLE))
    )
    assert session.answered == 1


def test_undo_reopens_a_finished_session() -> None:
    session = PairSession(Plan((1, 2), 1, seed="s"))
    answer_all(session, truthful({1: 1.0, 2: 2.0}))
    assert result_of(session).ranking == (2,)
    session.append(UNDO)
    assert isinstance(session.state, Asking)


@pytest.mark.parametrize("order", [(), (7,)])
@pytest.mark.parametrize("name", SORTERS)
def test_no_page_or_one_page_is_finished_at_once(name: str, order: tuple[int, ...]) -> None:
    assert result_of(PairSession(Plan(order, 5, name))).ranking == order


def test_a_new_answer_after_undo_clears_what_could_be_redone() -> None:
    session = PairSession(Plan((1, 2, 3), 3, seed="s"))
    person = truthful({1: 1.0, 2: 2.0, 3: 3.0})
    answer_once(session, person)
    session.append(UNDO)
    assert session.can_redo
    answer_once(session, person)
    assert not session.can_redo
