"""The results of one query: the lists of the exports, ranks with ties, and the questions."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.exporting import NOTE, judge, make_judged_study
from tests.factories import BOTH, make_study, make_user, queries_of
from tests.services.test_exports import exported
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Candidate, Query
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.assignments import bulk
from topkapi.app.services.assignments.rotation import assign_rotation
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.query_results import (
    PersonResult,
    SessionAnswers,
    answers_about,
    question_shown,
    rank_in,
    session_answers,
)
from topkapi.app.services.results.query_results import query_results as results_of


def answers_of(session: Session, person: PersonResult, query_id: int) -> SessionAnswers:
    source = StudySource(session, "tulips")
    return session_answers(source, query_id, person.assignment_id)


@pytest.mark.thorough
def test_lists_consensus_and_questions_are_those_of_the_exports(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_judged_study(session)
    lists = [json.loads(line) for line in exported(sessions, "topk.jsonl").splitlines()]
    agreed = [json.loads(line) for line in exported(sessions, "consensus.jsonl").splitlines()]
    entries = [json.loads(line) for line in exported(sessions, "judgments.jsonl").splitlines()]
    notes = set()
    with sessions.read() as session:
        for query in session.scalars(select(Query).order_by(Query.position)):
            found = results_of(StudySource(session, "tulips"), query.id)
            mine = [each for each in lists if each["query"] == query.external_id]
            people = (*found.finished, *found.unfinished)
            assert len(people) == len(mine)
            assert sorted(each.found.ranking for each in found.finished) == sorted(
                tuple(each["ranking"]) for each in mine if each["complete"]
            )
            consensus = [each for each in agreed if each["query"] == query.external_id]
            shown = [] if found.consensus is None else [list(found.consensus.documents)]
            assert shown == [each["documents"] for each in consensus]
            asked = [
                each
                for each in entries
                if each["query"] == query.external_id
                and (each["tool"], each["entry"], each["withdrawn"]) == ("pairs", "answer", False)
            ]
            shown_questions = [
                item for each in people for item in answers_of(session, each, query.id).asked
            ]
            trusted = [answers_of(session, each, query.id).confidence for each in people]
            assert [each is not None for each in trusted] == [
                each.found.complete for each in people
            ]
            assert len(shown_questions) == len(asked)
            assert sum(item.effective for item in shown_questions) == sum(
                each["effective"] for each in asked
            )
            notes |= {item.note for item in shown_questions}
            order = [each.document.name for each in found.ranked]
            assert sorted(order) == sorted(found.documents), "all candidates"
            first = [] if found.consensus is None else list(found.consensus.documents)
            assert order[: len(first)] == first
        with pytest.raises(NotFound, match="has no query with the number 999"):
            results_of(StudySource(session, "tulips"), 999)
        with pytest.raises(NotFound, match="no such questions"):
            session_answers(StudySource(session, "tulips"), 1, 999)
    assert NOTE in notes


def test_one_table_has_ranks_grades_known_grades_notes_and_who_waits(session: Session) -> None:
    study = make_study(session, slug="tulips", queries=2, documents=4, k=2, tools=BOTH)
    query, other = queries_of(session, study)
    people = [make_user(session, name=name) for name in ("Ansa", "Bao", "Chidi", "Dora")]
    rows = assign_rotation(session, study, [person.id for person in people], rounds=2)
    named = {person.id: person.name for person in people}
    mine = {(row.tool, row.round): row for row in rows if row.query_id == query.id}
    judge(session, mine[Tool.PAIRS, 0], note="Two sides of one story")
    judge(session, mine[Tool.GRADES, 0])
    judge(session, mine[Tool.GRADES, 1], most=1)
    session.scalars(select(Candidate).where(Candidate.query_id == query.id)).all()[0].grade = 3
    bulk.withdraw(session, study, [mine[Tool.PAIRS, 1].id])
    found = results_of(StudySource(session, "tulips"), query.id)
    columns = {(each.tool, each.round): each for each in found.judged_by}
    assert {key: each.state for key, each in columns.items()} == {
        (Tool.PAIRS, 0): "finished",
        (Tool.GRADES, 0): "finished",
        (Tool.GRADES, 1): "begun",
    }
    assert (found.finished_work, found.assigned, found.missing) == (2, 3, 1)
    assert [each.assessor for each in found.judged_by] == [
        named[mine[each.tool, each.round].user_id] for each in found.judged_by
    ]
    assert len(found.ranked) == 4
    grades = [grade.name for grade in study.settings.grades]
    for row in found.ranked:
        name = row.document.name
        assert columns[Tool.GRADES, 0].said[name] in grades
        assert row.grade == columns[Tool.GRADES, 0].said[name], "only one is finished"
        rank = row.ranks[0]
        assert columns[Tool.PAIRS, 0].said.get(name) == (None if rank is None else str(rank))
    assert len(columns[Tool.GRADES, 1].said) == 1
    assert [row.known for row in found.ranked].count(3) == 1
    who = named[mine[Tool.PAIRS, 0].user_id]
    assert any(row.notes == ((who, "Two sides of one story"),) for row in found.ranked)
    source = StudySource(session, "tulips")
    said: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for row in found.ranked:
        about = answers_about(source, query.id, row.document.name)
        assert row.answers == sum(len(many) for each in about for many in each.said.values()) > 0
        for each in about:
            for verdict, answers in each.said.items():
                for asked in answers:
                    name = asked.other(row.document.name) if each.tool is Tool.PAIRS else ""
                    said.setdefault((each.assignment_id, asked.number), []).append((verdict, name))
    pairs = [mine[Tool.PAIRS, 0].id]
    for (number, at), both in said.items():
        if number in pairs:
            who, asked, of = question_shown(source, query.id, number, at)
            assert sorted(verdict for verdict, _ in both) == ["Better than", "Worse than"]
            assert {name for _, name in both} == {asked.left, asked.right}
            assert (who, of) == (named[mine[Tool.PAIRS, 0].user_id], mine[Tool.PAIRS, 0].answered)
    with pytest.raises(NotFound, match="no question 99"):
        question_shown(source, query.id, pairs[0], 99)
    empty = results_of(StudySource(session, "tulips"), other.id)
    assert {each.state for each in empty.judged_by} == {"waiting"}
    assert len(empty.ranked) == 4


@given(
    st.lists(st.integers(1, 3), max_size=6).map(
        lambda sizes: [
            [f"d{start + n}" for n in range(size)]
            for start, size in zip(
                [sum(sizes[:at]) for at in range(len(sizes))], sizes, strict=True
            )
        ]
    ),
    st.integers(0, 10),
)
def test_a_rank_counts_the_better_documents(groups: list[list[str]], k: int) -> None:
    for group in groups:
        for name in group:
            better = sum(len(each) for each in groups[: groups.index(group)])
            assert rank_in(groups, k, name) == (better + 1 if better < k else None)
    assert rank_in(groups, k, "elsewhere") is None
