"""The result of a comparison of models, and its files: models, TREC runs, tables as CSV."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from topkapi.analysis.json_text import json_text
from topkapi.app.db.base import Json
from topkapi.app.db.models import Job
from topkapi.app.domain.errors import NotFound


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """A model of a comparison: its means, whether each is ``worse`` than the best, and its test."""

    model: str
    title: str
    means: list[float | None]
    worse: list[bool]
    p: float | None
    settings: Json | None
    failed: str | None


@dataclass(frozen=True, slots=True)
class ComparedCurve:
    """Values by model of a measure over ranks or over beta."""

    over: str
    measure: str
    positions: list[int | float]
    values: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The pages of each query, and their scores by each model."""

    pages: list[list[str]] = field(default_factory=list)
    scores: dict[str, list[list[float]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """The result of a comparison as it is stored; older ones lack what has a default."""

    truth: str
    k: int
    folds: int
    features: list[str]
    from_text: bool
    skipped: list[str]
    columns: list[str]
    measure: str
    note: str
    rows: list[ComparedModel]
    queries: list[str]
    per_query: dict[str, list[float]]
    weights: dict[str, list[float]]
    curves: list[ComparedCurve] = field(default_factory=list)
    documents: dict[str, Json] = field(default_factory=dict)
    run: ComparedRuns = field(default_factory=ComparedRuns)


@cache
def _stored() -> TypeAdapter[ComparisonResult]:
    return TypeAdapter(ComparisonResult)


def result_of(job: Job) -> ComparisonResult:
    """Return the result of a finished comparison."""
    if job.kind != "models" or job.result is None:
        raise NotFound(f"Job {job.id} has no comparison of models.")
    return _stored().validate_json(job.result)


def model_file(job: Job, model: str) -> str:
    """Return the model, trained on all labelled queries, as `topkapi rank train` writes it."""
    return json_text(_part(result_of(job).documents, job, model))


def run_file(job: Job, model: str) -> str:
    """Return the run of a model; each query is scored by a model that has not learned from it."""
    result = result_of(job)
    lines: list[str] = []
    scored = _part(result.run.scores, job, model)
    parts = zip(result.queries, result.run.pages, scored, strict=True)
    for query, pages, scores in parts:
        order = sorted(range(len(pages)), key=lambda at: -scores[at])
        lines += [
            f"{query} Q0 {pages[at]} {rank} {scores[at]!r} {model}\n"
            for rank, at in enumerate(order, start=1)
        ]
    return "".join(lines)


def table_file(job: Job, table: str) -> str:
    """Return a table of the comparison as CSV, one value per line: means, curves or queries."""
    from topkapi.analysis.data.exports.cells import csv_text

    if table not in TABLES:
        raise NotFound(f"Job {job.id} has no table {table!r}.")
    return csv_text(TABLES[table](result_of(job)))


def _means(result: ComparisonResult) -> Iterator[Sequence[object]]:
    yield ("model", "measure", "mean", "worse_than_best")
    for row in result.rows:
        for measure, mean, worse in zip(result.columns, row.means, row.worse, strict=True):
            yield row.model, measure, mean, int(worse)


def _curves(result: ComparisonResult) -> Iterator[Sequence[object]]:
    yield ("over", "position", "measure", "model", "mean")
    for curve in result.curves:
        for model, values in curve.values.items():
            for position, value in zip(curve.positions, values, strict=True):
                yield curve.over, position, curve.measure, model, value


def _queries(result: ComparisonResult) -> Iterator[Sequence[object]]:
    yield ("query", "measure", "model", "value")
    for model, values in result.per_query.items():
        for query, value in zip(result.queries, values, strict=True):
            yield query, result.measure, model, value


TABLES: Mapping[str, Callable[[ComparisonResult], Iterator[Sequence[object]]]] = {
    "means": _means,
    "curves": _curves,
    "queries": _queries,
}


def _part(parts: Mapping[str, Any], job: Job, model: str) -> Any:
    if model not in parts:
        raise NotFound(f"Job {job.id} has no model {model!r}.")
    return parts[model]
