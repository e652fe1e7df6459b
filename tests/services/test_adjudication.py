"""Adjudication: the open pairs of a query go to a new person and enter the consensus."""

import json
from itertools import product
from typing import Any

import pytest
from sqlalchemy.orm import Session

from tests.assessing import Assessor
from tests.factories import make_study, make_user, queries_of
from topkapi.app.db.models import Assignment, Study, User
from topkapi.app.domain.assignment.rotation import ADJUDICATION
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.assignments import bulk, gaps, manual_assignment, rebalancing
from topkapi.app.services.assignments.adjudication import (
    assign_adjudication,
    assign_proposals,
    disagreements,
)
from topkapi.app.services.progress.study_progress import overview
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.exports.consensus import consensus_lists
from topkapi.app.services.results.exports.formats import EXPORTS
from topkapi.app.services.results.query_results import query_results


def judge(session: Session, row: Assignment, best: list[str]) -> None:
    """Answer every question in favour of the page that comes first in ``best``."""
    assessor = Assessor(session, row)
    while shown := assessor.shown():
        left, right = map(best.index, shown)
        assessor.answer("left" if left < right else "right")


def split_study(
    session: Session, slug: str = "tulips", queries: int = 1
) -> tuple[Study, list[User]]:
    """Create a study in which two people disagree about the best two pages of one query or more."""
    study = make_study(session, slug=slug, queries=2, documents=4, k=2)
    people = [make_user(session, name=name) for name in ("Ansa", "Bao", "Chidi")]
    for query, (number, person) in product(range(queries), enumerate(people[:2])):
        names = [f"q{query}-d{page}" for page in range(4)]
        asked: dict[str, Any] = {
            "query": f"q{query}",
            "tool": Tool.PAIRS,
            "round_number": number + 1,
        }
        row = manual_assignment.assign_one(session, study, email=person.email, **asked)
        judge(session, row, names if number == 0 else [names[1], names[0], *names[2:]])
    return study, people


def top(session: Session, study: Study, method: str | None = None) -> tuple[str, ...]:
    from topkapi.app.services.results.exports.source import ExportOptions

    source = StudySource(session, study.slug, ExportOptions(consensus=method))
    (found,) = consensus_lists(source)
    return found.documents


def lines(session: Session, study: Study, name: str) -> list[str]:
    return [str(each) for each in EXPORTS[name].write(StudySource(session, study.slug))]


@pytest.mark.parametrize("winner", [0, 1])
def test_a_third_person_decides_what_two_disagree_about(session: Session, winner: int) -> None:
    study, people = split_study(session)
    found = disagreements(session, study)
    (case,) = found.queries
    assert (found.total, case.query, case.lists, len(case.pairs)) == (1, "q0", 2, 1)
    assert [person.name for person in case.free] == ["Chidi"]
    lists = lines(session, study, "topk.jsonl")
    row = assign_adjudication(session, study, query="q0", email=people[2].email)
    assert (row.round, len(row.plan["pairs"])) == (ADJUDICATION, 1)
    assert overview(session, study).all.sums.expected_left == 1
    assert disagreements(session, study).queries[0].is_waiting
    best = [f"q0-d{winner}", f"q0-d{1 - winner}"]
    judge(session, row, best)
    assert session.get_one(Assignment, row.id).answered == 1
    for method in (None, "supervised-kemeny"):
        assert top(session, study, method) == tuple(best)
    (case,) = disagreements(session, study).queries
    assert [each.finished for each in case.adjudicators] == [True]
    assert lines(session, study, "topk.jsonl") == lists  # an adjudication is no list
    answers = lines(session, study, "pairs.tsv")[1:]
    assert answers
    assert not [line for line in answers if line.rstrip().endswith(people[2].email)]
    (shown,) = query_results(StudySource(session, "tulips"), row.query_id).adjudications
    assert (shown.assessor, shown.state, len(shown.asked)) == ("Chidi", "finished", 1)
    assert {shown.asked[0].left, shown.asked[0].right} == set(best)
    rounds = [json.loads(line)["round"] for line in lines(session, study, "judgments.jsonl")]
    assert rounds.count(ADJUDICATION) == 1


def test_single_lists_do_not_disagree(session: Session) -> None:
    study = make_study(session, slug="tulips", queries=2, documents=4, k=2)
    person = make_user(session, name="Ansa")
    row = manual_assignment.assign_one(
        session, study, email=person.email, query="q0", tool=Tool.PAIRS, round_number=1
    )
    judge(session, row, [f"q0-d{number}" for number in range(4)])
    assert disagreements(session, study).total == 0


def test_nobody_adjudicates_a_query_they_have_met(session: Session) -> None:
    study, people = split_study(session)
    with pytest.raises(Conflict, match="no one judges a query twice"):
        assign_adjudication(session, study, query="q0", email=people[0].email)
    with pytest.raises(Conflict, match="nothing to adjudicate"):
        assign_adjudication(session, study, query="q1", email=people[2].email)
    row = assign_adjudication(session, study, query="q0", email=people[2].email)
    other = make_user(session, name="Dora")
    with pytest.raises(Conflict, match="Chidi has been assigned this adjudication"):
        assign_adjudication(session, study, query="q0", email=other.email)
    with pytest.raises(Conflict, match="cannot be reassigned"), session.begin_nested():
        manual_assignment.reassign(session, study, row.id, other.email)
    everyone = [person.id for person in (*people, other)]
    assert rebalancing.plan_rebalancing(session, study, everyone).shifts == []
    bulk.withdraw(session, study, [row.id])
    assert [each.query for each in gaps.plan_filling(session, study, everyone).gaps] == ["q1"]
    again = assign_adjudication(session, study, query="q0", email=other.email)
    judge(session, again, ["q0-d1", "q0-d0"])
    assert top(session, study) == ("q0-d1", "q0-d0")
    bulk.void(session, study, [again.id], reason="careless")
    assert not any(each.finished for each in disagreements(session, study).queries[0].adjudicators)
    bulk.restore(session, study, [again.id])
    assert top(session, study) == ("q0-d1", "q0-d0")
    later = manual_assignment.assign_one(
        session, study, email=make_user(session).email, query="q0", tool=Tool.PAIRS, round_number=3
    )
    assert later.query_id == queries_of(session, study)[0].id


def test_adjudicators_are_proposed_by_accuracy_and_load(session: Session) -> None:
    study, _ = split_study(session)
    names = ("Abe", "Bea", "Cleo", "Dan")
    void, wrong, busy, idle = (make_user(session, name=name) for name in names)
    for person, number in ((void, 3), (wrong, 4), (busy, 5), (idle, 6)):
        row = manual_assignment.assign_one(
            *(session, study), email=person.email, query="q1", tool=Tool.PAIRS, round_number=number
        )
        row.finished_at = None if person is busy else row.created_at
        row.known_answers, row.known_right = 20, 9 if person is wrong else 19
        session.flush()
        if person is void:
            bulk.void(session, study, [row.id], reason="clicks at random")
    (case,) = disagreements(session, study).queries
    assert [person.name for person in case.free] == ["Chidi", "Dan", "Cleo", "Bea", "Abe"]
    notes = {person.name: person.note for person in case.free}
    assert notes["Abe"] == "work voided"
    assert notes["Bea"] == "9 of 20 known answers right"
    assert notes["Chidi"] == "invited, has not signed in yet"


def test_the_proposals_for_many_queries_go_to_many_people(session: Session) -> None:
    from topkapi.app.services.assignments.adjudication import _Proposals

    people = [make_user(session, name=name) for name in ("Abe", "Bea", "Cleo")]
    proposals = _Proposals(people, {})
    first = [proposals.free(set())[0].name for _ in range(6)]
    assert first == ["Abe", "Bea", "Cleo"] * 2


def test_all_proposals_are_assigned_at_once(session: Session) -> None:
    study, people = split_study(session)
    assert assign_proposals(session, study) == 1
    (case,) = disagreements(session, study).queries
    assert [each.name for each in case.adjudicators] == [people[2].name]
    assert assign_proposals(session, study) == 0


def test_nobody_whose_work_was_voided_is_assigned_by_a_proposal(session: Session) -> None:
    study, people = split_study(session)
    row = manual_assignment.assign_one(
        *(session, study), email=people[2].email, query="q1", tool=Tool.PAIRS, round_number=1
    )
    row.finished_at = row.created_at
    session.flush()
    bulk.void(session, study, [row.id], reason="clicks at random")
    assert assign_proposals(session, study) == 0
