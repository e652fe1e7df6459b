"""A study that grows while it runs: more queries, more people, withdrawn work, rebalancing."""

from collections import Counter

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.factories import BOTH, make_people, make_study, queries_of
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, AuditEvent, Candidate, Query, Study
from topkapi.app.domain.assignment.rotation import AssignmentSpec, RuleBroken
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments.gaps import fill_gaps, plan_filling
from topkapi.app.services.assignments.preview import preview
from topkapi.app.services.assignments.rebalancing import apply_rebalancing, plan_rebalancing
from topkapi.app.services.assignments.rotation import assign_rotation

pytestmark = pytest.mark.both


@pytest.fixture
def study(session: Session) -> Study:
    return make_study(session, slug="tulips", queries=8, documents=3, k=2, tools=BOTH)


def add_queries(session: Session, study: Study, count: int) -> list[int]:
    """Add queries that share the candidates of the first one, as a later import would."""
    first = queries_of(session, study)
    pages = session.scalars(select(Candidate).where(Candidate.query_id == first[0].id)).all()
    made = []
    for number in range(len(first), len(first) + count):
        query = Query(
            study_id=study.id, external_id=f"q{number}", text=f"added {number}", position=number
        )
        session.add(query)
        session.flush()
        for page in pages:
            found = Candidate(
                query_id=query.id, document_id=page.document_id, position=page.position
            )
            session.add(found)
        made.append(query.id)
    session.flush()
    return made


def active(session: Session) -> list[Assignment]:
    return list(session.scalars(select(Assignment).where(Assignment.withdrawn_at.is_(None))))


def refuse_doubles(session: Session) -> None:
    met = Counter((row.user_id, row.query_id) for row in active(session))
    assert set(met.values()) == {1}
    judged = Counter((row.query_id, row.tool, row.round) for row in active(session))
    assert set(judged.values()) == {1}


def test_added_queries_form_folds_of_their_own(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    before = {row.id for row in assign_rotation(session, study, ids, rounds=2)}
    added = add_queries(session, study, 5)
    made = assign_rotation(session, study, ids, rounds=2)
    assert {row.query_id for row in made} == set(added)
    assert len(made) == 5 * 2 * 2
    loads = Counter(row.user_id for row in made)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert before < {row.id for row in active(session)}
    refuse_doubles(session)


def test_an_added_assessor_shares_new_queries_and_breaks_nothing(
    session: Session, study: Study
) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    assign_rotation(session, study, ids, rounds=2)
    ids += make_people(session, "E")
    assert assign_rotation(session, study, ids, rounds=2) == []
    add_queries(session, study, 10)
    made = assign_rotation(session, study, ids, rounds=2)
    loads = Counter(row.user_id for row in made)
    assert set(loads) == set(ids)
    assert max(loads.values()) - min(loads.values()) <= 1
    refuse_doubles(session)


def test_a_round_can_be_added_after_people_changed(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    assign_rotation(session, study, ids, rounds=1)
    ids += make_people(session, "E")
    made = assign_rotation(session, study, ids[1:], rounds=2)
    assert len(made) == 8 * 2
    assert ids[0] not in {row.user_id for row in made}
    assert ids[4] in {row.user_id for row in made}
    refuse_doubles(session)


def test_a_rotation_of_an_earlier_version_is_continued(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    assign_rotation(session, study, ids, rounds=1)
    study.rotations = {"ruled": {"people": ids, "seed": "tulips"}}
    add_queries(session, study, 4)
    made = assign_rotation(session, study, ids, rounds=2)
    assert len(made) == 8 * 2 + 4 * 4
    refuse_doubles(session)


def test_the_preview_shows_each_step_and_what_is_new(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    assign_rotation(session, study, ids, rounds=2)
    add_queries(session, study, 4)
    seen = preview(session, study, ids, rounds=2, seed=None)
    assert seen.refusal is None
    assert [grid.new for grid in seen.grids] == [False, True]
    assert [grid.total for grid in seen.grids] == [32, 16]
    assert seen.new == 16


def test_a_warning_names_tools_whose_pairs_tell_no_errors_apart(
    session: Session, study: Study
) -> None:
    four = make_people(session, "A", "B", "C", "D")
    assert preview(session, study, four, rounds=2, seed=None).unidentified == []
    study.settings = StudySettings(k=2, tools=(Tool.PAIRS,))
    two = preview(session, study, four[:2], rounds=2, seed=None)
    assert two.unidentified == [Tool.PAIRS]
    assert preview(session, study, four[:2], rounds=1, seed=None).unidentified == []


def test_too_few_free_people_are_named_with_what_to_do(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    (row, *_) = assign_rotation(session, study, ids, rounds=2)
    manual_assignment.withdraw(session, study, row.id)
    refused = pytest.raises(
        Invalid, match=r"q\d needs 1 more assessor, and no selected person is free"
    )
    with refused, manual_assignment.explaining(session, study):
        assign_rotation(session, study, ids, rounds=2)


def test_withdrawn_work_is_a_gap_that_can_be_filled(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    made = assign_rotation(session, study, ids, rounds=1)
    lost = manual_assignment.withdraw(session, study, made[0].id)
    planned = plan_filling(session, study, ids)
    (gap,) = planned.gaps
    assert (gap.query, gap.tool, gap.round_number) == (lost.query.external_id, lost.tool, 1)
    assert gap.lost == lost.user.name
    assert gap.taker is not None
    assert gap.taker.id != lost.user_id
    assert preview(session, study, ids, rounds=1, seed=None).new == 1
    (filled,) = fill_gaps(session, study, ids)
    assert (filled.query_id, filled.tool, filled.round) == (lost.query_id, lost.tool, 0)
    assert plan_filling(session, study, ids).gaps == []
    refuse_doubles(session)


def test_a_gap_that_nobody_can_fill_is_shown_with_the_reason(
    session: Session, study: Study
) -> None:
    ids = make_people(session, "A", "B")
    made = assign_rotation(session, study, ids, rounds=1)
    manual_assignment.withdraw(session, study, made[0].id)
    planned = plan_filling(session, study, ids)
    assert [gap.taker for gap in planned.gaps] == [None]
    assert "no selected person is free" in str(planned.refusal)
    with pytest.raises(Invalid, match="no selected person is free"):
        fill_gaps(session, study, ids)


def test_a_reassigned_query_is_no_gap(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    made = assign_rotation(session, study, ids, rounds=1)
    row = next(row for row in made if row.user_id == ids[0])
    free = manual_assignment.free_for(
        session, study, AssignmentSpec(ids[0], row.query_id, row.tool, 5)
    )
    manual_assignment.reassign(session, study, row.id, free[0].email)
    assert plan_filling(session, study, ids).gaps == []


def test_unfinished_work_is_rebalanced_as_planned(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    made = assign_rotation(session, study, ids, rounds=1)
    made[0].finished_at = made[0].last_entry_at = now()
    made[1].last_entry_at = now()
    session.flush()
    ids += make_people(session, "E")
    plan = plan_rebalancing(session, study, ids)
    assert {shift.taker.name for shift in plan.shifts} == {"E"}
    after = [load.after for load in plan.loads]
    assert max(after) - min(after) <= 1
    moved = apply_rebalancing(session, study, ids, digest=plan.digest)
    assert len(moved) == len(plan.shifts) == 3
    assert {made[0].withdrawn_at, made[1].withdrawn_at} == {None}
    assert plan_rebalancing(session, study, ids).shifts == []
    refuse_doubles(session)
    assert plan_filling(session, study, ids).gaps == []


def test_a_plan_that_has_changed_is_not_executed(session: Session, study: Study) -> None:
    ids = make_people(session, "A", "B", "C", "D")
    assign_rotation(session, study, ids, rounds=1)
    ids += make_people(session, "E")
    plan = plan_rebalancing(session, study, ids)
    moved = session.get_one(Assignment, plan.shifts[0].assignment_id)
    moved.last_entry_at = now()
    session.flush()
    with pytest.raises(Conflict, match="look at the new plan"):
        apply_rebalancing(session, study, ids, digest=plan.digest)


def test_audit_rows_of_assignments_name_person_and_query(session: Session, study: Study) -> None:
    make_people(session, "A", "B")
    one = manual_assignment.assign_one(
        session, study, email="a@x.example", query="q3", tool=Tool.PAIRS, round_number=1
    )
    manual_assignment.withdraw(session, study, one.id)
    manual_assignment.assign_one(
        session, study, email="a@x.example", query="q3", tool=Tool.PAIRS, round_number=1
    )
    made, gone, back = session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()
    assert made.detail["work"] == ["q3 pairs round 1: a@x.example"]
    for event in (gone, back):
        assert event.detail["work"] == ["q3 pairs round 1: a@x.example"]


def test_a_refused_reassignment_does_not_offer_the_person_it_is_taken_from(
    session: Session, study: Study
) -> None:
    make_people(session, "Chidi", "Dora", "Bao")
    row = manual_assignment.assign_one(
        session, study, email="chidi@x.example", query="q1", tool=Tool.PAIRS, round_number=1
    )
    manual_assignment.assign_one(
        session, study, email="dora@x.example", query="q1", tool=Tool.GRADES, round_number=1
    )
    with pytest.raises(RuleBroken, match=r"Only Bao can take it") as refused:
        manual_assignment.reassign(session, study, row.id, "dora@x.example")
    assert "Chidi" not in str(refused.value)
