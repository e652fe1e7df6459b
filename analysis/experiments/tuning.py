"""Fit a model with its settings chosen on validation data."""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import AnalysisError
from topkapi.analysis.experiments.grids import (
    EXTENSIONS,
    FIXED,
    GRIDS,
    PENALTIES,
    Grid,
    Settings,
    accepts,
)
from topkapi.analysis.metrics import LOSSES, Gains, evaluate
from topkapi.analysis.models import Ranker, model_class


@dataclass(frozen=True)
class Tuned:
    """A fitted model, the settings that won, their validation score, and processor seconds.

    ``at_edge`` names the penalties that are at an end of their extended grid; ``betas`` are the
    attempts at each beta, in the order of its grid, where beta was tuned.
    """

    model: Ranker
    settings: Settings
    score: float
    seconds: float
    at_edge: tuple[str, ...] = ()
    betas: tuple["Tuned", ...] = ()


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
    ``gains`` are learned ones for NDCG. Where the best penalty is at an end of its grid, the grid
    is extended by up to ``EXTENSIONS`` values.
    """
    start = process_time()
    base = _base(name, measure, given or {})
    steps = GRIDS.get(name, []) if grid is None else grid
    best = None
    at_edge: list[str] = []
    betas: tuple[Tuned, ...] = ()
    for setting, values in [step for step in steps if step[0] not in (given or {})]:
        kept = base if best is None else best.settings

        def attempt(value: Any, setting: str = setting, kept: Settings = kept) -> Tuned:
            return _attempt(name, {**kept, setting: value}, train, validation, measure, gains)

        tried = [attempt(value) for value in values]
        betas = tuple(tried) if setting == "beta" else betas
        best, ends = _best_of(tried, setting, values, attempt)
        at_edge += [setting] * ends
    best = best or _attempt(name, base, train, validation, measure, gains)
    seconds = process_time() - start
    return Tuned(best.model, best.settings, best.score, seconds, tuple(at_edge), betas)


def _best_of(
    tried: list[Tuned], setting: str, values: list[Any], attempt: Callable[[Any], Tuned]
) -> tuple[Tuned, bool]:
    """Return the best attempt, extending the grid of a penalty at whose end it is.

    Also tells whether it is at an end still.
    """
    best = max(tried, key=lambda each: each.score)
    if setting not in PENALTIES or len(values) < 2:
        return best, False
    for _ in range(EXTENSIONS):
        value = best.settings[setting]
        if value not in (values[0], values[-1]):
            return best, False
        first = value == values[0]
        fresh = values[0] ** 2 / values[1] if first else values[-1] ** 2 / values[-2]
        values = [fresh, *values] if first else [*values, fresh]
        try:
            further = attempt(fresh)
        except AnalysisError:
            return best, True
        if further.score <= best.score:
            return best, False
        best = further
    return best, True


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
