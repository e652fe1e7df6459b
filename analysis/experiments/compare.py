"""All models under graded and top-k ground truth, as in [NGLC12]_ and [XLL09]_."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.data.folds import Fold, FoldSet, Truth, with_truth
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import AnalysisError
from topkapi.analysis.experiments.grids import accepts, effort
from topkapi.analysis.experiments.tuning import Tuned, tune
from topkapi.analysis.metrics import Gains, evaluate
from topkapi.analysis.models import model_class
from topkapi.analysis.tasks import Row, Task

CUTS = range(1, 11)
GRADED = [
    *(f"ndcg@{cut}" for cut in CUTS),
    *(f"letor4-ndcg@{cut}" for cut in CUTS),
    *("err", "map", "p@1", "p@3", "p@10"),
]
TOPK = [*(f"kappa-ndcg@{cut}" for cut in CUTS), "kappa-err"]


def measures_of(truth: Truth) -> list[str]:
    """Return the measures that a table of this ground truth may show."""
    return TOPK if truth == "topk" else GRADED


def cuts_of(truth: Truth, k: int) -> range:
    """Return the depths of measures: no deeper than lists of ``k``."""
    return CUTS[:k] if truth == "topk" else CUTS


def tuned_by(truth: Truth, k: int = 10) -> str:
    """Return the measure that settings are chosen by: of lists of ``k``, at most 10 deep."""
    return f"kappa-ndcg@{min(k, CUTS[-1])}" if truth == "topk" else "ndcg@10"


def beta_measures(truth: Truth, k: int = 10) -> list[str]:
    """Return the measures of curves over beta."""
    return [tuned_by(truth, k), "kappa-err" if truth == "topk" else "err"]


@dataclass(frozen=True)
class ModelEntry:
    """A model of a comparison; ``k`` other than None replaces its own k."""

    model: str
    k: int | None = None


def compare_tasks(
    fold_set: FoldSet,
    entries: Sequence[ModelEntry],
    truths: Sequence[Truth] = ("graded", "topk"),
    *,
    k: int = 10,
    seed: int = 0,
    gains: Gains | None = None,
    keep_scores: bool = False,
) -> Iterator[Task]:
    """Yield one task per model, fold and ground truth.

    ``gains`` are learned ones for NDCG; with ``keep_scores`` rows have the scores of the documents
    of the test part, and the means of the test part at each beta where beta was tuned.
    """
    for truth in truths:
        for fold in fold_set.folds:
            for entry in entries:
                identity = identity_of("compare", fold_set, fold, entry.model, seed)
                identity |= {"truth": truth, "model_k": entry.k, "k": k}
                identity["effort"] = effort(entry.model)
                arguments = {"fold": fold, "entry": entry, "truth": truth, "k": k, "seed": seed}
                if gains is not None:
                    identity["gains"] = gains.as_json()
                    arguments["gains"] = gains
                if keep_scores:
                    identity["keep_scores"] = arguments["keep_scores"] = True
                yield Task(identity, compare_cell, arguments)


def identity_of(experiment: str, fold_set: FoldSet, fold: Fold, model: str, seed: int) -> Row:
    """Return what identifies the result of every experiment; each adds its own settings."""
    return {
        "experiment": experiment,
        "data": fold_set.name,
        "data_hash": fold_set.digest,
        "fold": fold.name,
        "model": model,
        "seed": seed,
    }


def compare_cell(
    fold: Fold,
    entry: ModelEntry,
    truth: Truth,
    k: int,
    seed: int,
    gains: Gains | None = None,
    keep_scores: bool = False,
) -> Row:
    """Tune, train and test one model on one fold.

    A model that cannot be fitted gives a row with the reason under ``failed``.
    """
    fold = with_truth(fold, truth, k, seed)
    given: dict[str, int] = {}
    if accepts(entry.model, "k") and entry.k is not None:
        given["k"] = entry.k
    elif accepts(entry.model, "k") and entry.model.startswith(("topk-", "focused-")):
        given["k"] = k
    if accepts(entry.model, "seed"):
        given["seed"] = seed
    measure = tuned_by(truth, k)
    try:
        tuned = tune(entry.model, fold.train, fold.validation, measure, given=given, gains=gains)
    except (AnalysisError, ArithmeticError, np.linalg.LinAlgError) as error:
        return {"failed": " ".join(str(error).split()) or type(error).__name__}
    scores = tuned.model.predict(fold.test)
    values = evaluate(fold.test, scores, measures_of(truth), per_query=True, gains=gains)
    kept: Row = {}
    if keep_scores:
        kept["scores"] = scores.tolist()
        kept["by_beta"] = _by_beta(tuned, fold.test, beta_measures(truth, k), gains)
    return {
        "settings": tuned.settings,
        "at_edge": list(tuned.at_edge),
        "validation": tuned.score,
        "seconds": round(tuned.seconds, 3),
        "values": {name: np.round(array, 6).tolist() for name, array in values.items()},
        **kept,
    }


def _by_beta(
    tuned: Tuned, test: RankingData, measures: list[str], gains: Gains | None
) -> list[Row]:
    """Return beta and means on the test part of each model that was trained to tune beta."""
    return [
        {
            "beta": each.settings["beta"],
            **evaluate(test, each.model.predict(test), measures, gains=gains),
        }
        for each in tuned.betas
    ]


def mean_by_beta(rows: Sequence[Row], model: str, measure: str) -> dict[float, float]:
    """Return the mean over folds of a measure at each beta; empty where beta was not tuned."""
    found: dict[float, list[float]] = {}
    for row in rows:
        if row["model"] == model:
            for point in row.get("by_beta", ()):
                found.setdefault(point["beta"], []).append(point[measure])
    return {beta: float(np.mean(values)) for beta, values in found.items()}


def train_cell(data: RankingData, model: str, settings: Row) -> Row:
    """Train a model on all data, with given settings; return it in the form that is saved."""
    try:
        return {"document": model_class(model)(**settings).fit(data).as_json()}
    except (AnalysisError, ArithmeticError, np.linalg.LinAlgError) as error:
        return {"failed": " ".join(str(error).split()) or type(error).__name__}


def most_frequent(chosen: Sequence[Row]) -> Row:
    """Return the settings that most folds chose, the first of equally frequent ones."""
    return max(chosen, key=chosen.count)


def gather(rows: Sequence[Row], truth: Truth, entry: ModelEntry, measure: str) -> list[list[float]]:
    """Collect per-query values of one cell of the table, fold by fold."""
    mine = [
        row
        for row in rows
        if row["truth"] == truth and row["model"] == entry.model and row["model_k"] == entry.k
    ]
    if any("failed" in row for row in mine):
        return []
    return [row["values"][measure] for row in mine]


def mean_over_folds(parts: Sequence[Sequence[float]]) -> float | None:
    """Return the mean of the folds' means, as in published tables; None where a fold failed."""
    if not parts:
        return None
    return float(np.mean([np.mean(part) for part in parts]))
