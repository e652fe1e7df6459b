"""Tests of the results of teams: one list per query, however many people made it."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from tests.services.test_teams import Member, make_team
from topkapi.analysis.report.page import render_page
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study, User
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.services.results.exports import ExportOptions, StudySource
from topkapi.app.services.results.exports.formats import EXPORTS
from topkapi.app.services.results.exports.gathering import gather
from topkapi.app.services.results.query_results import query_results, session_answers
from topkapi.app.services.results.reports.service import make_report


def finished_team(sessions: Sessions, **plan: Any) -> list[Member]:
    """Return a team of three that has finished; the third has answered nothing."""
    team = make_team(sessions, 3, budget=9, **plan)
    for number in range(9):
        member = team[number % 2]
        member.look()
        member.reply(Answer.LEFT if number % 3 else Answer.RIGHT)
    return team


def exported(sessions: Sessions, name: str, **options: Any) -> list[str]:
    with sessions.read.begin() as session:
        slug = session.scalars(select(Study.slug)).one()
        source = StudySource(session, slug, ExportOptions(**options))
        return "".join(map(str, EXPORTS[name].write(source))).splitlines()


def test_exports_have_one_list_per_team(sessions: Sessions) -> None:
    team = finished_team(sessions)
    with sessions.read.begin() as session:
        emails = [session.get_one(User, member.user_id).email for member in team]
    shown = team[0].look().state
    (line,) = exported(sessions, "topk.jsonl")
    record = json.loads(line)
    assert record["assessor"] == " + ".join(sorted(emails))
    assert record["complete"]
    assert record["answered"] == record["entries"] == 9
    names = {number: head.name for number, head in team[0].screen.documents.items()}
    ranking = [names[number] for number in shown.result.ranking]  # type: ignore[attr-defined]
    assert record["ranking"] == ranking
    (consensus,) = exported(sessions, "consensus.jsonl")
    assert json.loads(consensus)["documents"] == ranking
    assert [
        row.split()[2] for row in exported(sessions, "qrels") if row.split()[3] != "0"
    ] == ranking
    (confidence,) = exported(sessions, "confidence.jsonl")
    assert json.loads(confidence)["answers"] == 9
    assert {row.split("\t")[-1] for row in exported(sessions, "pairs.tsv")[1:]} >= set(emails[:2])
    (own,) = exported(sessions, "topk.jsonl", assessor=emails[1])
    assert json.loads(own)["ranking"] == ranking


@pytest.mark.thorough
def test_nobody_agrees_with_themselves(sessions: Sessions) -> None:
    finished_team(sessions)
    with sessions.read.begin() as session:
        slug = session.scalars(select(Study.slug)).one()
        study = gather(StudySource(session, slug))
        (scores,) = study.tools[0].scores
        assert scores.assessors.size == 1
        judgments = study.tools[0].judgments
        assert judgments is not None
        assert sorted(set(judgments.assessor.tolist())) == [0, 1]
        report = make_report(StudySource(session, slug), confidence=True)
    assert report.confidence is not None
    assert len(report.confidence.lists) == 1
    assert [each.answers for each in report.confidence.members or ()] == [5, 4]
    page = render_page(report)
    assert "How members of teams err" in page


def test_the_page_of_the_query_shows_the_team_once_with_the_answers_of_all(
    sessions: Sessions,
) -> None:
    team = finished_team(sessions)
    with sessions.read.begin() as session:
        slug = session.scalars(select(Study.slug)).one()
        source, query_id = StudySource(session, slug), team[0].look().query.id
        results = query_results(source, query_id)
        (found,) = results.finished
        assert found.assessor.count(" + ") == 2
        assert not results.unfinished
        asked = session_answers(source, query_id, found.assignment_id).asked
    assert [each.number for each in asked] == list(range(1, 10))
    assert all(each.effective for each in asked)
    assert [each.at for each in asked] == sorted(each.at for each in asked)


def test_an_unfinished_team_has_no_list_yet(sessions: Sessions) -> None:
    first, second = make_team(sessions, 2)
    for member in (first, second):
        member.look()
        member.reply()
    (line,) = exported(sessions, "topk.jsonl")
    assert not json.loads(line)["complete"]
    assert exported(sessions, "qrels") == []


def test_members_have_a_reliability(sessions: Sessions) -> None:
    finished_team(sessions)
    found = [json.loads(line) for line in exported(sessions, "reliability.jsonl")]
    assert [each["answers"] for each in found] == [5, 4], "who answered nothing has none"
    for each in found:
        assert not each["random"]
        for name in ("lapse", "width", "tie_width"):
            mean, low, high = each[name]
            assert low <= mean <= high
