"""Queries with nothing to ask: their work is finished when it is assigned, in every tool."""

import json
from pathlib import Path

import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session

from tests.crowds import make_link
from tests.exporting import judge
from tests.factories import make_user, queries_of
from tests.ranked import Judge, make_ranked_study
from tests.studies import append, small_study, write_jsonl
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Candidate, Ranking, Study
from topkapi.app.domain.crowds import Arrival
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.services.assignments.rotation import assign_rotation, plan_rotation
from topkapi.app.services.crowds.entering import enter
from topkapi.app.services.importing import import_study, open_source
from topkapi.app.services.judging.queue import queue_of_user
from topkapi.app.services.judging.session_summary import completion_of
from topkapi.app.services.progress.study_progress import overview
from topkapi.app.services.results.exports import open_export

TOOLS = pytest.mark.parametrize("tool", list(Tool))


def sparse_study(session: Session, tool: Tool) -> Study:
    """Create a study of a complete query, one with one candidate, and an empty one."""
    study = make_ranked_study(session, queries=3, documents=4, tools=(tool,))
    for query, kept in zip(queries_of(session, study)[1:], (1, 0), strict=True):
        pages = Candidate.query_id == query.id
        session.execute(delete(Candidate).where(pages, Candidate.position >= kept))
        rankings = Ranking.query_id == query.id
        session.execute(delete(Ranking).where(rankings, Ranking.system != "system-0"))
    session.flush()
    return study


def finish(session: Session, work: Assignment, *, bad: bool = False) -> None:
    if work.tool is Tool.LISTS:
        Judge(session, work).to_the_end()
    elif bad and work.tool is Tool.PAIRS:
        judge(session, work, person=lambda _: Answer.LEFT_BAD)
    else:
        judge(session, work)


@pytest.mark.thorough
@TOOLS
@pytest.mark.parametrize("bad", [False, True])
def test_a_study_ends_although_some_queries_have_nothing_to_ask(
    session: Session, tool: Tool, bad: bool
) -> None:
    study = sparse_study(session, tool)
    user = make_user(session)
    assign_rotation(session, study, [user.id], rounds=1, lists=tool is Tool.LISTS)
    session.expire_all()
    asked = 0
    while (work := queue_of_user(session, user.id).now) is not None:
        finish(session, session.get_one(Assignment, work.assignment_id), bad=bad)
        asked += 1
        assert asked <= 3, "the same query comes again and again"
    assert asked == (2 if tool is Tool.GRADES else 1)
    sums = overview(session, study).all.sums
    assert (sums.assigned, sums.begun, sums.finished, sums.waiting) == (3, 3, 3, 0)
    assert sums.expected_left == 0


@TOOLS
def test_a_crowd_worker_whose_queries_ask_nothing_gets_the_code(
    session: Session, tool: Tool
) -> None:
    study = sparse_study(session, tool)
    link, _ = make_link(session, study, share=3)
    user = enter(session, link, study, Arrival("w1"), devices=()).user
    for work in queue_of_user(session, user.id).works:
        if work.state != "finished":
            assert completion_of(session, user.id) is None
            finish(session, session.get_one(Assignment, work.assignment_id))
    completion = completion_of(session, user.id)
    assert completion is not None
    assert completion.code == "C0DE"


def test_a_list_that_needs_no_answer_is_exported(session: Session) -> None:
    study = sparse_study(session, Tool.PAIRS)
    assign_rotation(session, study, [make_user(session).id], rounds=1)
    export = open_export(session, study.slug, "topk.jsonl")
    lists = [json.loads(line) for line in b"".join(export.chunks).splitlines()]
    assert {line["query"]: line["ranking"] for line in lists if line["complete"]} == {
        "q1": ["q1-d0"],
        "q2": [],
    }


def test_a_target_quality_that_holds_from_the_start_ends_the_work(session: Session) -> None:
    study = make_ranked_study(
        session, documents=2, tools=(Tool.PAIRS,), sorter="robust", k=2, stop_at=0.5
    )
    made = assign_rotation(session, study, [make_user(session).id], rounds=1)
    assert made[0].finished_at is not None


def test_lists_of_which_none_can_be_compared_are_refused(session: Session) -> None:
    study = make_ranked_study(session, systems=1, tools=(Tool.LISTS,))
    with pytest.raises(Conflict, match="at least two systems"):
        plan_rotation(session, study, [make_user(session).id], rounds=1, lists=True)


def test_work_that_asks_nothing_is_neither_waiting_nor_withdrawn(session: Session) -> None:
    from topkapi.app.db.queries.assignments.manual_assignment import matching_ids

    study = sparse_study(session, Tool.PAIRS)
    made = assign_rotation(session, study, [make_user(session).id], rounds=1, at=now())
    empty = [work.id for work in made if work.finished_at]
    assert len(empty) == 2
    assert set(matching_ids(session, study.id, state="finished")) == set(empty)
    assert not set(matching_ids(session, study.id, state="waiting")) & set(empty)


def test_the_import_counts_queries_that_ask_nothing(session: Session, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small", queries=3, documents=1)
    with open_source(folder) as source:
        notes = import_study(session, source).notes
    assert notes == (
        "3 queries have only one candidate: with the tool pairs there is nothing to ask, and the "
        "work is finished as soon as it is assigned",
    )
    folder = small_study(tmp_path / "lists", queries=2, documents=2)
    append(folder / "study.toml", 'tools = ["lists"]\n')
    ranked = [{"query": "q0", "system": system, "documents": ["d0", "d1"]} for system in ("a", "b")]
    write_jsonl(folder / "rankings.jsonl", ranked)
    (folder / "study.toml").write_text(
        (folder / "study.toml").read_text().replace('"small"', '"lists"')
    )
    with open_source(folder) as source:
        (note,) = import_study(session, source).notes
    assert note.startswith("1 query has fewer than two rankings: with the tool lists")
