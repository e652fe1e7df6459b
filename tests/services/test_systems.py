"""Runs of a study: added, scored, copied and removed, on both databases."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.commands import Command
from tests.exporting import make_judged_study
from tests.factories import make_study, make_user, queries_of
from tests.ranked import Judge, give_lists, make_ranked_study
from tests.services.test_exports import exported
from tests.systems import packed, run_of
from topkapi.analysis.data import read_qrels
from topkapi.analysis.data.runs import Run, data_of_judgments, parse_run, run_scores
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.report.subjects.systems import Labels, RunValues, run_values
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import AuditEvent, Study, SystemRun
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.errors import Invalid, NotFound
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.services.results.systems import runs as service
from topkapi.app.services.results.systems import scoring
from topkapi.app.services.results.systems.cache import SystemReports
from topkapi.app.services.results.systems.runs import (
    RunsRefused,
    add_runs,
    read_runs,
    remove_run,
    runs_of,
)
from topkapi.app.services.studies import lifecycle
from topkapi.app.services.studies.copy_import import read_copy
from topkapi.app.services.studies.full_copy import copy_study


@pytest.fixture
def judged(sessions: Sessions) -> Sessions:
    """Store a judged study with two runs."""
    with sessions.write.begin() as session:
        study = make_judged_study(session)
        both = run_of("up") + run_of("stray", queries=1, pages=9)
        files = [("a.run", both.encode()), ("b.gz", packed(run_of("down", turned=True)))]
        add_runs(session, study, read_runs(files))
    return sessions


def test_scores_may_be_those_on_shared_queries(judged: Sessions) -> None:
    with judged.read() as session:
        every = SystemReports().report(session, "tulips").scores
        shared = SystemReports().report(session, "tulips", shared=True).scores
    assert every is not None
    assert shared is not None
    held = {each.system: each.queries for each in every.systems}
    assert shared.queries == min(held.values()) < every.queries
    assert {each.queries for each in shared.systems} == {shared.queries}
    name = every.measures[0]
    up = [
        next(each for each in found.systems if each.system == "stray") for found in (every, shared)
    ]
    means = [each.score(name).mean.value for each in up]
    assert means[0] is not None
    assert means[1] == pytest.approx(means[0] * every.queries / shared.queries), "no zeros"


def test_scores_are_those_of_the_exports(judged: Sessions, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(exported(judged, "qrels"))
    labels: dict[str, dict[str, float]] = {}
    for each in read_qrels(tmp_path / "qrels"):
        labels.setdefault(each.query, {})[each.document] = each.label
    with judged.read() as session:
        found = SystemReports().report(session, "tulips", baseline="up")
        kept = {run.system: run for run in runs_of(session, session.scalars(select(Study)).one())}
        assert (kept["stray"].queries, kept["stray"].lines, kept["stray"].file) == (1, 9, "a.run")
        graded = SystemReports().report(session, "tulips", truth="graded").scores
    assert graded is not None
    assert graded.measures[0].startswith("ndcg@")
    scores = found.scores
    assert scores is not None
    assert (scores.truth, scores.queries, found.leaderboard) == ("topk", len(labels), None)
    assert {each.system for each in scores.systems} == {"up", "down", "stray"}
    for system, text in (("up", run_of("up")), ("stray", run_of("stray", queries=1, pages=9))):
        run = parse_run(text)
        data = data_of_judgments(labels, run)
        means = evaluate(data, run_scores(data, run), scores.measures)
        mine = next(each for each in scores.systems if each.system == system)
        assert {one.measure: one.mean.value for one in mine.scores} == pytest.approx(means)
    unjudged = {each.system: each.unjudged for each in scores.systems}
    assert unjudged["up"] == 0.0
    stray = next(each for each in scores.systems if each.system == "stray")
    assert stray.queries == 1


def test_a_new_run_is_scored_alone_and_new_answers_drop_the_cache(
    judged: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Run] = []

    def counted(labels: Labels, run: Run, measures: Sequence[str], k: int) -> RunValues:
        calls.append(run)
        return run_values(labels, run, measures, k)

    monkeypatch.setattr(scoring, "run_values", counted)
    cache = SystemReports()
    with judged.write.begin() as session:
        study = session.scalars(select(Study)).one()
        cache.report(session, "tulips")
        assert len(calls) == 3
        add_runs(session, study, read_runs([("c.run", run_of("third").encode())]))
        cache.report(session, "tulips", baseline="third")
        assert len(calls) == 4
        with pytest.raises(Invalid, match="has no system 'fourth'"):
            cache.report(session, "tulips", baseline="fourth")
        with pytest.raises(Invalid, match="no 'votes' labels; there is topk or graded"):
            cache.report(session, "tulips", truth="votes")


def test_without_systems_no_judgment_is_read(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sessions.write.begin() as session:
        study = make_judged_study(session)
        with monkeypatch.context() as patched:
            patched.setattr(scoring, "study_labels", lambda _source: pytest.fail("labels read"))
            cache = SystemReports()
            found = cache.report(session, "tulips")
        assert (found.truths, found.scores, found.leaderboard) == (("topk", "graded"), None, None)
        add_runs(session, study, read_runs([("a.run", run_of("up").encode())]))
        assert (
            cache.report(session, "tulips").scores
            == SystemReports().report(session, "tulips").scores
        )


@pytest.mark.thorough
def test_a_run_that_unpacks_a_thousandfold_is_refused() -> None:
    bomb, line = packed("a\n" * 20_000_000), packed("a\n" + "a " * 20_000_000)
    assert max(len(bomb), len(line)) < 120_000
    with pytest.raises(RunsRefused) as refused:
        read_runs([("bomb", bomb), ("line", line)])
    check(refused.value, [("bomb", "MB when unpacked"), ("line", "line 2: more than 65,536")])


def test_bad_files_are_refused_whole_by_file_and_line(
    judged: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MOST_LINES", 40)
    monkeypatch.setattr(service, "MOST_UNPACKED", 4000)
    bad = [
        ("twice", run_of("good").encode(), "'good' is also in good"),
        ("short", b"q0 Q0 q0-d1 1 2.0\n", "line 1: 5 columns"),
        ("latin", b"q0 Q0 a 1 1 x\nq0 Q0 \xe9 1 1 x\n", "line 2: not UTF-8"),
        ("nul", b"q0 Q0 a\0 1 1 nul\n", "U\\+0000"),
        ("long", f"q0 Q0 a 1 1 {'x' * 301}\n".encode(), "longer than 300"),
        ("many", run_of("many", pages=20).encode(), "more than 40 lines"),
        ("bomb", packed("q" * 9999), "when unpacked"),
        ("torn", packed(run_of("torn"))[:-9], "damaged gzip"),
    ]
    good = ("good", run_of("good").encode())
    with pytest.raises(RunsRefused) as refused:
        read_runs([good, *((name, data) for name, data, _ in bad)])
    check(refused.value, [(name, message) for name, _, message in bad])
    with pytest.raises(RunsRefused, match="No run was added"):
        read_runs([])
    foreign = ("other", b"x9 Q0 d 1 1 other\n")
    with judged.write.begin() as session:
        study = session.scalars(select(Study)).one()
        with pytest.raises(RunsRefused) as refused:
            add_runs(session, study, read_runs([good, ("old", run_of("up").encode()), foreign]))
        assert len(runs_of(session, study)) == 3
    foreign_message = "The run has x9; the study has q0, q1, q2"
    check(refused.value, [("old", "already has a run of 'up'"), ("other", foreign_message)])


def check(refused: RunsRefused, expected: list[tuple[str, str]]) -> None:
    for problem, (name, message) in zip(map(str, refused.problems), expected, strict=True):
        assert problem.startswith(name)
        assert re.search(message, problem), problem


def test_a_run_is_removed_from_its_own_study_only(judged: Sessions) -> None:
    with judged.write.begin() as session:
        study = session.scalars(select(Study)).one()
        other, run = make_study(session), runs_of(session, study)[0]
        with pytest.raises(NotFound):
            remove_run(session, other, run.id)
        remove_run(session, study, run.id, actor_id=make_user(session).id)
        assert [each.system for each in runs_of(session, study)] == ["stray", "up"]
        actions = session.scalars(select(AuditEvent.action)).all()
        assert actions.count("systems.add") == 3
        assert actions.count("systems.remove") == 1


@pytest.mark.thorough
def test_copy_and_deletion_take_the_runs_along(judged: Sessions, tmp_path: Path) -> None:
    path = tmp_path / "copy.zip"
    copy_study(judged, "tulips", path)
    with judged.write.begin() as session:
        study = required_study(session, "tulips")
        lifecycle.archive(session, study)
        lifecycle.delete_study(session, study, confirm="tulips")
        assert session.scalars(select(SystemRun)).all() == []
        read_copy(session, path)
        study = required_study(session, "tulips")
        assert [run.lines for run in runs_of(session, study)] == [18, 9, 18]
        assert SystemReports().report(session, "tulips").scores is not None


def by_first_page(state: AskingLists) -> str:
    """Prefer the list whose first page has the smaller id; the same page ties."""
    left, right = state.left.documents[0], state.right.documents[0]
    return "same" if left == right else "left" if left < right else "right"


@pytest.mark.thorough
def test_lists_of_the_study_are_systems_and_make_a_leaderboard(sessions: Sessions) -> None:
    cache = SystemReports()
    with sessions.write.begin() as session:
        study = make_ranked_study(session, slug="tulips", systems=3, queries=6, lists_repeats=True)
        assert cache.report(session, "tulips").leaderboard is None
        assert cache.report(session, "tulips").scores is None, "no labels"
        people = [make_user(session) for _ in range(2)]
        for query in queries_of(session, study):
            for number, user in enumerate(people):
                work = give_lists(session, study, query, user=user, round=number)
                Judge(session, work).to_the_end(by_first_page)
        board = cache.report(session, "tulips").leaderboard
    assert board is not None
    assert (board.comparisons, board.queries, board.assessors) == (36, 6, 2)
    assert board.agreement.overall.value == 1.0
    wins = [row.wins for row in board.rows]
    assert wins == sorted(wins, reverse=True)
    assert sum(wins) + sum(row.same for row in board.rows) // 2 == 36


@pytest.mark.thorough
@pytest.mark.usefixtures("judged", "folder_of_commands")
def test_systems_on_the_command_line(topkapi: Command) -> None:
    Path("third.run").write_text(run_of("third"))
    added = topkapi("systems", "add", "tulips", "third.run")
    assert added == (0, f"tulips: added {'third':<24} 3 queries, 18 lines\n", "")
    code, _, err = topkapi("systems", "add", "tulips", "third.run")
    assert (code, "third.run: the study already has a run of 'third'" in err) == (1, True)
    listed = topkapi.told("systems", "list", "tulips")
    assert [run["system"] for run in listed] == ["down", "stray", "third", "up"]
    options = ["--baseline", "down", "--out", "scores.csv"]
    assert "not significant" in topkapi.done("systems", "scores", "tulips", *options)
    assert len(Path("scores.csv").read_text().splitlines()) == 1 + 4 * 13
    assert topkapi.told("systems", "scores", "tulips")["format"] == "topkapi-systems"
    assert topkapi("systems", "remove", "tulips", "third")[0] == 0
    assert topkapi("systems", "remove", "tulips", "third")[0] == 1
    code, _, err = topkapi("systems", "scores", "tulips", "--measure", "x")
    assert (code, "is not one of kappa-ndcg" in err) == (1, True)
