"""A job as the API sends it and as pages show it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Self

from topkapi.app.db.base import now
from topkapi.app.db.models import Job
from topkapi.app.db.queries.jobs import is_held
from topkapi.app.domain.enums import JobState

TRUTHS = {"topk": "lists", "graded": "grades"}
TITLES = {
    "models": "Comparison of models",
    "confidence": "Confidence of the lists",
    "report": "Report",
    "labels": "Labels for the scores of systems",
    "judge": "Machine assessor",
    "plan": "Plan of the next study",
}


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job; `progress` runs from 0 to 1, `message` says what is done or why it failed."""

    id: int
    kind: str
    parameters: Mapping[str, Any]
    state: JobState
    progress: float
    message: str
    stopping: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, job: Job, **more: Any) -> Self:
        """Return the record of ``job``; ``more`` are the fields that a subclass adds."""
        names = [each.name for each in fields(JobRecord) if each.name != "stopping"]
        stopping = job.stop_requested and not job.state.final
        return cls(stopping=stopping, **{name: getattr(job, name) for name in names}, **more)


@dataclass(frozen=True, slots=True)
class ShownJob(JobRecord):
    """A job on a page: whether its worker was lost, and the name of who started it."""

    is_lost: bool
    by: str

    @property
    def title(self) -> str:
        """The kind in words."""
        return TITLES.get(self.kind, self.kind)

    @property
    def about(self) -> str:
        """What is compared with what, of a comparison of models."""
        if self.kind != "models":
            return ""
        count = len(self.parameters["models"])
        truth = TRUTHS[self.parameters["truth"]]
        return f"{count} {'model' if count == 1 else 'models'} on {truth}"


def shown_job(job: Job, by: str = "") -> ShownJob:
    """Return what pages show of a job that ``by`` started."""
    is_lost = job.lease_until is not None and not is_held(job.lease_until, now())
    return ShownJob.of(job, is_lost=is_lost, by=by)


@dataclass(frozen=True, slots=True)
class JudgeJob:
    """A run in the table of runs; ``result`` is empty until it has ended well."""

    job: ShownJob
    result: Mapping[str, Any]

    @property
    def state(self) -> str:
        """The state of its job, or that its process was killed."""
        return "interrupted" if self.job.is_lost else self.job.state
