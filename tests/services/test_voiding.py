"""Void work is kept and marked, leaves every result, can be filled and restored; bulk changes."""

import json
from collections import Counter

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.exporting import make_judged_study
from tests.factories import BOTH, make_people, make_study, make_user
from topkapi.app.db.models import Assignment, AuditEvent, JudgmentRow, Study
from topkapi.app.domain.assignment.rotation import RuleBroken
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services.assignments import bulk, manual_assignment
from topkapi.app.services.assignments.gaps import fill_gaps, plan_filling
from topkapi.app.services.assignments.rotation import assign_rotation
from topkapi.app.services.results.exports import StudySource, completeness, open_export
from topkapi.app.services.results.reports.cache import state_of


@pytest.fixture
def judged(session: Session) -> Study:
    make_judged_study(session)
    rounds: Counter[tuple[int, Tool]] = Counter()
    for row in session.scalars(select(Assignment).order_by(Assignment.id)):
        row.round = rounds[row.query_id, row.tool]  # one assessor per query, tool and round
        rounds[row.query_id, row.tool] += 1
    session.flush()
    return session.scalars(select(Study)).one()


def finished(session: Session) -> Assignment:
    statement = select(Assignment).where(
        Assignment.finished_at.is_not(None),
        Assignment.withdrawn_at.is_(None),
        Assignment.tool == Tool.PAIRS,
    )
    return session.scalars(statement.order_by(Assignment.id).limit(1)).one()


def exported(session: Session, name: str) -> bytes:
    return b"".join(open_export(session, "tulips", name).chunks)


def test_void_work_is_kept_but_out_of_every_result(session: Session, judged: Study) -> None:
    row = finished(session)
    before = completeness(StudySource(session, judged.slug)).finished
    state, topk = state_of(StudySource(session, judged.slug)), exported(session, "topk.jsonl")
    log = session.scalars(select(JudgmentRow.id).where(JudgmentRow.assignment_id == row.id)).all()
    bulk.void(session, judged, [row.id], reason="clicked  left throughout")
    assert completeness(StudySource(session, judged.slug)).finished == before - 1
    assert state_of(StudySource(session, judged.slug)) != state
    without = exported(session, "topk.jsonl")
    assert len(without.splitlines()) == len(topk.splitlines()) - 1
    kept = session.scalars(select(JudgmentRow.id).where(JudgmentRow.assignment_id == row.id)).all()
    assert list(kept) == list(log)
    event = session.scalars(select(AuditEvent).where(AuditEvent.action == "assignment.void")).one()
    assert event.detail["reason"] == "clicked left throughout"
    entries = [json.loads(line) for line in exported(session, "judgments.jsonl").splitlines()]
    marked = {(each["withdrawn"], each["void"]) for each in entries}
    assert {(False, False), (True, True), (True, False)} == marked, "void is not withdrawn"
    bulk.restore(session, judged, [row.id])
    assert exported(session, "topk.jsonl") == topk
    assert row.voided_at is None


def test_one_act_on_many_assignments_is_one_row_of_the_audit_log(
    session: Session, judged: Study
) -> None:
    rows = session.scalars(
        select(Assignment).where(
            Assignment.finished_at.is_not(None), Assignment.withdrawn_at.is_(None)
        )
    ).all()
    ids = [row.id for row in rows]
    assert len(ids) > 2
    before = len(session.scalars(select(AuditEvent)).all())
    bulk.void(session, judged, ids, reason="a mistake")
    bulk.restore(session, judged, ids)
    session.flush()
    void, back = session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()[before:]
    assert (void.action, void.subject, void.detail["reason"]) == (
        "assignment.void",
        judged.slug,
        "a mistake",
    )
    assert back.action == "assignment.unvoid"
    for event in (void, back):
        assert (event.detail["assignments"], len(event.detail["work"])) == (len(ids), len(ids))


def test_only_finished_work_is_voided_and_only_with_a_reason(
    session: Session, judged: Study
) -> None:
    row = finished(session)
    with pytest.raises(Invalid, match="Enter a reason"):
        bulk.void(session, judged, [row.id], reason=" ")
    with pytest.raises(Invalid, match="Select at least one"):
        bulk.void(session, judged, [], reason="x")
    with pytest.raises(NotFound, match="no assignment 99999"):
        bulk.void(session, judged, [row.id, 99999], reason="x")
    with pytest.raises(Conflict, match="is not void"):
        bulk.restore(session, judged, [row.id])
    unfinished = select(Assignment.id).where(Assignment.finished_at.is_(None)).limit(1)
    with pytest.raises(Conflict, match="is not finished"):
        bulk.void(session, judged, [session.scalars(unfinished).one()], reason="x")
    bulk.void(session, judged, [row.id], reason="x")
    with pytest.raises(Conflict, match="is not finished"):
        bulk.void(session, judged, [row.id], reason="x")
    with pytest.raises(Conflict, match="was voided"):
        manual_assignment.assign_one(
            session,
            judged,
            email=row.user.email,
            query=row.query.external_id,
            tool=row.tool,
            round_number=row.round + 1,
        )


@pytest.fixture
def running(session: Session) -> tuple[Study, list[int]]:
    study = make_study(session, slug="roses", queries=8, documents=3, k=2, tools=BOTH)
    ids = make_people(session, *"ABCDEF")
    assign_rotation(session, study, ids, rounds=1)
    return study, ids


def of_person(session: Session, user_id: int) -> list[int]:
    statement = select(Assignment.id).where(
        Assignment.user_id == user_id, Assignment.withdrawn_at.is_(None)
    )
    return sorted(session.scalars(statement))


def test_all_work_of_a_person_goes_evenly_to_the_others(
    session: Session, running: tuple[Study, list[int]]
) -> None:
    study, ids = running
    given = of_person(session, ids[0])
    made = bulk.reassign(session, study, given)
    assert len(made) == len(given)
    assert of_person(session, ids[0]) == []
    loads = Counter(row.user_id for row in made)
    assert max(loads.values()) - min(loads[each] for each in ids[1:]) <= 1
    met = Counter(
        (row.user_id, row.query_id)
        for row in session.scalars(select(Assignment).where(Assignment.withdrawn_at.is_(None)))
    )
    assert set(met.values()) == {1}


def test_bulk_changes_are_all_or_nothing(
    session: Session, running: tuple[Study, list[int]]
) -> None:
    study, ids = running
    given = of_person(session, ids[0])
    row = session.get_one(Assignment, given[-1])
    row.finished_at = row.created_at
    session.flush()
    with pytest.raises(Conflict, match="Void it instead"), session.begin_nested():
        bulk.withdraw(session, study, given)
    assert of_person(session, ids[0]) == given
    bulk.withdraw(session, study, given[:-1])
    assert of_person(session, ids[0]) == given[-1:]
    with pytest.raises(Invalid, match="Select at least one"):
        bulk.reassign(session, study, [])


def test_a_void_query_is_a_gap_and_cannot_be_restored_once_filled(
    session: Session, running: tuple[Study, list[int]]
) -> None:
    study, ids = running
    row = session.get_one(Assignment, of_person(session, ids[0])[0])
    row.finished_at = row.last_entry_at = row.created_at
    session.flush()
    fresh = make_user(session, name="Fresh")
    bulk.void(session, study, [row.id], reason="x")
    (gap,) = plan_filling(session, study, [fresh.id]).gaps
    assert gap.taker is not None
    assert (gap.lost, gap.taker.id) == ("A", fresh.id)
    fill_gaps(session, study, [fresh.id])
    with pytest.raises(
        RuleBroken, match=r"Fresh already judges .* Withdraw or void that work first"
    ):
        bulk.restore(session, study, [row.id])
