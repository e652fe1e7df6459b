"""Two lists of a query: people, their consensus and systems, with ranks and agreement."""

import pytest
from sqlalchemy import select

from tests.systems import run_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Document, Query, Ranking, Study
from topkapi.app.domain.errors import NotFound
from topkapi.app.services.results.compared_lists import (
    ComparedLists,
    compare_lists,
    list_choices,
    unjudged_by_system,
)
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.query_results import query_results
from topkapi.app.services.results.systems.runs import add_runs, read_runs


def compared(sessions: Sessions, a: str, b: str, query: str = "q0") -> ComparedLists:
    with sessions.read() as session:
        source = StudySource(session, "tulips")
        number = session.scalars(select(Query.id).where(Query.external_id == query)).one()
        found = query_results(source, number)
        choices = list_choices(source, found, [each.assessor for each in found.finished])
        keys = {each.name.split()[0]: each.key for each in (*choices.people, *choices.systems)}
        return compare_lists(source, found, choices, (keys.get(a, a), keys.get(b, b)))


@pytest.fixture
def judged(judged: Sessions) -> Sessions:
    with judged.write.begin() as session:
        study = session.scalars(select(Study)).one()
        runs = [("a", run_of("up").encode()), ("b", run_of("down", turned=True).encode())]
        runs.append(("c", b"q1 Q0 q1-d0 1 1 elsewhere\nq0 Q0 unknown 1 1 strange\n"))
        add_runs(session, study, read_runs(runs))
        query = session.scalars(select(Query.id).where(Query.external_id == "q0")).one()
        page = session.scalars(select(Document.id).where(Document.external_id == "q0-d2")).one()
        session.add(Ranking(query_id=query, system="listed", documents=[page]))
    return judged


def test_pages_of_systems_that_nobody_has_judged_are_named(judged: Sessions) -> None:
    with judged.write.begin() as session:
        source = StudySource(session, "tulips")
        query = session.scalars(select(Query).where(Query.external_id == "q0")).one()
        found = unjudged_by_system(source, query.id)
        assert [(each.system, each.documents) for each in found if each.documents] == [
            ("strange", ("unknown",))
        ]
        assert {each.system: each.listed for each in found if each.system != "strange"} == {
            "down": 6, "elsewhere": 0, "listed": 1, "up": 6
        }  # fmt: skip
        for row in session.scalars(select(Assignment).where(Assignment.query_id == query.id)):
            row.withdrawn_at = row.created_at
        session.flush()
        last = unjudged_by_system(source, query.id)
        assert [len(each.documents) for each in last] == [6, 6, 1, 1, 0], "most first"


def test_a_list_agrees_with_itself(judged: Sessions) -> None:
    found = compared(judged, "Consensus", "Consensus")
    assert found.shared == found.k
    assert [found.rbo, found.tau] == pytest.approx([1, 1])
    assert all(one == two and one is not None and one.rise == 0 for one, two in found.rows)


def test_people_and_systems_are_compared_rank_by_rank(judged: Sessions) -> None:
    found = compared(judged, "up", "down")
    mine = [each.document for each, _ in found.rows if each is not None]
    theirs = [each.document for _, each in found.rows if each is not None]
    assert mine == [f"q0-d{number}" for number in range(found.k)]
    assert theirs == [f"q0-d{5 - number}" for number in range(found.k)]
    assert found.shared == len({*mine} & {*theirs})
    assert found.tau is not None
    assert found.tau < 0
    person = compared(judged, "Consensus", "Ansa")
    turned = compared(judged, "Ansa", "Consensus")
    assert person.rows == tuple((one, two) for two, one in turned.rows)
    for one, two in person.rows:
        for each, others in ((one, turned.rows), (two, person.rows)):
            if each is not None and each.rise is not None:
                (same,) = (x for x, _ in others if x is not None and x.document == each.document)
                assert same.rank == each.rank + each.rise
    with pytest.raises(NotFound, match="no list 'person:99'"):
        compared(judged, "Consensus", "person:99")


def test_a_run_without_the_query_has_an_empty_list(judged: Sessions) -> None:
    found = compared(judged, "Consensus", "elsewhere")
    assert (found.shared, found.rbo, found.tau) == (0, 0.0, None)
    assert all(two is None for _, two in found.rows)
    strange = compared(judged, "strange", "Consensus")
    assert [each.document for each, _ in strange.rows if each is not None] == ["unknown"]
    listed = compared(judged, "listed", "listed")
    assert [each.document for each, _ in listed.rows if each is not None] == ["q0-d2"]
