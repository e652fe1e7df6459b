"""Gold pairs and known grades: imported, compared with answers as they arrive, copied."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.factories import make_assignment, make_study, make_user, queries_of
from tests.services.test_adjudication import judge, lines
from tests.services.test_labeling import AssignedWork
from tests.studies import append, load, small_study, write_jsonl
from topkapi.analysis.report.sources import read_votes
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Candidate, GoldPair, Query, Study
from topkapi.app.db.queries.assignments.assignments import candidates_of_study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.services.accounts.own_data import own_data
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.importing import StudyRefused, open_source
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.comparing import Unchanged
from topkapi.app.services.importing.kinds.gold import gold_facts
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.progress.study_progress import overview
from topkapi.app.services.progress.tables import assessors
from topkapi.app.services.studies import full_copy
from topkapi.app.services.studies.copy_import import read_copy

GOLD = [
    {"query": "q0", "left": "d0", "right": "d1", "answer": "right", "explanation": "Says how."},
    {"query": "q0", "left": "d2", "right": "d1", "answer": "tie"},
]


def test_gold_pairs_are_imported_once_and_extended(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    again = {**GOLD[0], "left": "d1", "right": "d0", "answer": "left"}
    write_jsonl(folder / "gold.jsonl", [GOLD[0], again])
    report = load(session, folder)
    assert (report.gold, report.read_from["gold pairs"]) == (1, "gold.jsonl")
    assert "1 identical duplicate line of gold pairs merged" in report.notes
    assert any("1 gold pair" in line for line in report.lines())
    write_jsonl(folder / "gold.jsonl", GOLD)
    load(session, folder)
    study = session.scalars(select(Study)).one()
    stored = sorted(gold_facts(session, study.id))
    assert stored == [("q0", "d0", "d1", "right", "Says how."), ("q0", "d2", "d1", "tie", "")]
    with pytest.raises(Unchanged):
        load(session, folder)
    write_jsonl(folder / "gold.jsonl", [{**GOLD[0], "answer": "left"}])
    with pytest.raises(StudyRefused, match="already exists with different content"):
        load(session, folder)
    query = session.scalars(select(Query).where(Query.external_id == "q1")).one()
    make_assignment(session, query=query).last_entry_at = study.created_at
    write_jsonl(folder / "gold.jsonl", [{**GOLD[0], "query": "q1", "left": "d3", "right": "d4"}])
    with pytest.raises(StudyRefused, match="Work on query 'q1' has begun"):
        load(session, folder)


@each_case(
    ("change", "field", "words"),
    [
        ({"query": "q9"}, "query", "There is no query 'q9'. Add the query"),
        ({"left": "d9"}, "left", "There is no document 'd9'. Add the document"),
        ({"left": "d5"}, "left", "not a candidate for query 'q0'. Add it to candidates.jsonl"),
        ({"left": "d1"}, "right", "Both pages are 'd1'. Name two different documents"),
        ({"answer": "d1"}, "answer", "'d1' is not a right answer. Use one of left, right, tie"),
        ({"answer": "tie"}, "answer", "the study offers none. Set allow_ties"),
        ({"explanation": 4}, "explanation", "a number, not a text"),
    ],
)
def test_a_wrong_gold_pair_is_refused_with_line_and_field(
    tmp_path: Path, change: dict[str, Any], field: str, words: str
) -> None:
    folder = small_study(tmp_path / "study")
    append(folder / "study.toml", "allow_ties = false\n")
    write_jsonl(folder / "gold.jsonl", [{**GOLD[0], "left": "d2"}, {**GOLD[0], **change}])
    with pytest.raises(StudyRefused) as refused, open_source(folder) as source:
        check_study(source)
    assert str(refused.value.problems[0]).startswith(f"gold.jsonl, line 2, {field}: ")
    assert words in str(refused.value.problems[0])


def test_a_pair_with_two_right_answers_is_refused(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    write_jsonl(folder / "gold.jsonl", [GOLD[0], {**GOLD[0], "answer": "left"}])
    twice = "line 2, answer: The gold pair 'd0, d1' appears twice"
    with pytest.raises(StudyRefused, match=twice), open_source(folder) as source:
        check_study(source)


def counted(assigned: AssignedWork) -> tuple[int, int]:
    with assigned.sessions.read.begin() as session:
        row = session.get_one(Assignment, assigned.assignment_id)
        return row.known_answers, row.known_right


def test_answers_are_compared_as_they_arrive(sessions: Sessions) -> None:
    assigned = AssignedWork(sessions)
    with sessions.write.begin() as session:
        query_id = session.get_one(Assignment, assigned.assignment_id).query_id
        for row in session.scalars(select(Candidate).where(Candidate.query_id == query_id)):
            row.grade = 2 * row.position
    worth = {page: 2 * index for index, page in enumerate(sorted(assigned.plan.order))}
    right = total = 0
    for wrong in (False, True, False):
        state = assigned.look().state
        assert isinstance(state, Asking)
        best = worth[state.question.left] > worth[state.question.right]
        assigned.answer(Answer.LEFT if best != wrong else Answer.RIGHT)
        right, total = right + (not wrong), total + 1
        assert counted(assigned) == (total, right)
    assigned.submit(Submission(3, EntryKind.UNDO))
    assert counted(assigned) == (2, 1)
    assigned.submit(Submission(4, EntryKind.REDO))
    assert counted(assigned) == (3, 2)


def test_gold_decides_and_sums_reach_the_table(session: Session, tmp_path: Path) -> None:
    study = make_study(session, slug="tulips")
    query, person = queries_of(session, study)[0], make_user(session)
    row = make_assignment(session, query=query, user=person)
    row.known_answers, row.known_right = 10, 4
    left, right = row.plan["order"][:2]
    session.add(GoldPair(query_id=query.id, left_id=left, right_id=right, answer="left"))
    session.flush()
    line = overview(session, study).people[person.id]
    assert line.accuracy == 0.4
    head, cells = assessors(session, study)
    found = dict(zip(head, cells, strict=True))
    assert (found["known_answers"], found["known_right"], found["accuracy"]) == (10, 4, 0.4)
    assert 0.1 < float(str(found["accuracy_low"])) < 0.4 < float(str(found["accuracy_high"])) < 0.7
    copy = full_copy.write_copy(session, study, tmp_path / "copy.zip")
    assert copy is not None
    read_copy(session, tmp_path / "copy.zip", slug="again")
    second = session.scalars(select(Study).where(Study.slug == "again")).one()
    assert gold_facts(session, second.id) == gold_facts(session, study.id)


def test_attention_is_asked_counted_and_in_no_other_export(
    session: Session, tmp_path: Path
) -> None:
    study = make_study(session, slug="tulips", k=3, attention_every=2)
    query, person = queries_of(session, study)[0], make_user(session)
    pages = candidates_of_study(session, study.id)[query.id]
    session.add(GoldPair(query_id=query.id, left_id=pages[0], right_id=pages[1], answer="left"))
    session.flush()
    row = manual_assignment.assign_one(
        session, study, email=person.email, query="q0", tool=Tool.PAIRS, round_number=1
    )
    assert (row.plan["attention_every"], row.plan["gold"]) == (2, [pages[:2]])
    judge(session, row, [f"q0-d{number}" for number in (1, 0, 2, 3, 4, 5)])
    log = [json.loads(line) for line in lines(session, study, "judgments.jsonl")]
    assert [entry["kind"] for entry in log][:4] == ["sort", "sort", "attention", "sort"]
    assert [entry["kind"] for entry in log].count("attention") == 1
    asked = [entry for entry in log if entry["kind"] == "sort"]
    assert len(lines(session, study, "pairs.tsv")) - 1 == len(asked)
    (tmp_path / "judgments.jsonl").write_text("".join(lines(session, study, "judgments.jsonl")))
    assert len(read_votes(tmp_path / "judgments.jsonl")) == len(asked)
    for archived_at, kinds in ((None, {None}), (now(), {"sort", "attention"})):
        study.archived_at = archived_at
        session.flush()
        (own,) = json.loads("".join(own_data(session, person)))["assignments"]
        assert {entry["question_kind"] for entry in own["judgments"]} == kinds
    known = [{entry["left"], entry["right"]} == {"q0-d0", "q0-d1"} for entry in log]
    stored = session.get_one(Assignment, row.id)
    assert (stored.known_answers, stored.known_right) == (sum(known), 0)
    assert sum(known) >= 1
