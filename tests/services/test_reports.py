import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from tests.exporting import START, by_worth, judge, make_grades
from tests.factories import make_assignment, make_study, make_user, queries_of
from tests.waiting import WATCHDOG
from topkapi.analysis.report import StudyData, build_report
from topkapi.analysis.report.serialise import record_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, Query, Study, User
from topkapi.app.domain.errors import NotFound
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.services.results.exports import StudySource, export_session
from topkapi.app.services.results.exports.gathering import gather, proven_bound
from topkapi.app.services.results.exports.logs import answers_of
from topkapi.app.services.results.reports import ReportCache, service

ANSA, BAO, CHIDI = "Ansa 2", "Bao 1", "Chidi 4"


def report(sessions: Sessions, slug: str = "tulips", **options: Any) -> Any:
    with export_session(sessions) as session:
        return record_of(ReportCache().report(session, slug, **options))


def row(entry: EntryKind, active: int, wall: int) -> tuple[Any, ...]:
    """Return a row as `plain_logs` reads it."""
    return (1, entry.value, None, 1, 2, "left", active, wall)


def test_a_study_becomes_arrays(judged: Sessions) -> None:
    with export_session(judged) as session:
        study = gather(StudySource(session, "tulips"))
        logged = session.scalars(
            select(JudgmentRow)
            .join(Assignment)
            .where(Assignment.withdrawn_at.is_(None), JudgmentRow.entry == EntryKind.ANSWER)
        ).all()
    assert study.assessors == tuple(f"{n}@tulips.example" for n in ("ansa", "bao", "chidi"))
    assert study.queries == ("q0", "q1", "q2")
    assert study.documents[1] == tuple(f"q1-d{number}" for number in range(8))
    assert study.k == 3
    pairs, grades = study.tools
    assert [(s.query, s.assessors.tolist()) for s in pairs.scores] == [(0, [0, 1]), (1, [0])]
    assert [(s.query, s.assessors.tolist()) for s in grades.scores] == [(0, [2]), (2, [0, 2])]
    assert sorted(pairs.scores[1].values[0].tolist()) == [0, 0, 0, 0, 0, 1, 2, 3]
    assert pairs.sessions is not None
    assert pairs.timings is not None
    assert grades.timings is not None
    assert pairs.sessions.finished.tolist() == [True, True, True, False, False]
    assert pairs.timings.session.size + grades.timings.session.size == len(logged)
    assert int((~pairs.timings.effective).sum()) == 2 - 1 + 0  # two undone, one redone


def test_answers_keep_their_sides_checks_and_order(judged: Sessions) -> None:
    with export_session(judged) as session:
        study = gather(StudySource(session, "tulips"))
        mine = session.scalars(
            select(JudgmentRow)
            .join(Assignment)
            .join(User)
            .join(Query, Query.id == Assignment.query_id)
            .where(User.name == ANSA, Query.external_id == "q1")
            .order_by(JudgmentRow.position)
        ).all()
    asked = study.tools[0].judgments
    assert asked is not None
    found = asked.take((asked.assessor == 0) & (asked.query == 1))
    codes = {"left": 1, "tie": 0, "right": -1}
    assert found.answer.tolist() == [codes[each.answer or ""] for each in mine]
    assert found.position.tolist() == list(range(len(mine)))
    numbers = sorted({n for each in mine for n in (each.left_id, each.right_id) if n})
    index = {number: column for column, number in enumerate(numbers)}
    assert found.left.tolist() == [index[each.left_id or 0] for each in mine]
    bao = asked.take((asked.assessor == 1) & (asked.query == 0))
    assert bao.check.any()
    assert not found.check.any()


def test_time_of_an_undo_goes_to_what_it_took_back() -> None:
    answer, undo, redo = EntryKind.ANSWER, EntryKind.UNDO, EntryKind.REDO
    rows = [row(answer, 1, 10), row(answer, 2, 20), row(undo, 4, 40), row(undo, 8, 80)]
    rows += [row(redo, 16, 160), row(answer, 32, 320)]
    found = answers_of(rows, waited_ms=10)
    assert list(zip(found.active_ms, found.wall_ms, found.effective, strict=True)) == [
        (1 + 8 + 16, 10 + 80 + 160, True),
        (2 + 4, 60, False),
        (32, 320, True),
    ]


def test_waiting_for_the_first_look_is_no_work() -> None:
    first = row(EntryKind.ANSWER, 3000, 90_000_000)
    later = row(EntryKind.ANSWER, 2000, 5000)
    assert list(answers_of([first, later], waited_ms=8000).wall_ms) == [8000, 5000]
    assert list(answers_of([first, later]).wall_ms) == [3000, 5000]
    assert len(answers_of([])) == 0


def test_bounds_are_those_of_the_sorter_where_one_is_proven() -> None:
    order = tuple(range(20))
    assert proven_bound(Plan(order, 5, "tournament"), answers_of([])) == 19 + 4 * 4
    assert proven_bound(Plan(order, 5, "robust"), answers_of([])) is None
    assert proven_bound(Plan(order, 5, best_of=3), answers_of([])) is None


def test_the_report_counts_what_is_shared(judged: Sessions) -> None:
    found = report(judged)
    assert (found["study"]["assessors"], found["study"]["queries"]) == (3, 3)
    pairs, grades = found["tools"]
    assert [row["assessor"] for row in pairs["people"]] == [ANSA, BAO, CHIDI]
    assert pairs["agreement"]["votes"] == 7 * 6 // 2, "one page could not be judged"
    assert [(row["first"], row["second"]) for row in grades["pairs"]] == [(ANSA, CHIDI)]
    assert pairs["effort"]["seconds_per_judgment"]["median"]["value"] == 4
    assert pairs["effort"]["sessions_over_bound"] == 0
    assert found["notes"] == [
        "The study is running (grades: 3 of 3 finished; pairs: 3 of 5 finished): every figure may "
        "still change."
    ]
    json.dumps(found, allow_nan=False)  # refuses anything that is not a number


@pytest.mark.thorough
def test_pseudonyms_give_nobody_away(judged: Sessions) -> None:
    text = json.dumps(report(judged, pseudonyms=True), ensure_ascii=False)
    assert "assessor-02" in text
    assert not any(name in text for name in (ANSA, BAO, "tulips.example"))


def test_people_of_one_name_are_told_apart(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        (query,) = queries_of(session, make_study(session, slug="same", documents=4))
        for email in ("a@x.example", "b@x.example"):
            judge(
                session, make_assignment(session, user=make_user(session, email=email), query=query)
            )
    names = {row["assessor"] for row in report(sessions, "same")["tools"][0]["people"]}
    assert names == {"Ansa Lehto (a@x.example)", "Ansa Lehto (b@x.example)"}


def test_the_last_finished_round_gives_the_labels(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        (query,) = queries_of(session, make_study(session, slug="rounds", documents=6))
        user = make_user(session)
        for number, most in ((0, None), (1, None), (2, 1)):
            work = make_assignment(session, user=user, query=query, round=number, k=number + 1)
            judge(session, work, most=most)
    with export_session(sessions) as session:
        pairs = gather(StudySource(session, "rounds")).tools[0]
    assert sorted(pairs.scores[0].values[0].tolist()) == [0, 0, 0, 0, 1, 2]
    assert pairs.sessions is not None
    assert pairs.sessions.k.tolist() == [1, 2, 3]
    assert pairs.judgments is not None
    assert np.array_equal(pairs.judgments.position, np.arange(len(pairs.judgments)))


@pytest.mark.parametrize(
    ("finishers", "says"),
    [
        (None, "Nothing is assigned yet."),
        (0, "No session is finished yet (pairs: 0 of 2 finished)."),
        (1, "Only Ansa Lehto (a@x.example) has finished anything so far."),
    ],
)
def test_what_is_missing_is_said_in_words(
    sessions: Sessions, finishers: int | None, says: str
) -> None:
    with sessions.write.begin() as session:
        (query,) = queries_of(session, make_study(session, slug="few", documents=4))
        for number, email in enumerate(("a@x.example", "b@x.example")):
            if finishers is None:
                break
            user = make_user(session, email=email)
            work = make_assignment(session, user=user, query=query)
            if number < finishers:
                judge(session, work)
    found = report(sessions, "few")
    assert found["notes"][0].startswith(says)
    assert found["tools"][0]["agreement"]["overall"]["value"] is None


def test_queries_nobody_shares_are_said(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="apart", queries=2, documents=4)
        for query in queries_of(session, study):
            user = make_user(session, name=f"Of {query.external_id}")
            judge(session, make_grades(session, user, query))
    (note,) = report(sessions, "apart")["notes"]
    assert note.startswith("T2 grades: no query was finished by two assessors")


def test_a_report_is_kept_until_the_study_changes(
    judged: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count(1)
    empty = build_report(StudyData("", (), (), (), ()))
    monkeypatch.setattr(
        service, "build_report", lambda *_, **__: replace(empty, version=next(numbers))
    )
    cache = ReportCache()

    def ask(**options: Any) -> Any:
        with export_session(judged) as session:
            return cache.report(session, "tulips", **options).version

    assert [ask(), ask()] == [1, 1]
    assert [ask(pseudonyms=True), ask()] == [2, 1]
    with judged.write.begin() as session:
        waiting = session.scalars(select(Assignment).where(Assignment.answered == 0)).one()
        judge(session, waiting, person=by_worth, most=1)
    assert ask() == 3
    with judged.write.begin() as session:
        work = session.scalars(select(Assignment).where(Assignment.answered == 1)).one()
        work.withdrawn_at = START + timedelta(days=2)
    assert ask() == 4
    with judged.write.begin() as session:
        study = session.scalars(select(Study)).one()
        study.settings = replace(study.settings, k=2)
    assert [ask(), ask()] == [5, 5]


def test_reports_with_other_options_are_made_at_the_same_time(
    judged: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_are_made = Barrier(2, timeout=WATCHDOG)  # with one lock for all, nobody would pass it
    empty = build_report(StudyData("", (), (), (), ()))

    def build(*_: Any, **__: Any) -> Any:
        both_are_made.wait()
        return empty

    monkeypatch.setattr(service, "build_report", build)
    cache = ReportCache()

    def ask(pseudonyms: bool) -> None:
        with export_session(judged) as session:
            cache.report(session, "tulips", pseudonyms=pseudonyms)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, (False, True)))


def test_an_unknown_study_is_refused(judged: Sessions) -> None:
    with pytest.raises(NotFound, match="no study 'roses'"):
        report(judged, "roses")
