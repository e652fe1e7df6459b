"""Confidence in lists: stored with a sampled session, exported and reported for all others."""

from pathlib import Path
from typing import Any

import pytest

from tests.services.test_labeling import AssignedWork
from topkapi.analysis.data import read_confidence, read_topk
from topkapi.analysis.report.serialise import record_of
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.confidence import ListConfidence
from topkapi.app.domain.pairs.session import Finished
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.results.exports import ExportOptions, export_session, open_export
from topkapi.app.services.results.reports import ReportCache, cache


def exported(sessions: Sessions, format: str, folder: Path, **options: Any) -> Path:
    path = folder / format
    with export_session(sessions) as session:
        chunks = open_export(session, "tulips", format, ExportOptions(**options)).chunks
        path.write_bytes(b"".join(chunks))
    return path


def test_a_session_that_ends_says_how_sure_it_is_and_any_worker_tells_the_same(
    sessions: Sessions,
) -> None:
    assigned = AssignedWork(sessions, k=2, sorter="robust", budget=9)
    for _ in range(9):
        assignment_state = assigned.answer(Answer.LEFT)
    assert isinstance(assignment_state.state, Finished)
    sure = assignment_state.state.confidence
    assert sure is not None
    assert sure.ranking == assignment_state.state.result.ranking
    assert sure.quality == sure.concluded_quality
    assert 0 < sure.quality <= 1
    assert 0 < sure.error_rate < 0.5
    assert sure.answers == 9
    assert [page.item for page in sure.pages[:2]] == list(sure.ranking)
    assert ListConfidence.from_json(sure.as_json()) == sure
    assert assigned.look(LiveSessions()) == assignment_state


@pytest.mark.thorough
def test_until_it_is_good_enough_the_expected_quality_is_shown_and_rises(
    sessions: Sessions,
) -> None:
    assigned = AssignedWork(sessions, k=2, sorter="robust", budget=40, stop_at=0.8)
    before = assigned.look().progress
    assert (before.goal, before.exact) == (0.8, False)
    qualities = []
    assignment_state = assigned.look()
    while not isinstance(assignment_state.state, Finished):
        assert assignment_state.progress.quality is not None
        qualities.append(assignment_state.progress.quality)
        assert assigned.look(LiveSessions()).progress == assignment_state.progress, (
            "stored, not drawn again"
        )
        left, right = assignment_state.state.shown
        assignment_state = assigned.answer(Answer.LEFT if left > right else Answer.RIGHT)
    assert qualities[-1] > qualities[0] + 0.2
    assert assignment_state.state.confidence is not None
    assert assignment_state.state.confidence.quality >= 0.8
    assert len(qualities) < 40


def test_with_a_budget_progress_is_exact(sessions: Sessions) -> None:
    assigned = AssignedWork(sessions, k=2, sorter="robust", budget=5)
    for left in range(5, 0, -1):
        progress = assigned.look().progress
        assert (progress.expected_left, progress.low, progress.high) == (left, left, left)
        assert (progress.exact, progress.quality) == (True, None)
        assigned.answer(Answer.RIGHT)


def test_any_finished_list_is_exported_beside_the_most_probable_one(
    judged: Sessions, tmp_path: Path
) -> None:
    lists = read_topk(exported(judged, "topk.jsonl", tmp_path), complete_only=True)
    found = read_confidence(exported(judged, "confidence.jsonl", tmp_path))
    assert [(each.query, each.assessor, each.ranking) for each in found] == [
        (each.query, each.assessor, each.ranking) for each in lists
    ]
    for each, concluded in zip(found, lists, strict=True):
        assert (each.sorter, each.k) == ("heap", 3)
        assert 0 < each.ranking_quality <= each.probable_quality + 1e-3 <= 1 + 1e-3
        assert 0 < each.error_rate < 0.5
        assert each.documents[: len(each.probable)] == each.probable
        assert not {*each.documents} & {*concluded.bad, *concluded.unjudgeable}
        assert len(each.documents) == len(each.in_top) == len(each.low) == len(each.high)
        assert sum(each.in_top) == pytest.approx(len(each.probable), abs=0.01)
        assert all(1 <= low <= high for low, high in zip(each.low, each.high, strict=True))
    again = exported(judged, "confidence.jsonl", tmp_path, pseudonyms=True)
    assert {each.assessor for each in read_confidence(again)} == {"assessor-01", "assessor-02"}


@pytest.mark.thorough
def test_the_report_says_how_sure_lists_are_if_it_is_asked(judged: Sessions) -> None:
    with export_session(judged) as session:
        reports = ReportCache()
        assert "confidence" not in record_of(reports.report(session, "tulips"))
        found = record_of(reports.report(session, "tulips", confidence=True))["confidence"]
        assert "confidence" not in record_of(reports.report(session, "tulips"))
    assert [(row["query"], row["assessor"]) for row in found["lists"]] == [
        ("q0", "Ansa 2"),
        ("q0", "Bao 1"),
        ("q1", "Ansa 2"),
    ]
    ansa, bao = found["people"]
    assert (ansa["lists"], bao["lists"]) == (2, 1)
    mine = [row["quality"] for row in found["lists"] if row["assessor"] == "Ansa 2"]
    assert ansa["quality"] == pytest.approx(sum(mine) / 2, abs=1e-4)
    assert bao["error_rate"] == found["lists"][1]["error_rate"]


def test_a_page_does_not_weigh_answers_for_minutes(
    judged: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_CONFIDENCE_SESSIONS", 2)
    with (
        export_session(judged) as session,
        pytest.raises(Invalid, match="topkapi report tulips --confidence"),
    ):
        ReportCache().report(session, "tulips", confidence=True)
