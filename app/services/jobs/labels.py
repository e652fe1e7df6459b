"""The job `labels`: ground truth of a study too large to compute within a request."""

from topkapi.app.db.base import Json
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import StudySource, export_session
from topkapi.app.services.results.ranking import study_labels
from topkapi.app.services.results.reports.cache import state_digest


def run(job: RunningJob) -> Json:
    """Compute the labels of each query under both ground truths."""
    job.progress(0.0, "reading answers")
    with export_session(job.sessions) as session:
        source = StudySource(session, job.study)
        return {"digest": state_digest(source), "labels": study_labels(source)}
