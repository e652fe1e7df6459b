"""View data of the pages of jobs and plans."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from markupsafe import Markup
from pydantic import TypeAdapter

from topkapi.app.db.models import Job
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.services.jobs.model_choice import ModelChoice, ModelOffer
from topkapi.app.services.jobs.records import ShownJob
from topkapi.app.services.jobs.refreshing import active_job, is_due
from topkapi.app.services.results.reports.notes import StoredResult
from topkapi.app.services.results.stored import is_current
from topkapi.app.services.simulation.plan_records import Planned, PlanOptions
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.jobs.comparison_views import ComparisonView
from topkapi.app.web.studies.visit import StudyHead, Visit


@dataclass(frozen=True, slots=True)
class ModelsView:
    """The form of a comparison, and past jobs."""

    head: StudyHead
    offer: ModelOffer
    choice: ModelChoice
    jobs: Sequence[ShownJob]
    refusal: Refusal | None = None


PLAN_OPTIONS = TypeAdapter(PlanOptions)
_PLANNED = TypeAdapter(Planned)
_STUDY = "as in this study"


class PlanField(NamedTuple):
    """A number of the form; ``empty`` says what counts if nothing is typed."""

    name: str
    label: str
    hint: str = ""
    empty: str = ""


FIELDS = (
    PlanField("queries", "Queries", empty=_STUDY),
    PlanField("n", "Pages per query", empty=_STUDY),
    PlanField("k", "k", "Length of the list.", _STUDY),
    PlanField("people", "People", "Those who share the work.", "1"),
    PlanField("lists", "Lists per query", "Made independently of each other.", "1"),
    PlanField("team", "Team", "People who make one list together.", "1"),
    PlanField("error", "Error rate", "Share of wrong answers, if you know it.", _STUDY),
    PlanField("seconds", "Seconds", "Per question.", _STUDY),
    PlanField("prior", "Prior", "Correlation of a ranker’s scores with the truth.", "none"),
    PlanField("goal", "Goal", "kappa-NDCG that the lists should reach.", "none"),
    PlanField("difference", "Difference", "Between two systems that should be found.", "none"),
    PlanField("deviation", "Deviation", "Of the difference over queries.", _STUDY),
    PlanField("runs", "Simulated sessions", "Per line of the table.", "100"),
)
CHOICES = {
    "sorter": ("Sorter", {name: name for name in SORTERS}),
    "error_model": (
        "Errors",
        {
            "": "as in this study, or as real people",
            "people": "as in sets of real votes",
            "normal": "between close pages, normal worths",
            "even": "between close pages, even worths",
            "uniform": "on every pair equally",
            "mixed": "between close pages, and lapses",
        },
    ),
}
USUAL = {"people": "4", "sorter": "robust", "goal": "0.9", "runs": "40"}


@dataclass(frozen=True, slots=True)
class PlanView:
    """The form of a plan as typed."""

    head: StudyHead
    typed: Mapping[str, str]
    refusal: Refusal | None = None
    fields: Sequence[PlanField] = FIELDS

    @property
    def choices(self) -> Mapping[str, tuple[str, Mapping[str, str]]]:
        """Label and values of each choice, by name."""
        return CHOICES


@dataclass(frozen=True, slots=True)
class PlannedView:
    """A plan with its figure; a single line has none."""

    found: Planned
    options: PlanOptions
    plot: Markup | None


def planned_view(job: Job) -> PlannedView | None:
    """Return the result of a job that has made a plan."""
    if job.kind != "plan" or job.result is None:
        return None
    options = PlanOptions(**job.parameters)
    found = _PLANNED.validate_python(json.loads(job.result))
    return PlannedView(found, options, _plot(found, options.goal))


def _plot(found: Planned, goal: float | None) -> Markup | None:
    from topkapi.analysis.report.svg import Curve, lines  # loads NumPy

    rows = found.efforts
    if len(rows) < 2:
        return None
    lows, highs = zip(*(r.kappa_ndcg_interval for r in rows), strict=True)
    curves = [
        Curve("kappa-NDCG", [r.kappa_ndcg for r in rows], (lows, highs)),
        Curve("overlap", [r.overlap for r in rows]),
    ]
    if goal is not None:
        curves.append(Curve("goal", [goal] * len(rows)))
    positions = [r.questions_per_list for r in rows]
    return lines("Expected quality of a list", positions, curves, "questions per list")


@dataclass(frozen=True, slots=True)
class JobPageView:
    """One job, with its result if it has one to show here.

    ``stay`` if an earlier result is shown, which is not replaced while somebody reads it.
    """

    head: StudyHead
    job: ShownJob
    comparison: ComparisonView | None
    plan: PlannedView | None
    stay: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """How current the stored result is that a page shows; ``job`` computes a newer one.

    ``at`` is None while there is none. ``start`` is the address that starts the job, which the page
    does by itself if it ``is_due``.
    """

    head: StudyHead
    start: str
    at: datetime | None
    is_outdated: bool
    is_due: bool
    job: ShownJob | None

    @property
    def stay(self) -> bool:
        """Whether an earlier result is shown."""
        return self.at is not None

    @classmethod
    def of(cls, visit: Visit, tab: str, kind: str, stored: StoredResult | None) -> "Computed":
        """Return the state of ``stored``, the latest result of a kind of job."""
        session, study = visit.session, visit.study
        job = active_job(session, study.id, kind)
        outdated = stored is None or not is_current(session, study.slug, stored)
        return cls(
            head=visit.head(tab),
            start=visit.url(f"post_{kind}"),
            at=stored.at if stored else None,
            is_outdated=outdated,
            is_due=outdated and is_due(session, study.id, kind),
            job=job,
        )
