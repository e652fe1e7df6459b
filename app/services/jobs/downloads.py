"""Files of a finished comparison: a trained model, and its rankings as a TREC run."""

import json
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


def _result(job: Job) -> Json:
    found: Json = json.loads(job.result or "{}")
    return found


def _part(parts: Json, job: Job, model: str) -> Any:
    if model not in parts:
        raise NotFound(f"Job {job.id} has no model {model!r}.")
    return parts[model]
