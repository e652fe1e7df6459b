"""What a comparison of models compares: labels of a study, cut into folds, and the models."""

from dataclasses import dataclass, replace

from topkapi.analysis.data import RankingData
from topkapi.analysis.experiments.compare import ModelEntry
from topkapi.analysis.experiments.folds import FoldSet, Truth
from topkapi.app.db.base import Json
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs.running import RunningJob
from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
from topkapi.app.services.results.ranking import StudyRanking, ranking_of

FOLDS = 5
SEED = 0


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
        raise Invalid("The study has none of the chosen features any more.", field="features")
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
