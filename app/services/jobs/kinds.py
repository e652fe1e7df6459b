"""The kinds of jobs by name; each imports its libraries when it first runs."""

from collections.abc import Callable, Mapping

from topkapi.app.db.base import Json
from topkapi.app.services.jobs.running import RunningJob


def run_models(job: RunningJob) -> Json:
    """Compare ranking models."""
    from topkapi.app.services.jobs import models

    return models.run(job)


def run_confidence(job: RunningJob) -> Json:
    """Compute the confidence in each list."""
    from topkapi.app.services.jobs import confidence

    return confidence.run(job)


def run_report(job: RunningJob) -> Json:
    """Compute the report of a study with pseudonyms; names are added when it is read.

    Beside it are the parts that other pages show: agreement by tool, and what to adjudicate.
    """
    from topkapi.analysis.report.serialise import storable
    from topkapi.app.services.assignments.adjudication import contention
    from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
    from topkapi.app.services.results.reports.cache import state_digest
    from topkapi.app.services.results.reports.service import gathered, report_on

    job.progress(0.0, "reading answers")
    with export_session(job.sessions) as session:
        source = StudySource(session, job.study, ExportOptions(pseudonyms=True))
        digest, data = state_digest(source), gathered(source, None)
    report = report_on(data, note=job.progress)
    figures = [(each.title, each.agreement.overall) for each in report.tools]
    agreement = [
        [title, each.value, *(each.interval or (None, None)), each.no_interval]
        for title, each in figures
        if each.value is not None
    ]
    return {
        "digest": digest,
        "agreement": agreement,
        "disagreements": contention(data.study),
        "report": storable(report),
    }


def run_labels(job: RunningJob) -> Json:
    """Compute the labels of each query of a study under both ground truths."""
    from topkapi.app.services.results.exports import StudySource, export_session
    from topkapi.app.services.results.ranking import study_labels
    from topkapi.app.services.results.reports.cache import state_digest

    job.progress(0.0, "reading answers")
    with export_session(job.sessions) as session:
        source = StudySource(session, job.study)
        return {"digest": state_digest(source), "labels": study_labels(source)}


def run_judge(job: RunningJob) -> Json:
    """Let a machine judge the study; the key is sent to the server's own endpoint only."""
    from topkapi.app.config import Settings
    from topkapi.app.domain.errors import Conflict
    from topkapi.app.services.jobs import judge

    settings = Settings()
    if job.parameters["endpoint"] != settings.model_endpoint:
        raise Conflict(
            "The process of this run ended. The same command (topkapi judge) continues it."
        )
    return judge.run(job, settings.key_of_model())


def run_plan(job: RunningJob) -> Json:
    """Plan a study from what this one says, as `topkapi plan --study` does."""
    from dataclasses import asdict

    from topkapi.app.services.simulation.pilots import pilot_of
    from topkapi.app.services.simulation.plan_records import PlanOptions
    from topkapi.app.services.simulation.planning import planned

    job.progress(0.0, "reading the study")
    with job.sessions.read() as session:
        known = pilot_of(session, job.study)
    found = planned(
        PlanOptions(**job.parameters),
        known,
        on_runs=lambda done, total: job.progress(done / total, f"{done} of {total} sessions"),
        processes=job.processes,
    )
    return asdict(found)


KINDS: Mapping[str, Callable[[RunningJob], Json]] = {
    "models": run_models,
    "confidence": run_confidence,
    "report": run_report,
    "labels": run_labels,
    "judge": run_judge,
    "plan": run_plan,
}
