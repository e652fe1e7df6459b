"""Tests of list assignments on both databases: plans, pending pairs, resuming, concurrency."""

import threading

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.exporting import judge as judge_log
from tests.exporting import make_grades
from tests.factories import make_user, queries_of
from tests.ranked import Judge, give_lists, grade_pages, make_ranked_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Candidate, JudgmentRow, Ranking
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid, OutOfTurn
from topkapi.app.domain.lists.plan import unordered
from topkapi.app.domain.lists.session import AskingLists, ListsCompared
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments.rotation import assign_rotation, plan_rotation
from topkapi.app.services.judging.lists.choice import Chooser
from topkapi.app.services.judging.lists.evidence import answers_in_study, as_preferences, grades_of
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.results.exports import ExportOptions, StudySource, open_export

Pairs = set[tuple[int, int]]


def asked_of(session: Session, assignment: Assignment) -> list[tuple[int, int]]:
    statement = select(JudgmentRow.left_ranking_id, JudgmentRow.right_ranking_id).where(
        JudgmentRow.assignment_id == assignment.id, JudgmentRow.entry == EntryKind.ANSWER
    )
    rows = session.execute(statement.order_by(JudgmentRow.position))
    return [unordered((row[0] or 0, row[1] or 0)) for row in rows]


@pytest.mark.parametrize("choice", ["all", "random", "active"])
def test_every_pair_once_and_then_it_is_finished(session: Session, choice: str) -> None:
    study = make_ranked_study(session, lists_pairs=choice, lists_size=6)
    work = give_lists(session, study)
    judge = Judge(session, work)
    assert judge.to_the_end() == 6
    assert len(set(asked_of(session, work))) == 6
    assert work.finished_at is not None
    assert (work.answered, work.expected_left) == (6, 0)
    assert isinstance(judge.look().state, ListsCompared)


def test_undo_redo_and_a_repeated_submission(session: Session) -> None:
    study = make_ranked_study(session, lists_pairs="active")
    work = give_lists(session, study)
    judge = Judge(session, work)
    first = judge.shown()
    judge.say()
    second = judge.shown()
    judge.step(EntryKind.UNDO)
    assert judge.shown() == first
    judge.step(EntryKind.REDO)
    assert judge.shown() == second
    answer = SubmittedAnswer(first_answer(session, work), left=first[0], right=first[1])
    assert judge.submit(0, answer).position == 3
    swapped = SubmittedAnswer("left", left=second[1], right=second[0])
    with pytest.raises(OutOfTurn):
        judge.submit(3, swapped)


def first_answer(session: Session, work: Assignment) -> str:
    statement = select(JudgmentRow.answer).where(JudgmentRow.assignment_id == work.id)
    return str(session.scalars(statement.order_by(JudgmentRow.position)).first())


def test_resuming_elsewhere_shows_the_stored_pair_though_others_went_on(session: Session) -> None:
    study = make_ranked_study(session, systems=6, queries=2, lists_pairs="active", lists_size=5)
    grade_pages(session, study)
    mine, other = (
        give_lists(session, study, seed="a"),
        give_lists(session, study, round=1, seed="b"),
    )
    here = Judge(session, mine)
    here.say()
    here.say()
    shown = here.shown()
    Judge(session, other).to_the_end()
    assert Judge(session, mine).shown() == shown, "another process, nothing kept"
    assert here.shown() == shown
    here.say()
    assert Judge(session, mine).shown() == here.shown()


def test_a_recorded_pair_is_replayed_even_if_the_choice_would_now_fall_elsewhere(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_ranked_study(session, systems=5, lists_pairs="active")
    work = give_lists(session, study)
    judge = Judge(session, work)
    for _ in range(4):
        judge.say()
    before = judge.look()

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a replay chooses nothing")

    monkeypatch.setattr(Chooser, "next_pair", never)
    again = Judge(session, work).look()
    assert (again.state, again.position) == (before.state, before.position)


def test_people_in_turn_are_never_offered_the_same_pair(session: Session) -> None:
    study = make_ranked_study(session, systems=5, lists_pairs="active", lists_size=4)
    grade_pages(session, study)
    works = [give_lists(session, study, round=n, seed=str(n)) for n in range(3)]
    assert [work.plan["size"] for work in works] == [4, 4, 2], "ten pairs in all"
    live = LiveSessions()
    judges = [Judge(session, work, live) for work in works]
    while not all(judge.look().finished for judge in judges):
        open_now = [judge for judge in judges if not judge.look().finished]
        shown = [frozenset(judge.shown()) for judge in open_now]
        assert len(set(shown)) == len(shown)
        for judge in open_now:
            judge.say()
    asked = [pair for work in works for pair in asked_of(session, work)]
    assert len(asked) == len(set(asked)) == 10
    refusal = "q0 has 10 pairs of lists, enough for 3 people, .* lists_repeats"
    with pytest.raises(Conflict, match=refusal):
        give_lists(session, study, round=3)


def test_people_at_once_are_never_offered_the_same_pair(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = make_ranked_study(session, systems=7, lists_pairs="active", lists_size=7)
        grade_pages(session, study)
        works = [give_lists(session, study, round=n, seed=str(n)) for n in range(3)]
        session.expunge_all()
    failures: list[BaseException] = []

    def work_on(work: Assignment) -> None:
        live = LiveSessions()
        try:
            for _ in range(7):
                with sessions.write.begin() as own:
                    Judge(own, work, live).say()
        except BaseException as error:  # passed to the test, which would not see it otherwise
            failures.append(error)

    threads = [threading.Thread(target=work_on, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with sessions.read() as session:
        asked = [pair for work in works for pair in asked_of(session, work)]
    assert len(asked) == len(set(asked)) == 21


def test_with_repeats_everyone_compares_all(session: Session) -> None:
    study = make_ranked_study(session, lists_repeats=True)
    first, second = give_lists(session, study), give_lists(session, study, round=1)
    assert first.plan["size"] == second.plan["size"] == 6


def test_withdrawn_pairs_are_free_and_taken_up_only_while_they_are(session: Session) -> None:
    study = make_ranked_study(session, lists_pairs="active")
    ansa, bao = make_user(session), make_user(session)
    work = give_lists(session, study, user=ansa)
    Judge(session, work).say()
    with pytest.raises(Conflict, match="enough for 1 person"):
        give_lists(session, study, user=bao, round=1)
    manual_assignment.withdraw(session, study, work.id)
    back = manual_assignment.assign_one(
        session, study, email=ansa.email, query="q0", tool=Tool.LISTS, round_number=1
    )
    assert back.id == work.id
    manual_assignment.withdraw(session, study, work.id)
    give_lists(session, study, user=bao, round=1)
    with pytest.raises(Conflict, match="assigned to others after it was withdrawn"):
        manual_assignment.assign_one(
            session, study, email=ansa.email, query="q0", tool=Tool.LISTS, round_number=1
        )


def test_a_query_without_two_rankings_is_finished_when_it_is_assigned(session: Session) -> None:
    study = make_ranked_study(session, queries=2)
    for ranking in session.scalars(
        select(Ranking).where(Ranking.query_id == queries_of(session, study)[1].id)
    ).all()[1:]:
        session.delete(ranking)
    session.flush()
    work = give_lists(session, study, queries_of(session, study)[1])
    assert work.finished_at == work.created_at
    people = [make_user(session).id, make_user(session).id]
    assert len(plan_rotation(session, study, people, rounds=1, lists=True).added) == 1


def test_lists_go_round_on_their_own(session: Session) -> None:
    study = make_ranked_study(session, queries=6, lists_repeats=True)
    people = [make_user(session).id for _ in range(3)]
    ruled = assign_rotation(session, study, people, rounds=1)
    assert {row.tool for row in ruled} == {Tool.PAIRS, Tool.GRADES}
    made = assign_rotation(session, study, people, rounds=2, lists=True)
    assert {row.tool for row in made} == {Tool.LISTS}
    assert len(made) == 12
    assert manual_assignment.last_rotation(study, lists=True)[0] == people
    only = make_ranked_study(session, slug="only", tools=(Tool.LISTS,))
    assert len(assign_rotation(session, only, people[:1], rounds=1)) == 1


def test_under_the_rule_lists_go_round_with_the_others(session: Session) -> None:
    study = make_ranked_study(session, queries=6, lists_in_rotation=True)
    people = [make_user(session).id for _ in range(3)]
    with pytest.raises(Invalid, match="already rotated with the other tools"):
        assign_rotation(session, study, people, rounds=1, lists=True)
    made = assign_rotation(session, study, people, rounds=1)
    assert {row.tool for row in made} == set(Tool)
    met = [(row.user_id, row.query_id) for row in made]
    assert len(met) == len(set(met))


def test_grades_are_those_of_people_and_else_those_that_came_with_the_study(
    session: Session,
) -> None:
    study = make_ranked_study(session, queries=2, lists_pairs="all")
    grade_pages(session, study)
    first, second = queries_of(session, study)
    graded = make_grades(session, make_user(session), first)
    judge_log(session, graded, undo_at=4)
    for query in (first, second):
        Judge(session, give_lists(session, study, query)).to_the_end()
    answers = answers_in_study(session, study.id, 5)
    found = grades_of(session, answers)
    assert found.n_grades == 5
    steps = {"bad": 0, "fair": 1, "good": 2, "excellent": 3, "perfect": 4}
    statement = select(JudgmentRow).where(JudgmentRow.assignment_id == graded.id)
    log = session.scalars(statement.order_by(JudgmentRow.position)).all()
    last = {row.left_id: steps[row.answer] for row in log if row.answer is not None}
    shown = {page for each in answers if each.query_id == first.id for page in each.left}
    assert {page: found.of[first.id, page] for page in shown} == {p: last[p] for p in shown}
    known = {
        row.document_id: row.grade
        for row in session.scalars(select(Candidate).where(Candidate.query_id == second.id))
    }
    assert all(found.of[second.id, p] == known[p] for q, p in found.of if q == second.id)
    assert as_preferences(answers, found, 5).ungraded == 0


@pytest.mark.thorough
def test_a_grown_model_asks_what_it_is_least_sure_of(session: Session) -> None:
    study = make_ranked_study(
        session, systems=8, queries=2, documents=12, lists_pairs="active", lists_size=28
    )
    grade_pages(session, study)
    first, second = queries_of(session, study)
    by_grade = {row.document_id: row.grade or 0 for row in session.scalars(select(Candidate)).all()}

    def worth(pages: tuple[int, ...]) -> float:
        return sum(by_grade[page] / (rank + 1) for rank, page in enumerate(pages))

    def by_worth(state: AskingLists) -> str:
        gap = worth(state.left.documents) - worth(state.right.documents)
        return "same" if abs(gap) < 0.2 else "left" if gap > 0 else "right"

    Judge(session, give_lists(session, study, first)).to_the_end(by_worth)
    work = give_lists(session, study, second)
    judge = Judge(session, work)
    gaps = []
    while isinstance(state := judge.look().state, AskingLists):
        gaps.append(abs(worth(state.left.documents) - worth(state.right.documents)))
        judge.say(by_worth)
    third = len(gaps) // 3
    assert sum(gaps[:third]) < 0.6 * sum(gaps[-third:]), "close ones first, plain ones last"


def test_exports_of_lists(session: Session) -> None:
    study = make_ranked_study(session, slug="ranked", systems=3)
    ansa = make_user(session, email="ansa@lehto.example")
    judge = Judge(session, give_lists(session, study, user=ansa))
    judge.say(lambda _: "left_much")
    judge.step(EntryKind.UNDO)
    judge.to_the_end(lambda _: "right")
    session.commit()
    text = b"".join(open_export(session, "ranked", "lists.jsonl").chunks).decode()
    assert text.count("\n") == 3
    assert text.count('"answer": "right"') == 3
    assert '"left_system": "system-' in text
    log = b"".join(
        open_export(session, "ranked", "judgments.jsonl", ExportOptions(pseudonyms=True)).chunks
    ).decode()
    assert log.count('"tool": "lists"') == 5
    assert log.count('"left": "system-') == 4
    assert log.count('"right": null') == 1
    source = StudySource(session, "ranked")
    assert [work.assignment.tool for work in source.all_works()] == [Tool.LISTS]
