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
    """Compute the report of a study."""
    from topkapi.app.services.jobs import report

    return report.run(job)


def run_labels(job: RunningJob) -> Json:
    """Compute the labels of a study."""
    from topkapi.app.services.jobs import labels

    return labels.run(job)


def run_judge(job: RunningJob) -> Json:
    """Let a machine judge the study."""
    from topkapi.app.config import Settings
    from topkapi.app.services.jobs import judge

    return judge.run(job, Settings().key_of_model())


KINDS: Mapping[str, Callable[[RunningJob], Json]] = {
    "models": run_models,
    "confidence": run_confidence,
    "report": run_report,
    "labels": run_labels,
    "judge": run_judge,
}
