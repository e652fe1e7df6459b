"""Files of a finished comparison: trained models, rankings as TREC runs, and tables as CSV."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from topkapi.app.db.base import Json
from topkapi.app.db.models import Job
from topkapi.app.domain.errors import NotFound


def model_file(job: Job, model: str) -> str:
    """Return the model, trained on all labelled queries, as `topkapi rank train` writes it."""
    from topkapi.analysis.models.base import model_text

    return model_text(_part(_result(job).get("documents", {}), job, model))


def run_file(job: Job, model: str) -> str:
    """Return the run of a model; each query is scored by a model that has not learned from it."""
    result = _result(job)
    found = result.get("run", {"scores": {}, "pages": []})
    lines: list[str] = []
    parts = zip(
        result.get("queries", ()), found["pages"], _part(found["scores"], job, model), strict=True
    )
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

    if table not in TABLES or "rows" not in (result := _result(job)):
        raise NotFound(f"Job {job.id} has no table {table!r}.")
    return csv_text(TABLES[table](result))


def _means(result: Json) -> Iterator[Sequence[object]]:
    yield ("model", "measure", "mean", "worse_than_best")
    for row in result["rows"]:
        for measure, mean, worse in zip(result["columns"], row["means"], row["worse"], strict=True):
            yield row["model"], measure, mean, int(worse)


def _curves(result: Json) -> Iterator[Sequence[object]]:
    yield ("over", "position", "measure", "model", "mean")
    for curve in result.get("curves", ()):
        for model, values in curve["values"].items():
            for position, value in zip(curve["positions"], values, strict=True):
                yield curve["over"], position, curve["measure"], model, value


def _queries(result: Json) -> Iterator[Sequence[object]]:
    yield ("query", "measure", "model", "value")
    for model, values in result["per_query"].items():
        for query, value in zip(result["queries"], values, strict=True):
            yield query, result["measure"], model, value


TABLES: Mapping[str, Callable[[Json], Iterator[Sequence[object]]]] = {
    "means": _means,
    "curves": _curves,
    "queries": _queries,
}


def _result(job: Job) -> Json:
    found: Json = json.loads(job.result or "{}")
    return found


def _part(parts: Json, job: Job, model: str) -> Any:
    if model not in parts:
        raise NotFound(f"Job {job.id} has no model {model!r}.")
    return parts[model]
