"""View data of jobs: their state, and the tables of a comparison of models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from topkapi.app.db.base import Json
from topkapi.app.db.models import Job
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs.model_choice import ModelChoice, ModelOffer
from topkapi.app.web.people.views import Refusal
from topkapi.app.web.studies.views import StudyHead

MOST_ROWS = 50  # of queries and of features
KINDS = {"models": "Comparison of models", "confidence": "Confidence of the lists"}
TRUTHS = {"topk": "lists", "graded": "grades"}


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
class Cell:
    """A figure of a table; ``worse`` if the best of its column is significantly better."""

    value: float | None
    best: bool
    worse: bool


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of a comparison; ``p`` tests its difference to the best one."""

    model: str
    title: str
    cells: Sequence[Cell]
    p: float | None
    settings: str
    failed: str | None
    has_document: bool
    has_run: bool


@dataclass(frozen=True, slots=True)
class QueryLink:
    """A query of the study: the number in its address, and its text."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class NamedValues:
    """A query with one value per model, or a feature with one weight per model."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """The result of a comparison: table, values per query by spread, weights by size."""

    truth: str
    k: int
    folds: int
    features: int
    from_text: bool
    skipped: Sequence[str]
    columns: Sequence[str]
    measure: str
    note: str
    rows: Sequence[ModelRow]
    models: Sequence[str]
    queries: Sequence[NamedValues]
    query_count: int
    linear: Sequence[str]
    weights: Sequence[NamedValues]
    links: Mapping[str, QueryLink]


def comparison_view(result: Json, links: Mapping[str, QueryLink]) -> ComparisonView:
    """Return the view of a stored result; ``links`` are the study's queries by id."""
    titles = {row["model"]: row["title"] for row in result["rows"]}
    values: Mapping[str, Sequence[float]] = result["per_query"]
    weights: Mapping[str, Sequence[float]] = result["weights"]
    by_query = _named(result["queries"], values, lambda each: max(each) - min(each))
    return ComparisonView(
        truth=TRUTHS[result["truth"]],
        k=result["k"],
        folds=result["folds"],
        features=len(result["features"]),
        from_text=result["from_text"],
        skipped=result["skipped"],
        columns=result["columns"],
        measure=result["measure"],
        note=result["note"],
        rows=_rows(result),
        models=[titles[name] for name in values],
        queries=by_query[:MOST_ROWS],
        query_count=len(by_query),
        linear=[titles[name] for name in weights],
        weights=_named(result["features"], weights, lambda each: max(map(abs, each)))[:MOST_ROWS],
        links=links,
    )


def _rows(result: Json) -> list[ModelRow]:
    columns = list(zip(*(row["means"] for row in result["rows"]), strict=True))
    best = [max((mean for mean in column if mean is not None), default=None) for column in columns]
    return [
        ModelRow(
            model=row["model"],
            title=row["title"],
            cells=[
                Cell(mean, mean is not None and mean == top, worse)
                for mean, top, worse in zip(row["means"], best, row["worse"], strict=True)
            ],
            p=row["p"],
            settings=_settings(row["settings"] or {}),
            failed=row["failed"],
            has_document=row["model"] in result["documents"],
            has_run=row["model"] in result["run"]["scores"],
        )
        for row in result["rows"]
    ]


def _settings(settings: Json) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items() if name != "measure")


def _named(
    names: Sequence[str],
    columns: Mapping[str, Sequence[float]],
    size: Callable[[Sequence[float]], float],
) -> list[NamedValues]:
    rows = zip(*columns.values(), strict=True)
    found = (
        [NamedValues(name, row) for name, row in zip(names, rows, strict=True)] if columns else []
    )
    return sorted(found, key=lambda each: -size(each.values))


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
