"""The comparisons of [CSX15]_, section 4.2: TopMargin, TopSlack, TopRank and the baselines.

For Precision columns the losses of the structural models are those of Precision, settings are
chosen by P@10 and TopRank's votes weigh by it; for NDCG columns everything is NDCG's.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from topkapi.analysis.data.folds import Fold, FoldSet
from topkapi.analysis.experiments.compare import identity_of, mean_over_folds
from topkapi.analysis.experiments.grids import accepts, effort, title
from topkapi.analysis.experiments.tables import Table
from topkapi.analysis.experiments.tuning import tune
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.papers.comparison import ALPHA, corrected_tests
from topkapi.analysis.tasks import Row, Task

FAMILIES = {"precision": ("p", "P"), "ndcg": ("ndcg", "N")}
CUTS = (1, 3, 10)
BASELINES = ("regression", "ranksvm", "listnet", "topk-listmle")
MODELS = ("top-margin", "top-slack", "toprank", *BASELINES)


def toprank_tasks(fold_set: FoldSet, *, n: int = 10, seed: int = 0) -> Iterator[Task]:
    """Yield one task per model, fold and kind of measure.

    ``n`` is the depth of the loss of NDCG.
    """
    for fold in fold_set.folds:
        for model in MODELS:
            for family in FAMILIES:
                identity = identity_of("toprank", fold_set, fold, model, seed)
                identity |= {"family": family, "n": n, "effort": effort(model)}
                cell = {"fold": fold, "model": model, "family": family, "n": n, "seed": seed}
                yield Task(identity, toprank_cell, cell)


def toprank_cell(fold: Fold, model: str, family: str, n: int, seed: int) -> Row:
    """Tune, train and test one model on one fold for one kind of measure."""
    stem = FAMILIES[family][0]
    given: dict[str, object] = {}
    if accepts(model, "loss") and model.startswith("top"):
        given["loss"] = family
        given["n"] = n if family == "ndcg" else 10  # precision of all is the same in every order
    if model == "topk-listmle":
        given["k"] = 10
    if accepts(model, "seed"):
        given["seed"] = seed
    tuned = tune(model, fold.train, fold.validation, f"{stem}@10", given=given)
    names = [f"{stem}@{cut}" for cut in CUTS]
    values = evaluate(fold.test, tuned.model.predict(fold.test), names, per_query=True)
    return {
        "settings": tuned.settings,
        "validation": tuned.score,
        "seconds": round(tuned.seconds, 3),
        "values": {name: np.round(array, 6).tolist() for name, array in values.items()},
    }


def toprank_tables(rows: Sequence[Row], data: str) -> list[Table]:
    """Make the three tables.

    Margin against slack scaling, TopSlack against TopRank, TopRank against the baselines.
    """
    return [
        _table(rows, ("top-margin", "top-slack"), f"TopMargin and TopSlack, {data}"),
        _table(rows, ("top-slack", "toprank"), f"TopSlack and TopRank, {data}"),
        _table(rows, ("toprank", *BASELINES), f"TopRank and baselines, {data}"),
    ]


def _table(rows: Sequence[Row], models: Sequence[str], name: str) -> Table:
    columns = [
        (f"{letter}@{cut}", family, f"{stem}@{cut}")
        for family, (stem, letter) in FAMILIES.items()
        for cut in CUTS
    ]
    folds_of = {
        model: [_values(rows, model, family, measure) for _, family, measure in columns]
        for model in models
    }
    lines: list[tuple[str, list[float | None]]] = [
        (title(model, 10), [mean_over_folds(folds) for folds in folds_of[model]])
        for model in models
    ]
    first, *others = models
    marks = set()
    for column, (heading, _, _) in enumerate(columns):
        folds = [folds_of[model][column] for model in others]
        chances = corrected_tests(folds_of[first][column], folds)
        marks |= {
            (title(model, 10), heading)
            for model, p in zip(others, chances, strict=True)
            if p < ALPHA
        }
    note = (
        f"differs from {title(first, 10)}: paired randomisation test over queries, p < 0.05 after "
        "Holm's correction for the models of the column"
    )
    headings = [heading for heading, _, _ in columns]
    return Table(name, headings, lines, frozenset(marks), note if marks else "")


def _values(rows: Sequence[Row], model: str, family: str, measure: str) -> list[list[float]]:
    mine = [row for row in rows if row["model"] == model and row["family"] == family]
    return [row["values"][measure] for row in mine]
