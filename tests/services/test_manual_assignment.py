import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.assessing import Assessor
from tests.factories import BOTH, make_people, make_study, queries_of
from topkapi.app.db.models import Assignment, AuditEvent, Study
from topkapi.app.domain.assignment.rotation import RuleBroken
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services.assignments import manual_assignment, rotation
from topkapi.app.services.assignments.csv_file import CsvRefused, assign_csv
from topkapi.app.services.assignments.preview import preview
from topkapi.app.services.studies import lifecycle


@pytest.fixture
def study(session: Session) -> Study:
    return make_study(session, slug="tulips", queries=4, documents=4, k=2, tools=BOTH)


def one(
    session: Session, study: Study, who: str, query: str, tool: Tool, round: int = 1
) -> Assignment:
    return manual_assignment.assign_one(
        session, study, email=f"{who}@x.example", query=query, tool=tool, round_number=round
    )


def test_a_refusal_names_people_and_who_is_free(session: Session, study: Study) -> None:
    make_people(session, "Chidi", "Bao")
    one(session, study, "chidi", "q3", Tool.GRADES, 2)
    with pytest.raises(RuleBroken) as refused:
        one(session, study, "chidi", "q3", Tool.PAIRS)
    assert str(refused.value) == (
        "Chidi already judges q3 by grades in round 2, and one person cannot judge a query with "
        "two tools. Only Bao can take it."
    )


def test_a_place_that_is_taken_is_refused_by_the_name_of_who_has_it(
    session: Session, study: Study
) -> None:
    make_people(session, "Chidi", "Bao")
    one(session, study, "chidi", "q1", Tool.PAIRS)
    with pytest.raises(
        RuleBroken, match=r"Chidi already judges q1 by pairs in round 1\. Use another"
    ):
        one(session, study, "bao", "q1", Tool.PAIRS)
    assert one(session, study, "bao", "q1", Tool.PAIRS, 2).round == 1


def test_unknown_people_and_queries_are_named(session: Session, study: Study) -> None:
    make_people(session, "Chidi")
    with pytest.raises(NotFound, match=r"nobody@x\.example"):
        one(session, study, "nobody", "q1", Tool.PAIRS)
    with pytest.raises(NotFound, match="'q9'"):
        one(session, study, "chidi", "q9", Tool.PAIRS)
    with pytest.raises(Invalid, match="pairs, grades"):
        one(session, study, "chidi", "q1", Tool.LISTS)


def test_withdrawn_work_keeps_its_log_and_can_be_taken_up_again_under_its_own_tool_only(
    session: Session, study: Study
) -> None:
    make_people(session, "Chidi", "Bao")
    row = one(session, study, "chidi", "q1", Tool.PAIRS)
    Assessor(session, row).answer("left")
    manual_assignment.withdraw(session, study, row.id)
    assert row.withdrawn_at is not None
    assert row.answered == 1
    with pytest.raises(RuleBroken, match="has begun q1 by pairs; that work was withdrawn"):
        one(session, study, "chidi", "q1", Tool.GRADES)
    again = one(session, study, "chidi", "q1", Tool.PAIRS)
    assert again.id == row.id
    assert again.withdrawn_at is None
    acts = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert acts == ["study.assign", "assignment.withdraw", "assignment.restore"]


def test_work_is_handed_on_to_someone_who_may(session: Session, study: Study) -> None:
    make_people(session, "Chidi", "Bao", "Dora")
    row = one(session, study, "chidi", "q1", Tool.PAIRS)
    made = manual_assignment.reassign(session, study, row.id, "bao@x.example")
    assert (made.query_id, made.tool, made.round) == (row.query_id, row.tool, row.round)
    assert row.withdrawn_at is not None
    one(session, study, "dora", "q1", Tool.GRADES)
    with (
        pytest.raises(RuleBroken, match="Dora already judges q1 by grades"),
        session.begin_nested(),
    ):
        manual_assignment.reassign(session, study, made.id, "dora@x.example")
    session.refresh(made)
    assert made.withdrawn_at is None


def test_finished_work_is_not_taken_back(session: Session, study: Study) -> None:
    make_people(session, "Chidi")
    row = one(session, study, "chidi", "q1", Tool.PAIRS)
    row.finished_at = row.created_at
    session.flush()
    with pytest.raises(Conflict, match="finished work cannot be withdrawn"):
        manual_assignment.withdraw(session, study, row.id)


def test_nothing_is_given_out_in_an_archived_study(session: Session, study: Study) -> None:
    make_people(session, "Chidi")
    lifecycle.archive(session, study)
    with pytest.raises(Conflict, match="archived"):
        one(session, study, "chidi", "q1", Tool.PAIRS)


def test_the_grid_shows_every_fold_once_per_tool_and_round(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    seen = preview(session, study, ids, rounds=2, seed=None)
    (grid,) = seen.grids
    assert (seen.most_rounds, seen.total, seen.new, len(grid.folds)) == (2, 16, 16, 4)
    for fold in range(4):
        cells = [cell for row in grid.rows for cell in row.cells[fold]]
        assert all(cell.whole for cell in cells)
        found = [(cell.tool.value, number) for cell in cells for number in cell.rounds]
        assert sorted(found) == [("grades", 1), ("grades", 2), ("pairs", 1), ("pairs", 2)]
    rotation.assign_rotation(session, study, ids, rounds=1)
    assert preview(session, study, ids, rounds=2, seed=None).new == 8
    assert manual_assignment.last_rotation(study) == (ids, "tulips")


def test_an_impossible_rotation_is_a_preview_with_its_reason(
    session: Session, study: Study
) -> None:
    ids = make_people(session, "A", "B")
    seen = preview(session, study, ids, rounds=2, seed=None)
    assert "2 assessors and 2 tools allow 1 round" in str(seen.refusal)
    assert "1 assessor cannot serve 2 tools" in str(
        preview(session, study, ids[:1], rounds=1, seed=None).refusal
    )


def test_a_csv_file_is_assigned_whole(session: Session, study: Study) -> None:
    make_people(session, "Chidi", "Bao")
    text = "query,assessor,tool,round\nq0,chidi@x.example,pairs,1\nq0,BAO@x.example,T2,\n"
    made = assign_csv(session, study, text.encode("utf-8-sig"))
    assert [(row.tool, row.round) for row in made] == [(Tool.PAIRS, 0), (Tool.GRADES, 0)]


def test_a_csv_file_with_semicolons_and_another_order_is_read(
    session: Session, study: Study
) -> None:
    make_people(session, "Chidi")
    made = assign_csv(session, study, b"tool;query;assessor\r\ngrades;q2;chidi@x.example\r\n")
    assert len(made) == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        ("query,tool\n", 1, "assessor", "first line must name"),
        ("query,assessor,tool,round\n", 1, "query", "no assignments below the header"),
        ("", 1, "query", "first line must name"),
        ("query,assessor,tool,round\nq9,chidi@x.example,pairs,1\n", 2, "query", "no query 'q9'"),
        ("query,assessor,tool,round\nq0,who@x.example,pairs,1\n", 2, "assessor", "no account"),
        ("query,assessor,tool,round\nq0,chidi@x.example,stars,1\n", 2, "tool", "'stars'"),
        ("query,assessor,tool,round\nq0,chidi@x.example,lists,1\n", 2, "tool", "pairs, grades"),
        ("query,assessor,tool,round\n\nq0,chidi@x.example,pairs,0\n", 3, "round", "'0'"),
        ("query,assessor,tool,round\nq0,chidi@x.example,pairs,x\n", 2, "round", "'x'"),
        (
            "query,assessor,tool,round\nq0,chidi@x.example,pairs,1\nq0,chidi@x.example,grades,1\n",
            3, "query", "See line 2",
        ),
        (
            "query,assessor,tool,round\nq0,chidi@x.example,pairs,1\nq0,chidi@x.example,pairs,1\n",
            3, "query", "repeats line 2",
        ),
        ('query,assessor,tool,round\n"q0,chidi', 2, "file", "unexpected end"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_csv_file_is_said_by_line_and_field(
    session: Session, study: Study, text: str, line: int, field: str, message: str
) -> None:
    make_people(session, "Chidi")
    with pytest.raises(CsvRefused) as refused:
        assign_csv(session, study, text.encode())
    problem = refused.value.problems[0]
    assert (problem.line, problem.field) == (line, field)
    assert message in problem.problem
    assert session.scalars(select(Assignment)).all() == []


def test_bytes_that_are_no_text_are_refused_with_their_line(session: Session, study: Study) -> None:
    with pytest.raises(CsvRefused) as refused:
        assign_csv(session, study, b"query,assessor,tool\nq0,\xe4@x,pairs\n")
    assert refused.value.problems[0].line == 2


def test_queries_of_another_study_are_not_found(session: Session, study: Study) -> None:
    other = make_study(session, queries=1)
    queries_of(session, other)[0].external_id = "elsewhere"
    make_people(session, "Chidi")
    with pytest.raises(NotFound):
        one(session, study, "chidi", "elsewhere", Tool.PAIRS)
