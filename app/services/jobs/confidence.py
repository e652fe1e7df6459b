"""The job `confidence`: how good each finished list is expected to be."""

import json
from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.analysis.report.schema import ListConfidence
from topkapi.app.db.base import Json
from topkapi.app.db.models import Job
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.exports.confidence import confidence_record
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.confidence import StoredConfidence, list_confidence

KIND = "confidence"


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


def stored_confidence(session: Session, study_id: int) -> StoredConfidence | None:
    """Return what the latest job of the study has computed."""
    statement = (
        select(Job.id, Job.finished_at, Job.result)
        .where(Job.study_id == study_id, Job.kind == KIND, Job.state == JobState.DONE)
        .order_by(Job.id.desc())
        .limit(1)
    )
    found = session.execute(statement).one_or_none()
    if found is None or found.result is None or found.finished_at is None:
        return None
    result = json.loads(found.result)
    lists = [ListConfidence(**row) for row in result["lists"]]
    return StoredConfidence(found.id, found.finished_at, result["digest"], lists)
