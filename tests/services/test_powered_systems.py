"""Scores of systems from few queries of people, drawn at random, and many of a machine."""

from dataclasses import replace

import numpy as np
import pytest
from fastapi import FastAPI
from httpx import Client
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.chat_endpoint import ChatEndpoint, serving_chat
from tests.exporting import judge
from tests.factories import make_user, queries_of, sign_in
from tests.ranked import Judge, give_lists, make_ranked_study
from tests.services.test_machines import result_of, run
from topkapi.analysis.data.exports import Label
from topkapi.analysis.report.subjects.systems import PoweredScores
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Query, Study
from topkapi.app.domain.assignment.growth import drawn
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.services.assignments.rotation import assign_rotation
from topkapi.app.services.machines.importing import import_grades
from topkapi.app.services.results.systems.cache import SystemReports
from topkapi.app.services.results.systems.scoring import WON

SLUG, QUERIES, OF_PEOPLE, PAGES = "powered", 20, 8, 6


def judged_study(sessions: Sessions) -> set[str]:
    """Let two people judge the queries drawn for them, and a machine all; return the former."""
    with sessions.write.begin() as session:
        study = make_ranked_study(
            session,
            slug=SLUG,
            queries=QUERIES,
            documents=PAGES,
            systems=2,
            tools=(Tool.GRADES,),
            people_queries=OF_PEOPLE,
        )
        people = [make_user(session).id for _ in range(2)]
        for work in assign_rotation(session, study, people, rounds=1):
            judge(session, work)
        given = set(session.scalars(select(Query.external_id).join(Assignment)))
        random = np.random.default_rng(0)
        labels = [
            Label(query.external_id, f"{query.external_id}-d{page}", int(random.integers(5)))
            for query in queries_of(session, study)
            for page in range(PAGES)
        ]
    import_grades(sessions, SLUG, "gpt", labels)
    return given


def powered(session: Session, people_queries: int | None = OF_PEOPLE) -> tuple[PoweredScores, ...]:
    study = session.scalars(select(Study)).one()
    study.settings = replace(study.settings, people_queries=people_queries)
    session.flush()
    report = SystemReports().report(session, SLUG, baseline="system-0")
    assert report.powered is not None
    return report.powered


@pytest.mark.thorough
def test_scores_of_few_queries_of_people_and_many_of_a_machine(
    sessions: Sessions, app: FastAPI, client: Client
) -> None:
    given = judged_study(sessions)
    names = [f"q{number}" for number in range(QUERIES)]
    assert given == set(drawn(names, OF_PEOPLE, SLUG))
    assert len(given) == OF_PEOPLE
    with sessions.write() as session:
        first, second = powered(session)
        report = SystemReports().report(session, SLUG)
        assert report.scores is not None
        alone = {
            each.system: each.score(first.measure).mean.value for each in report.scores.systems
        }
        assert (first.machine, second.measure) == ("gpt", "compatibility:.95")
        for row in first.systems:
            mean = row.mean
            assert (mean.labelled, mean.machine_only) == (OF_PEOPLE, QUERIES - OF_PEOPLE)
            assert mean.people_value == pytest.approx(alone[row.system])
            assert mean.low < mean.value < mean.high
            assert (row.difference is None) == (row.system == "system-0")
            assert 1 <= row.ranks[0] <= row.ranks[1] <= 2
        admin = make_user(session, role=Role.ADMIN)
        session.commit()
    sign_in(app, client, admin)
    page = client.get(f"/studies/{SLUG}/systems").text
    assert "with the labels of gpt" in page
    assert "People and machine" in page


@pytest.mark.thorough
def test_the_interval_is_refused_where_people_s_queries_were_not_drawn(sessions: Sessions) -> None:
    judged_study(sessions)
    with sessions.write() as session:
        assert "were not drawn at random" in powered(session, None)[0].reason
        more = powered(session, OF_PEOPLE + 1)[0]
        assert f"judged {OF_PEOPLE} of the {OF_PEOPLE + 1} queries" in more.reason
        assert more.systems == ()
        session.rollback()


@pytest.mark.thorough
def test_ranks_of_systems_from_few_comparisons_of_people_and_many_of_a_machine(
    sessions: Sessions,
) -> None:
    with sessions.write.begin() as session:
        study = make_ranked_study(
            session, slug=SLUG, queries=24, documents=PAGES, systems=3, people_queries=12
        )
        names = {query.external_id: query for query in queries_of(session, study)}
        person = make_user(session)
        for name in drawn(names, 12, SLUG):
            work = give_lists(session, study, names[name], user=person)
            Judge(session, work).to_the_end()
    with serving_chat(ChatEndpoint()) as endpoint:
        result_of(run(sessions, SLUG, endpoint, tools=["lists"], concurrency=1))
    with sessions.write() as session:
        (found,) = powered(session, 12)
        assert (found.machine, found.measure, found.reason) == ("fake", WON, "")
        assert [row.mean.machine_only for row in found.systems] == [12] * 3
        ranks = {row.system: row.people_ranks for row in found.systems}
        # The person goes by the first page, which is the same in two of the systems.
        assert ranks == {"system-0": (3, 3), "system-1": (1, 2), "system-2": (1, 2)}
        more = powered(session, 13)[0]
        assert "judged 12 of the 13 queries" in more.reason


def test_a_larger_draw_holds_every_smaller_one() -> None:
    names = [f"q{number}" for number in range(50)]
    for most in range(49):
        assert set(drawn(names, most, "a")) < set(drawn(reversed(names), most + 1, "a"))
    assert drawn(names, None, "a") == names
    assert drawn(names, 10, "a") != drawn(names, 10, "b")
