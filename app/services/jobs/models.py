"""The job `models`: ranking models compared on the labels of a study."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from topkapi.analysis.experiments.compare import (
    compare_tasks,
    gather,
    most_frequent,
    train_cell,
    tuned_by,
)
from topkapi.analysis.experiments.grids import title
from topkapi.analysis.models import LinearRanker, model_class
from topkapi.analysis.papers.comparison import comparison_table, niu_columns
from topkapi.analysis.significance import holm, randomisation_test
from topkapi.analysis.tasks import Progress, Row, Task
from topkapi.app.db.base import Json
from topkapi.app.services.jobs.comparison import (
    SEED,
    ModelComparison,
    comparison_of,
    curves_of,
    read_ranking,
)
from topkapi.app.services.jobs.comparison_result import (
    ComparedModel,
    ComparedRuns,
    ComparisonResult,
)
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.ranking import StudyRanking


def run(job: RunningJob) -> Json:
    """Tune, train and test the models on folds of queries, then train each on all queries."""
    job.progress(0.0, "reading the study")
    ranking = read_ranking(job)
    chosen = comparison_of(ranking, job.parameters)
    models = [entry.model for entry in chosen.entries]
    cells = list(
        compare_tasks(
            chosen.folds, chosen.entries, [chosen.truth], k=chosen.k, seed=SEED, keep_scores=True
        )
    )
    total = len(cells) + len(models)

    def noted(before: int, what: str) -> Progress:
        return lambda done, _of: job.progress((before + done) / total, what)

    rows = job.run_tasks(cells, noted(0, "comparing on folds"))
    settings = _settings(rows)
    final = [
        Task({"model": name}, train_cell, {"data": chosen.data, "model": name, "settings": found})
        for name, found in settings.items()
    ]
    trained = job.run_tasks(final, noted(len(cells), "training on all queries"))
    documents = {row["model"]: row["document"] for row in trained if "document" in row}
    weights = {
        name: document["learned"]["coef_"]
        for name, document in documents.items()
        if issubclass(model_class(name), LinearRanker)
    }
    return asdict(_result(chosen, ranking, rows, settings, weights, documents))


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


def _result(
    chosen: ModelComparison,
    ranking: StudyRanking,
    rows: Sequence[Row],
    settings: dict[str, Row],
    weights: dict[str, list[float]],
    documents: dict[str, Json],
) -> ComparisonResult:
    """Return the table, tests against the best model, values per query, curves and runs."""
    columns = niu_columns(chosen.truth, "standard", chosen.k)
    headings = {measure: heading for heading, measure in columns.items()}
    table = comparison_table(rows, chosen.entries, chosen.truth, columns, "")
    measure = tuned_by(chosen.truth, chosen.k)
    names = [query for fold in chosen.folds.folds for query in fold.test.query_ids]
    values = {
        entry.model: [value for part in found for value in part]
        for entry in chosen.entries
        if (found := gather(rows, chosen.truth, entry, measure))
    }
    failed = {row["model"]: row["failed"] for row in rows if "failed" in row}
    against = _against_best(values)
    return ComparisonResult(
        truth=chosen.truth,
        k=chosen.k,
        folds=len(chosen.folds.folds),
        features=list(chosen.features),
        from_text=ranking.from_text,
        skipped=list(ranking.unlabelled[chosen.truth]),
        columns=table.columns,
        measure=headings[measure],
        note=table.note,
        rows=[
            ComparedModel(
                model=entry.model,
                title=title(entry.model),
                means=means,
                worse=[(label, column) in table.marks for column in table.columns],
                p=against.get(entry.model),
                settings=settings.get(entry.model),
                failed=failed.get(entry.model),
            )
            for entry, (label, means) in zip(chosen.entries, table.rows, strict=True)
        ],
        queries=names,
        per_query=values,
        curves=curves_of(chosen, rows, headings),
        weights=weights,
        documents=documents,
        run=_run_of(chosen, rows),
    )


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


def _run_of(chosen: ModelComparison, rows: Sequence[Row]) -> ComparedRuns:
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
    return ComparedRuns(pages, scores)
