from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.exporting import judge
from tests.factories import BOTH, make_study, make_user, queries_of
from topkapi.app.db.models import Assignment, AuditEvent, Candidate, Study
from topkapi.app.domain.assignment.rotation import AssignmentSpec, RuleBroken
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.domain.grades.session import GradePlan
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.assignments.rotation import assign, assign_rotation, plan_rotation
from topkapi.app.services.assignments.steps import Spec


def study_with(session: Session, tools: tuple[Tool, ...] = BOTH, queries: int = 6) -> Study:
    return make_study(session, queries=queries, documents=4, k=2, tools=tools, check_share=0.1)


def people(session: Session, count: int) -> list[int]:
    return [make_user(session).id for _ in range(count)]


def share(user_id: int, query_id: int, tool: Tool = Tool.PAIRS, number: int = 0) -> Spec:
    return AssignmentSpec(user_id, query_id, tool, number)


def test_the_rotation_gives_everyone_their_folds(session: Session) -> None:
    study = study_with(session)
    users = people(session, 5)
    made = assign_rotation(session, study, users, rounds=2)
    assert len(made) == 6 * 2 * 2
    met = Counter((row.user_id, row.query_id) for row in made)
    assert set(met.values()) == {1}
    event = session.scalars(select(AuditEvent)).one()
    assert (event.action, event.detail["assignments"], event.detail["round_numbers"]) == (
        "study.assign",
        24,
        [1, 2],
    )
    assert len(event.detail["assessors"]) == 5
    assert any("q3 pairs round 1: person" in line for line in event.detail["work"])


def test_plans_hold_all_candidates_in_a_drawn_order(session: Session) -> None:
    study = study_with(session)
    users = people(session, 2)
    made = assign_rotation(session, study, users, rounds=1)
    for row in made:
        statement = select(Candidate.document_id).where(Candidate.query_id == row.query_id)
        documents = set(session.scalars(statement))
        if row.tool is Tool.PAIRS:
            plan = Plan.from_json(row.plan)
            assert (plan.k, plan.check_share, set(plan.order)) == (2, 0.1, documents)
        else:
            assert set(GradePlan.from_json(row.plan).order) == documents
    assert len({row.plan["seed"] for row in made}) == len(made)


def test_a_seed_fixes_every_draw(session: Session) -> None:
    study = study_with(session)
    users = people(session, 2)
    made = assign(session, study, [share(users[0], queries_of(session, study)[0].id)], seed="s")
    plan = made[0].plan
    session.delete(made[0])
    session.flush()
    again = assign(session, study, [share(users[0], queries_of(session, study)[0].id)], seed="s")
    assert again[0].plan == plan


def test_a_further_round_adds_only_itself(session: Session) -> None:
    study = study_with(session)
    users = people(session, 4)
    assign_rotation(session, study, users, rounds=1)
    grid = plan_rotation(session, study, users, rounds=2).added
    assert {work.round for work in grid} == {1}
    assert len(assign_rotation(session, study, users, rounds=2)) == 12
    assert plan_rotation(session, study, users, rounds=2).added == []
    with pytest.raises(Invalid, match="allow 2 rounds"):
        plan_rotation(session, study, users, rounds=3)


def test_unknown_and_unfit_things_are_refused(session: Session) -> None:
    study, other = study_with(session, tools=(Tool.PAIRS,)), study_with(session)
    (user,) = people(session, 1)
    query = queries_of(session, study)[0].id
    with pytest.raises(NotFound, match="no user with the id"):
        assign(session, study, [share(10**6, query)])
    with pytest.raises(NotFound, match="no query"):
        assign(session, study, [share(user, queries_of(session, other)[0].id)])
    with pytest.raises(Invalid, match="tools are pairs"):
        assign(session, study, [share(user, query, Tool.GRADES)])
    with pytest.raises(Invalid, match="no round 0"):
        assign(session, study, [share(user, query, number=-1)])
    disabled = make_user(session)
    disabled.disabled_at = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(Conflict, match="disabled"):
        assign(session, study, [share(disabled.id, query)])
    study.archived_at = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(Conflict, match="archived"):
        assign(session, study, [share(user, query)])
    assert session.scalars(select(Assignment)).all() == []


def test_what_breaks_the_rule_is_refused_whole(session: Session) -> None:
    study = study_with(session)
    one, two = people(session, 2)
    first, second = (query.id for query in queries_of(session, study)[:2])
    assign(session, study, [share(one, first)])
    for breach, reason in [
        (share(one, first), "already has"),
        (share(one, first, number=1), "already has"),
        (share(one, first, Tool.GRADES), "two tools"),
        (share(two, first), "someone else"),
    ]:
        with pytest.raises(RuleBroken, match=reason):
            assign(session, study, [share(two, second), breach])
    assert len(session.scalars(select(Assignment)).all()) == 1


def test_withdrawn_work_can_go_to_someone_else_but_was_seen(session: Session) -> None:
    study = study_with(session)
    one, two = people(session, 2)
    query = queries_of(session, study)[0].id
    (row,) = assign(session, study, [share(one, query)])
    row.withdrawn_at = datetime(2026, 1, 2, tzinfo=UTC)
    row.last_entry_at = datetime(2026, 1, 1, tzinfo=UTC)
    session.flush()
    assign(session, study, [share(two, query)])
    with pytest.raises(RuleBroken, match="two tools"):
        assign(session, study, [share(one, query, Tool.GRADES)])


def test_the_people_of_a_team_have_one_plan_and_a_machine_its_own(session: Session) -> None:
    study = make_study(session, queries=3, documents=4, k=2, sorter="robust", together=True)
    users = people(session, 3)
    made = assign_rotation(session, study, users, rounds=3)
    machine = make_user(session)
    machine.machine = True
    session.flush()
    query = queries_of(session, study)[0].id
    alone = assign(session, study, [share(machine.id, query)])[0]
    plans = {row.plan_digest for row in made}
    assert len(made) == 9
    assert len(plans) == 3, "one per query"
    assert all(Plan.from_json(row.plan).together for row in made)
    assert not Plan.from_json(alone.plan).together


def test_a_team_needs_the_robust_sorter() -> None:
    with pytest.raises(Invalid, match="robust") as refused:
        StudySettings(together=True)
    assert refused.value.field == "together"


@pytest.mark.both
def test_a_prior_is_the_feature_of_the_candidates_in_the_order_of_the_plan(
    session: Session,
) -> None:
    study = make_study(session, queries=2, documents=4, k=2, sorter="robust", prior="bm25")
    first, second = (query.id for query in queries_of(session, study))
    user, other = people(session, 2)
    with pytest.raises(Conflict, match="No candidate has the feature 'bm25'"):
        assign(session, study, [share(user, first)])
    statement = select(Candidate).where(Candidate.query_id == first).order_by(Candidate.position)
    rows = session.scalars(statement).all()
    for row, score in zip(rows, (1.5, -2, None, 4), strict=True):
        row.features = {"length": 7.0} if score is None else {"bm25": score, "length": 9.0}
        row.grade = row.position
    session.flush()
    scores = {
        row.document_id: value for row, value in zip(rows, (1.5, -2, 3.5 / 3, 4), strict=True)
    }
    guided, free = (
        Plan.from_json(row.plan)
        for row in assign(session, study, [share(user, first), share(user, second)])
    )
    assert guided.guide == pytest.approx([scores[document] for document in guided.order])
    assert free.guide == ()
    study.settings = StudySettings(k=2, sorter="robust", prior="grade")
    graded = Plan.from_json(assign(session, study, [share(other, first, number=1)])[0].plan)
    positions = {row.document_id: float(row.position) for row in rows}
    assert graded.guide == tuple(positions[document] for document in graded.order)


@pytest.mark.both
def test_a_machine_is_the_prior_of_queries_that_it_has_judged(session: Session) -> None:
    rules: dict[str, Any] = {"sorter": "robust", "tools": BOTH, "prior": "machine:model one"}
    study = make_study(session, queries=3, documents=4, k=2, **rules)
    graded, listed, left = (query.id for query in queries_of(session, study))
    person, machine = make_user(session).id, make_user(session, name="Model One")
    machine.machine = True
    session.flush()
    with pytest.raises(NotFound, match="No assessor 'model one' has work"):
        assign(session, study, [share(person, graded)])
    works = [share(machine.id, graded, Tool.GRADES), share(machine.id, listed)]
    for row in assign(session, study, works):
        assert "guide" not in row.plan, "a machine judges by itself"
        judge(session, row)
    by_grade, by_list, without = (
        Plan.from_json(row.plan)
        for row in assign(
            session, study, [share(person, query) for query in (graded, listed, left)]
        )
    )
    seed = 32  # characters; grades follow from it
    assert by_grade.guide == tuple((page * 7 + seed) % 5 for page in by_grade.order)
    assert sorted(by_list.guide) == [0, 0, 1, 2]
    assert without.guide == ()
    study.settings = replace(study.settings, prior="machine:Ansa Lehto")
    with pytest.raises(Conflict, match="No machine 'Ansa Lehto'"):
        assign(session, study, [share(make_user(session, name="Second").id, left, number=1)])
