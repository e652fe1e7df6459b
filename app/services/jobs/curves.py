"""Curves of a comparison: means on test parts by the depth k of the measure, and by beta."""

from collections.abc import Mapping, Sequence

from topkapi.analysis.experiments.compare import (
    beta_measures,
    cuts_of,
    gather,
    mean_by_beta,
    mean_over_folds,
)
from topkapi.analysis.experiments.folds import Truth
from topkapi.analysis.experiments.store import Row
from topkapi.app.db.base import Json
from topkapi.app.services.jobs.comparison import ModelComparison

_BY_K: Mapping[Truth, tuple[str, str]] = {
    "topk": ("κ-N@k", "kappa-ndcg"),
    "graded": ("N@k", "ndcg"),
}


def curves_of(
    chosen: ModelComparison, rows: Sequence[Row], headings: Mapping[str, str]
) -> list[Json]:
    """Return each curve with its measure, positions, and values by model.

    ``headings`` are the names of measures in tables. A model that could not be fitted has no
    curve, and only models whose beta was tuned have one over beta.
    """
    over_beta = [
        _over_beta(chosen, rows, measure, headings[measure])
        for measure in beta_measures(chosen.truth, chosen.k)
    ]
    return [curve for curve in (_over_k(chosen, rows), *over_beta) if curve["values"]]


def _over_k(chosen: ModelComparison, rows: Sequence[Row]) -> Json:
    heading, stem = _BY_K[chosen.truth]
    cuts = cuts_of(chosen.truth, chosen.k)
    values: dict[str, list[float]] = {}
    for entry in chosen.entries:
        found = [
            mean_over_folds(gather(rows, chosen.truth, entry, f"{stem}@{cut}")) for cut in cuts
        ]
        known = [round(mean, 6) for mean in found if mean is not None]
        if len(known) == len(cuts):
            values[entry.model] = known
    return {"over": "k", "measure": heading, "positions": list(cuts), "values": values}


def _over_beta(chosen: ModelComparison, rows: Sequence[Row], measure: str, heading: str) -> Json:
    found = {entry.model: mean_by_beta(rows, entry.model, measure) for entry in chosen.entries}
    known = {model: curve for model, curve in found.items() if curve}
    positions = sorted({beta for curve in known.values() for beta in curve})
    values = {
        model: [round(curve[beta], 6) for beta in positions] for model, curve in known.items()
    }
    return {"over": "beta", "measure": heading, "positions": positions, "values": values}
