"""View data of jobs: their state, the form of a comparison, and its result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from topkapi.app.db.base import Json, now
from topkapi.app.db.models import Job
from topkapi.app.db.queries.jobs import is_held
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs.model_choice import ModelChoice, ModelOffer
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.jobs.comparison_views import TRUTHS, ComparisonView
from topkapi.app.web.jobs.plan_views import PlannedView
from topkapi.app.web.studies.visit import StudyHead

KINDS = {
    "models": "Comparison of models",
    "confidence": "Confidence of the lists",
    "report": "Report",
    "labels": "Labels for the scores of systems",
    "judge": "Machine assessor",
    "plan": "Plan of the next study",
}


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as its page and the list of jobs show it."""

    id: int
    kind: str
    title: str
    about: str
    state: JobState
    progress: float
    message: str
    stopping: bool
    is_lost: bool
    by: str
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, job: Job, by: str = "") -> "JobView":
        """Return the view of a job that ``by`` started."""
        return cls(
            id=job.id,
            kind=job.kind,
            title=KINDS.get(job.kind, job.kind),
            about=_about(job.kind, job.parameters),
            state=job.state,
            progress=job.progress,
            message=job.message,
            stopping=job.stop_requested and not job.state.final,
            is_lost=job.lease_until is not None and not is_held(job.lease_until, now()),
            by=by,
            created_at=job.created_at,
            finished_at=job.finished_at,
        )


def _about(kind: str, parameters: Json) -> str:
    if kind != "models":
        return ""
    count = len(parameters["models"])
    return f"{count} {'model' if count == 1 else 'models'} on {TRUTHS[parameters['truth']]}"


@dataclass(frozen=True, slots=True)
class ModelsView:
    """The form of a comparison, and past jobs."""

    head: StudyHead
    offer: ModelOffer
    choice: ModelChoice
    jobs: Sequence[JobView]
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class JobPageView:
    """One job, with its result if it has one to show here."""

    head: StudyHead
    job: JobView
    comparison: ComparisonView | None
    plan: PlannedView | None
