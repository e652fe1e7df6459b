"""Fit a model with its settings chosen on validation data."""

from dataclasses import dataclass
from time import process_time

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.experiments.grids import FIXED, GRIDS, Grid, Settings, accepts
from topkapi.analysis.metrics import LOSSES, Gains, evaluate
from topkapi.analysis.models import Ranker, model_class


@dataclass(frozen=True)
class Tuned:
    """A fitted model, the settings that won, their validation score, and processor seconds."""

    model: Ranker
    settings: Settings
    score: float
    seconds: float


def tune(
    name: str,
    train: RankingData,
    validation: RankingData,
    measure: str,
    *,
    given: Settings | None = None,
    grid: Grid | None = None,
    gains: Gains | None = None,
) -> Tuned:
    """Choose each tuned setting in turn by ``measure`` on validation data.

    ``given`` settings are fixed, and not tuned; ``grid`` replaces the model's own;
    ``gains`` are learned ones for NDCG.
    """
    start = process_time()
    base = _base(name, measure, given or {})
    steps = GRIDS.get(name, []) if grid is None else grid
    best = None
    for setting, values in [step for step in steps if step[0] not in (given or {})]:
        kept = base if best is None else best.settings
        tried = [
            _attempt(name, {**kept, setting: value}, train, validation, measure, gains)
            for value in values
        ]
        best = max(tried, key=lambda attempt: attempt.score)
    best = best or _attempt(name, base, train, validation, measure, gains)
    return Tuned(best.model, best.settings, best.score, process_time() - start)


def _base(name: str, measure: str, given: Settings) -> Settings:
    base = {**FIXED.get(name, {}), **given}
    if accepts(name, "measure") and "measure" not in base:
        base["measure"] = measure  # boosting chooses its rounds by it
    return base


def _attempt(
    name: str,
    settings: Settings,
    train: RankingData,
    validation: RankingData,
    measure: str,
    gains: Gains | None,
) -> Tuned:
    model = model_class(name)(**settings).fit(train, validation)
    score = evaluate(validation, model.predict(validation), [measure], gains=gains)[measure]
    sign = -1.0 if measure.split("@")[0] in LOSSES else 1.0
    return Tuned(model, settings, sign * score, 0.0)
