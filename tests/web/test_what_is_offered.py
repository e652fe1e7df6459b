"""Only formats that work are offered, notes say what is true, and titles name the problem."""

import httpx
import pytest
from sqlalchemy import select

from tests.factories import Enter, make_study
from tests.ranked import Judge, give_lists, make_ranked_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Candidate
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.services.results.exports import EXPORTS, StudySource, listed_exports
from topkapi.app.services.results.reports.service import make_report


@pytest.fixture
def page(client: httpx.Client, enter: Enter) -> httpx.Client:
    enter(role=Role.RESEARCHER)
    return client


def test_letor_is_offered_only_with_features(page: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="plain")
    assert 'exports/letor"' not in page.get("/studies/plain/exports").text
    with sessions.write.begin() as session:
        for candidate in session.scalars(select(Candidate)):
            candidate.features = {"bm25": 1.5}
    assert 'exports/letor"' in page.get("/studies/plain/exports").text


def test_every_format_names_no_raw_markdown() -> None:
    assert not any("`" in each.description for each in EXPORTS.values())


def test_a_finished_study_of_lists_is_not_called_unassigned(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = make_ranked_study(session, slug="lists", tools=(Tool.LISTS,), systems=2)
        work = give_lists(session, study)
        Judge(session, work).say()
    with sessions.read() as session:
        source = StudySource(session, "lists")
        notes = make_report(source).notes or ()
        assert "letor" not in {each.format for each in listed_exports(source)}
    assert notes is not None
    assert "compares lists only (lists: 1 of 1 finished)" in notes[0]
    assert not any("Nothing is assigned" in note for note in notes)
