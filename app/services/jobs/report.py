"""The job `report`: the report of a study, for those too large to compute within a request."""

from topkapi.analysis.report.restore import storable
from topkapi.app.db.base import Json
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.service import gathered, report_on


def run(job: RunningJob) -> Json:
    """Compute the report with pseudonyms; names are added when it is read."""
    job.progress(0.0, "reading answers")
    with export_session(job.sessions) as session:
        source = StudySource(session, job.study, ExportOptions(pseudonyms=True))
        digest, found = state_digest(source), gathered(source, None)
    return {"digest": digest, "report": storable(report_on(found, note=job.progress))}
