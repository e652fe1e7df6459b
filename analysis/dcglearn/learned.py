"""Gains learned from one set of list preferences, validated."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from topkapi.analysis.dcglearn.intervals import Intervals, bootstrap_intervals, shares_of_best
from topkapi.analysis.dcglearn.learner import DCGLearn
from topkapi.analysis.dcglearn.preferences import ANSWERS, ListPreferences
from topkapi.analysis.dcglearn.solver import Penalty
from topkapi.analysis.dcglearn.validation import (
    TieRow,
    Validation,
    by_training_size,
    cross_validate,
    tie_sweep,
)
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import IntArray


@dataclass(frozen=True, eq=False)
class Learned:
    """A model of all preferences and its validation.

    Attributes
    ----------
    model
        Model of all preferences.
    counts
        Number of each answer ([ZZCX13]_, Table 1).
    ungraded
        Documents without a grade.
    padded
        Positions beyond the end of short lists.
    validation
        Cross-validated accuracy (Figures 16 and 18).
    intervals
        Bootstrap intervals; None if left out.
    sizes
        Accuracy by number of training pairs (Figure 17).
    ties
        Accuracy by weight of ties (Figure 20).
    """

    model: DCGLearn
    counts: dict[str, int]
    ungraded: int
    padded: int
    validation: Validation
    intervals: Intervals | None
    sizes: dict[int, float]
    ties: list[TieRow]

    def as_json(self) -> dict[str, Any]:
        """Return JSON values under stable names; undefined ones are null."""
        gains = self.model.gains_
        bounds = self.intervals
        document = {
            **self.model.as_json(),
            "gain_shares": shares_of_best(gains).tolist(),
            "counts": self.counts,
            "ungraded": self.ungraded,
            "padded": self.padded,
            "validation": asdict(self.validation),
            "gain_intervals": None if bounds is None else bounds.gains.T.tolist(),
            "discount_intervals": None if bounds is None else bounds.discounts.T.tolist(),
            "accuracy_by_training_pairs": {str(n): share for n, share in self.sizes.items()},
            "ties": [asdict(row) for row in self.ties],
        }
        plain: dict[str, Any] = _without_nan(document)
        return plain


def learn_gains(
    preferences: ListPreferences,
    *,
    groups: IntArray | None = None,
    c: float | None = None,
    c_ties_share: float = 1.0,
    penalty: Penalty = "steps",
    n_folds: int = 5,
    repeats: int = 3,
    bootstrap: int = 200,
    seed: int = 0,
) -> Learned:
    """Learn from all preferences and validate across folds.

    Parameters
    ----------
    preferences
        Answers about pairs of rankings.
    groups
        Query of each pair, (n,); pairs of one query stay in one fold.
    c
        Weight of a preference; chosen by folds inside each training part if None.
    c_ties_share
        Weight of a tie, as a multiple of C.
    penalty
        ``steps`` between grades, or ``weights``.
    n_folds
        Number of folds.
    repeats
        Number of splits into folds.
    bootstrap
        Resamples for intervals; 0 leaves them out.
    seed
        Seed of folds and resamples.
    """
    validation = cross_validate(
        preferences,
        c=c,
        c_ties_share=c_ties_share,
        penalty=penalty,
        n_folds=n_folds,
        seed=seed,
        groups=groups,
        repeats=repeats,
    )
    chosen = validation.c
    model = DCGLearn(c=chosen, c_ties=chosen * c_ties_share, penalty=penalty).fit(preferences)
    bounds = None
    if bootstrap:
        bounds = bootstrap_intervals(model, preferences, runs=bootstrap, seed=seed, groups=groups)
    return Learned(
        model=model,
        counts={name: int((preferences.answers == value).sum()) for name, value in ANSWERS.items()},
        ungraded=preferences.ungraded,
        padded=preferences.padded,
        validation=validation,
        intervals=bounds,
        sizes=_sizes(preferences, chosen, seed),
        ties=_ties(preferences, chosen, n_folds, seed),
    )


def _sizes(preferences: ListPreferences, c: float, seed: int) -> dict[int, float]:
    decided = int((~preferences.tied).sum())
    sizes = sorted({int(decided * share) for share in (0.1, 0.2, 0.4, 0.6, 0.8)} - {0})
    return by_training_size(preferences, sizes, c=c, seed=seed) if decided > 1 else {}


def _ties(preferences: ListPreferences, c: float, n_folds: int, seed: int) -> list[TieRow]:
    if not preferences.tied.any():
        return []
    values = [c * share for share in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)]
    try:
        return tie_sweep(preferences, values, c=c, n_folds=n_folds, seed=seed)
    except BadData:  # a fold without a preference: too few to sweep
        return []


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
