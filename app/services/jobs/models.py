"""The job `models`: ranking models compared on the labels of a study."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topkapi.analysis.data import RankingData
from topkapi.analysis.experiments.compare import (
    Entry,
    compare_tasks,
    gather,
    most_frequent,
    train_cell,
    tuned_by,
)
from topkapi.analysis.experiments.folds import FoldSet, Truth
from topkapi.analysis.experiments.grids import title
from topkapi.analysis.experiments.significance import holm, randomisation_test
from topkapi.analysis.experiments.store import Row, Store, Task, run_tasks
from topkapi.analysis.models import LinearRanker, model_class
from topkapi.analysis.papers.comparison import comparison_table, niu_columns
from topkapi.app.db.base import Json
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.ranking import StudyRanking, ranking_of

KIND = "models"
FOLDS = 5
_SEED = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared: one ground truth, cut into folds, and the models."""

    truth: Truth
    k: int
    data: RankingData
    folds: FoldSet
    features: tuple[str, ...]
    entries: tuple[Entry, ...]


def run(job: RunningJob) -> Json:
    """Tune, train and test the models on folds of queries, then train each on all queries."""
    job.progress(0.0, "reading the study")
    ranking = _read(job)
    chosen = _comparison(ranking, job.parameters)
    models = [entry.model for entry in chosen.entries]
    cells = list(
        compare_tasks(
            chosen.folds, chosen.entries, [chosen.truth], k=chosen.k, seed=_SEED, keep_scores=True
        )
    )
    total = len(cells) + len(models)

    def noted(before: int, what: str) -> Any:
        return lambda done, _of: job.progress((before + done) / total, what)

    rows = run_tasks(cells, Store(), dask=job.dask, progress=noted(0, "comparing on folds"))
    settings = _settings(rows)
    final = [
        Task({"model": name}, train_cell, {"data": chosen.data, "model": name, "settings": found})
        for name, found in settings.items()
    ]
    trained = run_tasks(
        final, Store(), dask=job.dask, progress=noted(len(cells), "training on all queries")
    )
    documents = {row["model"]: row["document"] for row in trained if "document" in row}
    return {
        "truth": chosen.truth,
        "k": chosen.k,
        "folds": len(chosen.folds.folds),
        "features": list(chosen.features),
        "from_text": ranking.from_text,
        "skipped": list(ranking.unlabelled[chosen.truth]),
        **_figures(chosen, rows, settings),
        "weights": {
            name: document["learned"]["coef_"]
            for name, document in documents.items()
            if issubclass(model_class(name), LinearRanker)
        },
        "documents": documents,
        "run": _run_of(chosen, rows),
    }


def _read(job: RunningJob) -> StudyRanking:
    options = ExportOptions(consensus=job.parameters.get("consensus"))
    with export_session(job.sessions) as session:
        return ranking_of(StudySource(session, job.study, options))


def _comparison(ranking: StudyRanking, parameters: Json) -> Comparison:
    truth: Truth = "graded" if parameters["truth"] == "graded" else "topk"
    all_data = ranking.under(truth)
    wanted = set(parameters["features"]) or set(ranking.features)
    columns = [at for at, name in enumerate(ranking.features) if name in wanted]
    if not columns:
        raise Invalid("The study has none of the chosen features any more.", field="features")
    data = all_data.with_features(all_data.features[:, columns])
    narrowed = replace(ranking, data={**ranking.data, truth: data})
    return Comparison(
        truth=truth,
        k=data.topk or 10,
        data=data,
        folds=narrowed.fold_set(truth, folds=min(FOLDS, max(3, data.n_queries)), seed=_SEED),
        features=tuple(ranking.features[at] for at in columns),
        entries=tuple(Entry(name) for name in parameters["models"]),
    )


def _settings(rows: Sequence[Row]) -> dict[str, Row]:
    """Return the settings that most folds chose, of the models that every fold could fit."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["model"], []).append(row.get("settings") or {"failed": True})
    return {
        name: most_frequent(chosen)
        for name, chosen in found.items()
        if not any("failed" in each for each in chosen)
    }


def _figures(chosen: Comparison, rows: Sequence[Row], settings: dict[str, Row]) -> Json:
    """Return the table, tests against the best model, and the values per query."""
    columns = niu_columns(chosen.truth, "standard")
    table = comparison_table(rows, chosen.entries, chosen.truth, columns, "")
    measure = tuned_by(chosen.truth)
    main = next(heading for heading, name in columns.items() if name == measure)
    names = [query for fold in chosen.folds.folds for query in fold.test.query_ids]
    values = {
        entry.model: [value for part in found for value in part]
        for entry in chosen.entries
        if (found := gather(rows, chosen.truth, entry, measure))
    }
    failed = {row["model"]: row["failed"] for row in rows if "failed" in row}
    against = _against_best(values)
    return {
        "columns": table.columns,
        "measure": main,
        "note": table.note,
        "rows": [
            {
                "model": entry.model,
                "title": title(entry.model),
                "means": means,
                "worse": [(label, column) in table.marks for column in table.columns],
                "p": against.get(entry.model),
                "settings": settings.get(entry.model),
                "failed": failed.get(entry.model),
            }
            for entry, (label, means) in zip(chosen.entries, table.rows, strict=True)
        ],
        "queries": names,
        "per_query": values,
    }


def _against_best(values: dict[str, list[float]]) -> dict[str, float]:
    """Return p of each model's difference to the best one, corrected for their number."""
    if not values:
        return {}
    best = max(values, key=lambda name: float(np.mean(values[name])))
    others = [name for name in values if name != best]
    found = [
        randomisation_test(np.asarray(values[best]), np.asarray(values[name])) for name in others
    ]
    return dict(zip(others, holm(found), strict=True))


def _run_of(chosen: Comparison, rows: Sequence[Row]) -> Json:
    """Return the pages of each query and their scores by each model, all from test parts."""
    tests = {fold.name: fold.test for fold in chosen.folds.folds}
    scores: dict[str, list[list[float]]] = {}
    for row in rows:
        if "scores" in row:
            split = np.split(np.asarray(row["scores"]), tests[row["fold"]].offsets[1:-1])
            scores.setdefault(row["model"], []).extend(part.tolist() for part in split)
    pages = [
        list(test.document_ids[test.offsets[at] : test.offsets[at + 1]])
        for test in tests.values()
        for at in range(test.n_queries)
    ]
    return {"pages": pages, "scores": scores}
