"""What a comparison of models compares (labels in folds, models), and its curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from topkapi.analysis.data import RankingData
from topkapi.analysis.data.folds import FoldSet, Truth
from topkapi.analysis.experiments.compare import (
    ModelEntry,
    beta_measures,
    cuts_of,
    gather,
    mean_by_beta,
    mean_over_folds,
)
from topkapi.analysis.tasks import Row
from topkapi.app.db.base import Json
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs.comparison_result import ComparedCurve
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.ranking import StudyRanking, ranking_of

FOLDS = 5
SEED = 0
_BY_K: Mapping[Truth, tuple[str, str]] = {
    "topk": ("κ-N@k", "kappa-ndcg"),
    "graded": ("N@k", "ndcg"),
}


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """What is compared: one ground truth, cut into folds, and the models."""

    truth: Truth
    k: int
    data: RankingData
    folds: FoldSet
    features: tuple[str, ...]
    entries: tuple[ModelEntry, ...]


def read_ranking(job: RunningJob) -> StudyRanking:
    """Read features and labels of the study."""
    options = ExportOptions(consensus=job.parameters.get("consensus"))
    with export_session(job.sessions) as session:
        return ranking_of(StudySource(session, job.study, options))


def comparison_of(ranking: StudyRanking, parameters: Json) -> ModelComparison:
    """Return what the parameters choose; raise Invalid if the study has none of the features."""
    truth: Truth = "graded" if parameters["truth"] == "graded" else "topk"
    all_data = ranking.under(truth)
    wanted = set(parameters["features"]) or set(ranking.features)
    columns = [at for at, name in enumerate(ranking.features) if name in wanted]
    if not columns:
        raise Invalid("The study no longer has any of the chosen features.", field="features")
    data = all_data.with_features(all_data.features[:, columns])
    narrowed = replace(ranking, data={**ranking.data, truth: data})
    return ModelComparison(
        truth=truth,
        k=data.topk or 10,
        data=data,
        folds=narrowed.fold_set(truth, folds=min(FOLDS, max(3, data.n_queries)), seed=SEED),
        features=tuple(ranking.features[at] for at in columns),
        entries=tuple(ModelEntry(name) for name in parameters["models"]),
    )


def curves_of(
    chosen: ModelComparison, rows: Sequence[Row], headings: Mapping[str, str]
) -> list[ComparedCurve]:
    """Return each curve with its measure, positions, and values by model.

    ``headings`` are the names of measures in tables. A model that could not be fitted has no
    curve, and only models whose beta was tuned have one over beta.
    """
    over_beta = [
        _over_beta(chosen, rows, measure, headings[measure])
        for measure in beta_measures(chosen.truth, chosen.k)
    ]
    return [curve for curve in (_over_k(chosen, rows), *over_beta) if curve.values]


def _over_k(chosen: ModelComparison, rows: Sequence[Row]) -> ComparedCurve:
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
    return ComparedCurve("k", heading, list(cuts), values)


def _over_beta(
    chosen: ModelComparison, rows: Sequence[Row], measure: str, heading: str
) -> ComparedCurve:
    found = {entry.model: mean_by_beta(rows, entry.model, measure) for entry in chosen.entries}
    known = {model: curve for model, curve in found.items() if curve}
    positions = sorted({beta for curve in known.values() for beta in curve})
    values = {
        model: [round(curve[beta], 6) for beta in positions] for model, curve in known.items()
    }
    return ComparedCurve("beta", heading, positions, values)
