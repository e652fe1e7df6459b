"""The job `confidence`: how good each finished list is expected to be."""

from dataclasses import asdict

from topkapi.app.db.base import Json
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.exports.confidence import confidence_record
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.confidence import list_confidence


def run(job: RunningJob) -> Json:
    """Compute the rows of the report's section, with pseudonyms, one list after the other."""
    with export_session(job.sessions) as session:
        source = StudySource(session, job.study, ExportOptions(pseudonyms=True))
        digest = state_digest(source)
        logs = [each for each in source.list_logs() if each[0].assignment.finished_at is not None]
    lists: list[Json] = []
    for done, (work, rows) in enumerate(logs):
        job.progress(done / len(logs), f"{done} of {len(logs)} lists")
        record = confidence_record(work, rows)
        if record is not None:
            lists.append(asdict(list_confidence(record, record.assessor)))
    return {"digest": digest, "lists": lists}
