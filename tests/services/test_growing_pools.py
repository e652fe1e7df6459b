"""Candidates that are added to queries that people have judged: their work continues."""

from pathlib import Path

import pytest
from sqlalchemy import select

from tests.crowds import make_link
from tests.factories import make_user
from tests.services.test_labeling import answer_to
from tests.services.test_teams import Member
from tests.studies import append, small_study
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, CrowdWorker, Document, Study, User
from topkapi.app.domain.crowds import Platform
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Finished
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.assignments.rotation import assign_rotation
from topkapi.app.services.importing import (
    ImportReport,
    StudyRefused,
    import_and_commit,
    open_source,
    preview_study,
)
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.queue import WorkState, queue_of_user
from topkapi.app.services.progress.tables import Rates, payments

pytestmark = pytest.mark.both


MORE = '{"query": "q0", "document": "d6"}\n{"query": "q0", "document": "d7"}\n'


def load(sessions: Sessions, folder: Path) -> ImportReport:
    with open_source(folder) as source:
        return import_and_commit(sessions, source)


def judged(sessions: Sessions, folder: Path, settings: str, people: int) -> list[Member]:
    """Return the members who have finished the first query of a study of 6 pages."""
    small_study(folder, queries=2, documents=6)
    append(folder / "study.toml", settings)
    load(sessions, folder)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        users = [make_user(session).id for _ in range(people)]
        made = assign_rotation(session, study, users, rounds=people, seed="s")
        first = min(row.query_id for row in made)
        members = [Member(sessions, row) for row in made if row.query_id == first]
    finish(members)
    return members


def finish(members: list[Member]) -> list[frozenset[int]]:
    """Answer by the numbers of the pages in turn; return what was asked."""
    asked = []
    for number in range(200):
        member = members[number % len(members)]
        shown = member.look(LiveSessions()).state.shown
        if shown:
            asked.append(frozenset(shown))
            name = member.screen.documents[shown[0]].name
            given = SubmittedAnswer("good", document=name)
            if member.screen.tool is Tool.PAIRS:
                better = Answer.LEFT if shown[0] > shown[1] else Answer.RIGHT
                given = answer_to(member.screen, better)
            member.submit(Submission(member.screen.position, answer=given))
        elif all(each.is_finished() for each in members):
            break
    return asked


def test_what_was_finished_stays_payable_and_people_are_told_what_was_added(
    sessions: Sessions, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    [member] = judged(sessions, folder, "", 1)
    paid = _paid(sessions)
    append(folder / "candidates.jsonl", MORE)
    with open_source(folder) as source, sessions.read() as session:
        planned = preview_study(session, source)
    report = load(sessions, folder)
    with sessions.read() as session:
        person = session.get_one(User, member.user_id)
        works = queue_of_user(session, person.id).works
    assert planned.reopened == report.reopened == {person.email: 1}
    assert f"  reopened finished work: {person.email} 1" in report.lines()
    first = next(work for work in works if work.assignment_id == member.assignment_id)
    assert (first.state, first.added, first.ms_left) == (WorkState.BEGUN, 2, None)
    assert _paid(sessions) == paid == [1]
    state = member.look()
    better = max(state.state.shown)
    answer = Answer.LEFT if state.state.shown[0] == better else Answer.RIGHT
    left = member.submit(Submission(state.position, answer=answer_to(state, answer))).progress
    with sessions.read() as session:
        works = queue_of_user(session, person.id).works
    first = next(work for work in works if work.assignment_id == member.assignment_id)
    assert (first.added, first.expected_left) == (0, left.expected_left), "as on the page"
    finish([member])
    assert _paid(sessions) == [1]


def _paid(sessions: Sessions) -> list[int]:
    """Return the finished queries of each person on the payment list."""
    with sessions.read() as session:
        study = session.scalars(select(Study)).one()
        return [line.finished_queries for line in payments(session, study, Rates())]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "people"),
    [
        ('sorter = "tournament"', 1),
        ('sorter = "robust"', 2),
        ('sorter = "robust"\ntogether = true', 2),
        ('tools = ["grades"]', 1),
    ],
    ids=["exact", "robust", "team", "grades"],
)
def test_finished_work_asks_only_about_pages_that_were_added(
    sessions: Sessions, tmp_path: Path, settings: str, people: int
) -> None:
    folder = tmp_path / "study"
    members = judged(sessions, folder, f"{settings}\n", people)
    answered = [member.screen.position for member in members]
    append(folder / "candidates.jsonl", MORE)
    report = load(sessions, folder)
    assert (report.new_candidates, report.continued) == (2, people)
    with sessions.read() as session:
        new = set(
            session.scalars(select(Document.id).where(Document.external_id.in_(("d6", "d7"))))
        )
        rows = [session.get_one(Assignment, member.assignment_id) for member in members]
        assert all(row.finished_at is None and set(row.plan["order"]) >= new for row in rows)
        assert [row.answered for row in rows] == answered, "nothing is lost"
    asked = finish(members)
    assert asked
    assert all(pair & new for pair in asked)
    assert all(member.is_finished() for member in members)
    if "tools" not in settings:
        for member in members:
            end = member.look().state
            assert isinstance(end, Finished)
            found = new & {*end.result.ranking}
            assert found == new or ("robust" in settings and found), "they are the best"


def test_work_in_progress_gets_the_pages_too_and_a_crowd_is_not_called_back(
    sessions: Sessions, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    small_study(folder, queries=2, documents=6)
    load(sessions, folder)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        user = make_user(session)
        row = min(
            assign_rotation(session, study, [user.id], rounds=1), key=lambda row: row.query_id
        )
        member = Member(sessions, row)
    member.look()
    for _ in range(3):
        member.reply()
    before = member.screen
    append(folder / "candidates.jsonl", MORE)
    load(sessions, folder)
    assert member.look().state == before.state, "the open question stays"
    with sessions.write.begin() as session:
        plan = Plan.from_json(session.get_one(Assignment, member.assignment_id).plan)
        assert (len(plan.order), plan.started_with) == (8, 6)
        link, _ = make_link(session, session.scalars(select(Study)).one())
        session.add(
            CrowdWorker(
                user_id=member.user_id,
                study_id=study.id,
                link_id=link.id,
                platform=Platform.PROLIFIC,
                worker_id="w",
                consented_at=now(),
            )
        )
    append(folder / "candidates.jsonl", '{"query": "q0", "document": "d9"}\n')
    with pytest.raises(StudyRefused, match="they do not return"):
        load(sessions, folder)
