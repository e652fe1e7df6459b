"""What jobs compute: comparisons of models, and confidence."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.exporting import add_features, judge, make_judged_study
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.analysis.models import load_model
from topkapi.analysis.report.serialise import record_of, to_json
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job, Study
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.worker import Worker
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.service import make_report, stored_as_report
from topkapi.app.services.results.stored import is_current, stored_result
from topkapi.app.services.simulation.pilots import pilot_of
from topkapi.app.services.simulation.plan_records import PlanOptions, stored_options
from topkapi.app.services.simulation.planning import planned


def labelled_study(session: Session, *, slug: str = "tulips", queries: int = 4) -> Study:
    """Create a study with features, of which one assessor has judged every query with pairs."""
    study = make_study(session, slug=slug, queries=queries, documents=8)
    add_features(session, study, named=True)
    user = make_user(session)
    for number, query in enumerate(queries_of(session, study)):
        judge(session, make_assignment(session, user=user, query=query, seed=f"s{number}"))
    return study


def run_job(sessions: Sessions, kind: str, parameters: dict[str, Any]) -> Job:
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        job_id = store.queue_job(session, study, kind, parameters).id
    Worker(sessions).run(until_empty=True)
    with sessions.read() as session:
        job = session.get_one(Job, job_id)
        assert isinstance(job.result, str | None)
    return job


def choice(**changes: Any) -> dict[str, Any]:
    return {"truth": "topk", "models": ["regression", "ranksvm"], "features": [], **changes}


def test_models_are_compared_on_the_labels_of_a_study(sessions: Sessions, tmp_path: Path) -> None:
    with sessions.write.begin() as session:
        labelled_study(session)
    job = run_job(sessions, "models", choice())
    assert job.state is JobState.DONE, job.message
    found = json.loads(job.result or "")
    assert (found["truth"], found["k"], found["folds"]) == ("topk", 3, 4)
    assert found["features"] == ["bm25", "clicks"]
    assert not found["from_text"]
    assert sorted(found["queries"]) == ["q0", "q1", "q2", "q3"]
    titles = [row["title"] for row in found["rows"]]
    assert titles == ["Regression", "RankSVM"]
    column = found["columns"].index(found["measure"])
    for row in found["rows"]:
        values = found["per_query"][row["model"]]
        assert sum(values) / 4 == pytest.approx(row["means"][column])
        assert len(found["weights"][row["model"]]) == 2
        assert [len(each) for each in found["run"]["scores"][row["model"]]] == [8] * 4
    assert sorted(row["p"] is None for row in found["rows"]) == [False, True]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(found["documents"]["ranksvm"]))
    assert load_model(path).settings() == found["documents"]["ranksvm"]["settings"]


def test_curves_have_the_values_of_the_tables(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        labelled_study(session, queries=3)
    chosen = choice(models=["regression", "focused-net"])
    found = json.loads(run_job(sessions, "models", chosen).result or "")
    by_k, by_beta, err = found["curves"]
    assert (by_k["over"], by_k["measure"], by_k["positions"]) == ("k", "κ-N@k", [1, 2, 3])
    assert (found["k"], found["measure"]) == (3, "κ-N@3")
    for row in found["rows"]:
        assert by_k["values"][row["model"]] == pytest.approx(row["means"][:3], abs=1e-5)
    assert (by_beta["measure"], err["measure"]) == ("κ-N@3", "κ-ERR")
    assert by_beta["positions"] == [round(0.1 * step, 1) for step in range(11)]
    assert {*by_beta["values"]} == {"focused-net"}
    chosen_beta = {row["model"]: row for row in found["rows"]}["focused-net"]["settings"]["beta"]
    assert chosen_beta in by_beta["positions"]
    assert all(0 <= value <= 1 for value in by_beta["values"]["focused-net"])


def test_features_can_be_chosen(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        labelled_study(session, queries=3)
    chosen = choice(models=["regression"], features=["clicks"])
    found = json.loads(run_job(sessions, "models", chosen).result or "")
    assert found["features"] == ["clicks"]
    assert len(found["weights"]["regression"]) == 1


@pytest.mark.parametrize(
    ("queries", "changes", "words"),
    [
        (2, {}, "at least 3 are needed"),
        (3, {"truth": "graded"}, "no query is finished with grades"),
        (3, {"features": ["gone"]}, "no longer has any of the chosen features"),
    ],
)
def test_a_comparison_that_cannot_be_made_says_what_is_missing(
    sessions: Sessions, queries: int, changes: dict[str, Any], words: str
) -> None:
    with sessions.write.begin() as session:
        labelled_study(session, queries=queries)
    job = run_job(sessions, "models", choice(**changes))
    assert job.state is JobState.FAILED
    assert words in job.message


@pytest.mark.thorough
def test_a_stored_result_is_the_report(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_judged_study(session)
    job = run_job(sessions, "report", {})
    assert job.state is JobState.DONE, job.message
    assert "@" not in (job.result or ""), "neither names nor addresses are stored"
    run_job(sessions, "confidence", {})
    with export_session(sessions) as session:
        source = StudySource(session, "tulips", ExportOptions(pseudonyms=True))
        stored = stored_result(session, source.study.id, "report")
        confidence = stored_result(session, source.study.id, "confidence")
        assert stored is not None
        assert confidence is not None
        assert is_current(session, "tulips", stored)
        for more in (None, confidence):
            wanted = make_report(source, pseudonyms=True, confidence=more or False)
            found = stored_as_report(source, stored, pseudonyms=True, confidence=more)
            assert found == wanted
            assert to_json(found) == to_json(wanted)
        source = StudySource(session, "tulips")
        named, wanted = stored_as_report(source, stored), make_report(source)
        for tool, other in zip(named.tools, wanted.tools, strict=True):
            assert {row.assessor for row in tool.people} == {row.assessor for row in other.people}
            assert {*tool.consensus.queries[0].assessors} == {*other.consensus.queries[0].assessors}
        assert "assessor-0" not in to_json(named)


@pytest.mark.thorough
def test_stored_confidence_gives_the_same_report_as_computing_it(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_judged_study(session)
    run_job(sessions, "confidence", {})
    with export_session(sessions) as session:
        source = StudySource(session, "tulips")
        stored = stored_result(session, source.study.id, "confidence")
        assert stored is not None
        assert stored.digest == state_digest(source)
        assert {row["assessor"] for row in stored.content} == {"assessor-01", "assessor-02"}
        for pseudonyms in (False, True):
            source = StudySource(session, "tulips", ExportOptions(pseudonyms=pseudonyms))
            wanted = make_report(source, pseudonyms=pseudonyms, confidence=True)
            found = make_report(source, pseudonyms=pseudonyms, confidence=stored)
            assert record_of(found) == record_of(wanted)


@pytest.mark.thorough
def test_a_plan_is_made_from_what_the_study_says(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        labelled_study(session)
    chosen = PlanOptions(people=2, sorter="heap", runs=20, difference=0.1)
    job = run_job(sessions, "plan", stored_options(chosen))
    assert job.state is JobState.DONE, job.message
    found = json.loads(job.result or "")
    with sessions.read() as session:
        known = pilot_of(session, "tulips")
    assert found == json.loads(json.dumps(asdict(planned(chosen, known, processes=1))))
    assert (found["work"]["queries"], found["documents"], found["k"]) == (4, 8, 10)
    assert found["error"] == known.error
