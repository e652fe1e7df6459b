"""Sweeps over beta ([NGLC12]_, Figures 1 and 2) and over k ([LGNC13]_, Figures 1 and 2)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from topkapi.analysis.data.folds import Fold, FoldSet, Truth, fold_set_of, make_folds, with_truth
from topkapi.analysis.data.synthetic import noisy_orders
from topkapi.analysis.data.topk import to_topk
from topkapi.analysis.experiments.compare import identity_of, tuned_by
from topkapi.analysis.experiments.grids import accepts, effort
from topkapi.analysis.experiments.tuning import tune
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.models import model_class
from topkapi.analysis.tasks import Row, Task

BETAS = [round(0.05 * step, 2) for step in range(21)]
FOCUSED = ["focused-svm", "focused-boost", "focused-net"]
BETA_MEASURES: dict[str, list[str]] = {
    "graded": ["ndcg@5", "ndcg@10", "err"],
    "topk": ["kappa-ndcg@5", "kappa-ndcg@10", "kappa-err"],
}

K_MODELS = ["ranksvm", "rankboost", "ranknet", "listmle"]
K_MEASURES = ["ndcg@5", "ndcg@10"]
K_FIXED: dict[str, dict[str, Any]] = {"rankboost": {"rounds": 150}}
KS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500]


def beta_tasks(
    fold_set: FoldSet, truths: Sequence[Truth] = ("graded", "topk"), *, k: int = 10, seed: int = 0
) -> Iterator[Task]:
    """Yield one task per FocusedRank model, fold and ground truth.

    Each holds the whole sweep.
    """
    for truth in truths:
        for fold in fold_set.folds:
            for model in FOCUSED:
                identity = identity_of("sweep-beta", fold_set, fold, model, seed)
                arguments = {"fold": fold, "model": model, "truth": truth, "k": k, "seed": seed}
                more = {"truth": truth, "k": k, "effort": effort(model)}
                yield Task({**identity, **more}, beta_cell, arguments)


def beta_cell(fold: Fold, model: str, truth: Truth, k: int, seed: int) -> Row:
    """Tune the penalty at beta = .5, then train at every beta and test."""
    fold = with_truth(fold, truth, k, seed)
    given: dict[str, Any] = {"k": k, "seed": seed}
    measure = tuned_by(truth)
    middle = tune(model, fold.train, fold.validation, measure, given={**given, "beta": 0.5})
    values: dict[str, list[float]] = {name: [] for name in BETA_MEASURES[truth]}
    for beta in BETAS:
        fitted = model_class(model)(**{**middle.settings, "beta": beta})
        scores = fitted.fit(fold.train, fold.validation).predict(fold.test)
        for name, value in evaluate(fold.test, scores, list(values)).items():
            values[name].append(round(value, 6))
    return {"settings": middle.settings, "betas": BETAS, "values": values}


def synthetic_fold_set(n_queries: int = 100, n_documents: int = 700, *, seed: int = 0) -> FoldSet:
    """Make five folds of seeded full orders whose noise grows with rank."""
    data = noisy_orders(n_queries, n_documents, seed=seed)
    return fold_set_of(f"synthetic {n_queries}x{n_documents}", list(make_folds(data, seed=seed)))


def k_tasks(
    fold_set: FoldSet,
    models: Sequence[str] = K_MODELS,
    ks: Sequence[int] = KS,
    *,
    seed: int = 0,
) -> Iterator[Task]:
    """Yield one task per model, fold and k.

    k None is the full order, the last point of a curve.
    """
    longest = max(int(fold.train.sizes.max()) for fold in fold_set.folds)
    for fold in fold_set.folds:
        for model in models:
            for k in [*(k for k in ks if k < longest), None]:
                identity = identity_of("sweep-k", fold_set, fold, model, seed)
                arguments = {"fold": fold, "model": model, "k": k, "seed": seed}
                tuned = {**effort(model), "fixed": K_FIXED.get(model)}
                yield Task({**identity, "k": k, "effort": tuned}, k_cell, arguments)


def k_cell(fold: Fold, model: str, k: int | None, seed: int) -> Row:
    """Train on the top k of the full order, tune and test against the full order.

    [LGNC13]_, section 4.1. ListMLE at k is top-k ListMLE; pairwise models use the pairs of
    equation (7).
    """
    fold = with_truth(fold, "full", 0, seed)
    train = fold.train if k is None else to_topk(fold.train, k, seed=seed)
    name, given = model, dict(K_FIXED.get(model, {}))
    if model == "listmle" and k is not None:
        name, given = "topk-listmle", {"k": k}
    if accepts(name, "seed"):
        given["seed"] = seed
    tuned = tune(name, train, fold.validation, "ndcg@10", given=given)
    values = evaluate(fold.test, tuned.model.predict(fold.test), K_MEASURES)
    return {
        "settings": tuned.settings,
        "seconds": round(tuned.seconds, 3),
        "values": {name: round(value, 6) for name, value in values.items()},
    }


def beta_curves(rows: Sequence[Row], truth: str, model: str) -> dict[str, list[float]]:
    """Return the mean over folds of every measure at every beta."""
    mine = [row["values"] for row in rows if row["truth"] == truth and row["model"] == model]
    return {
        name: np.mean([values[name] for values in mine], axis=0).round(6).tolist()
        for name in BETA_MEASURES[truth]
    }


def k_curve(rows: Sequence[Row], model: str, measure: str) -> dict[int | None, float]:
    """Return the mean over folds of a measure at every k.

    None is the full order.
    """
    values: dict[int | None, list[float]] = {}
    for row in rows:
        if row["model"] == model:
            values.setdefault(row["k"], []).append(row["values"][measure])
    return {k: float(np.mean(found)) for k, found in values.items()}
