"""The job `confidence`: how good each finished list is expected to be."""

from collections.abc import Sequence
from dataclasses import asdict

from topkapi.analysis.tasks import Row, Task
from topkapi.app.db.base import Json
from topkapi.app.db.models import JudgmentRow
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.exports.confidence import confidence_record
from topkapi.app.services.results.exports.source import AssignmentRecord
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.confidence import list_confidence


def run(job: RunningJob) -> Json:
    """Compute the rows of the report's section, with pseudonyms, list by list."""
    with export_session(job.sessions) as session:
        source = StudySource(session, job.study, ExportOptions(pseudonyms=True))
        digest = state_digest(source)
        logs = [each for each in source.list_logs() if each[0].assignment.finished_at is not None]
    tasks = [
        Task({"list": number}, confidence_cell, {"work": work, "rows": rows})
        for number, (work, rows) in enumerate(logs)
    ]
    found = job.run_tasks(
        tasks, lambda done, total: job.progress(done / total, f"{done} of {total} lists")
    )
    return {"digest": digest, "lists": [row["found"] for row in found if row["found"]]}


def confidence_cell(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> Row:
    """Compute the row of one list; None if its session is not finished."""
    record = confidence_record(work, rows)
    return {"found": record and asdict(list_confidence(record, record.assessor))}
