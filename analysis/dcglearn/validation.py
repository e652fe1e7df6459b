"""Validation of learned gains on real answers: [ZZCX13]_, section 5.4, Figures 16 to 20."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.dcglearn.gains import usual_gains, utilities
from topkapi.analysis.dcglearn.learner import DCGLearn
from topkapi.analysis.dcglearn.preferences import ListPreferences
from topkapi.analysis.dcglearn.similarity import accuracy
from topkapi.analysis.dcglearn.solver import Penalty
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

GRID = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Values of C to choose from."""

Fit = Callable[[ListPreferences], DCGLearn]


@dataclass(frozen=True)
class Shares:
    """Accuracy on all pairs that were not called the same, on strong and on weak preferences."""

    all: float
    strong: float
    weak: float


@dataclass(frozen=True)
class Validation:
    """Cross-validated accuracy of learned gains beside the two usual settings and chance.

    ``differences`` are mean absolute differences of worth by answer: much, better, same (Figure
    18), from models that did not see the pair. ``c`` is the C of the whole data.
    """

    pairs: int
    ties: int
    c: float
    learned: Shares
    exponential: Shares
    linear: Shares
    differences: dict[str, float]
    chance: float = 0.5


@dataclass(frozen=True)
class TieRow:
    """Held-out accuracy and mean difference of worth of tied pairs at one C of ties."""

    c_ties: float
    accuracy: float
    tie_difference: float


def fold_numbers(answers: IntArray, n_folds: int, seed: int, groups: IntArray | None) -> IntArray:
    """Assign a fold 0 .. n_folds - 1 to each pair.

    Pairs of one group (a query) share their fold.
    """
    names = np.arange(answers.size) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_groups = int(names.max(initial=-1)) + 1
    if n_groups < n_folds:
        raise BadData(f"{n_groups} queries cannot fill {n_folds} folds: take fewer folds")
    return np.random.default_rng(seed).permutation(np.arange(n_groups) % n_folds)[names]


def held_out_margins(preferences: ListPreferences, fit: Fit, folds: IntArray) -> FloatArray:
    """Compute left minus right of every pair under a model that did not see its fold, (n,)."""
    margins = np.zeros(len(preferences))
    for fold in np.unique(folds):
        margins[folds == fold] = fit(preferences.select(folds != fold)).margins(
            preferences.select(folds == fold)
        )
    return margins


def choose_c(
    preferences: ListPreferences,
    *,
    c_ties_share: float = 0.0,
    penalty: Penalty = "steps",
    grid: Sequence[float] = GRID,
    n_folds: int = 5,
    seed: int = 0,
) -> float:
    """Choose the C whose models decide most held-out pairs right, the smallest of equals.

    C of ties is ``c_ties_share`` times C. Too few pairs for folds: the middle of the grid.
    """
    folds_possible = min(n_folds, int((~preferences.tied).sum()))
    if folds_possible < 2:
        return grid[len(grid) // 2]
    folds = fold_numbers(preferences.answers, folds_possible, seed, None)

    def share(c: float) -> float:
        try:
            margins = held_out_margins(preferences, _fit_with(c, c_ties_share, penalty), folds)
        except BadData:  # a fold without a usable preference
            return 0.0
        return _share(margins, preferences.answers, ~preferences.tied)

    return max(grid, key=lambda c: (share(c), -c))


def cross_validate(
    preferences: ListPreferences,
    *,
    c: float | None = None,
    c_ties_share: float = 0.0,
    penalty: Penalty = "steps",
    n_folds: int = 5,
    seed: int = 0,
    groups: IntArray | None = None,
    repeats: int = 1,
) -> Validation:
    """Cross-validate accuracy beside the usual settings.

    Means over ``repeats`` splits into ``n_folds`` folds.

    Without ``c`` each training part chooses its own by folds within it. ``groups`` (n,) keeps pairs
    of one query together.
    """

    def fit(part: ListPreferences) -> DCGLearn:
        own = c or choose_c(part, c_ties_share=c_ties_share, penalty=penalty, seed=seed)
        return _fit_with(own, c_ties_share, penalty)(part)

    runs = [
        held_out_margins(
            preferences, fit, fold_numbers(preferences.answers, n_folds, seed + turn, groups)
        )
        for turn in range(repeats)
    ]
    learned = [_shares(margins, preferences) for margins in runs]
    return Validation(
        pairs=len(preferences),
        ties=int(preferences.tied.sum()),
        c=fit(preferences).c,
        learned=Shares(*np.mean([(each.all, each.strong, each.weak) for each in learned], axis=0)),
        exponential=_shares(usual_margins(preferences, linear=False), preferences),
        linear=_shares(usual_margins(preferences, linear=True), preferences),
        differences=_differences(np.mean(np.abs(runs), axis=0), preferences),
    )


def usual_margins(preferences: ListPreferences, *, linear: bool) -> FloatArray:
    """Compute left minus right under 2^l - 1, or l, and 1 / log2(1 + i), (n,).

    Grades count from 0 here. Counting from 1, as printed, shifts all gains and doubles 2^l: no
    comparison of equally long lists notices.
    """
    table = usual_gains(preferences.n_grades, preferences.k, linear=linear).table
    return utilities(table, preferences.left) - utilities(table, preferences.right)


def by_training_size(
    preferences: ListPreferences,
    sizes: Sequence[int],
    *,
    c: float = 1.0,
    repeats: int = 20,
    seed: int = 0,
) -> dict[int, float]:
    """Compute Figure 17: accuracy on the remaining pairs by the number of training pairs."""
    decided = np.flatnonzero(~preferences.tied)
    by_size = {}
    for size in sizes:
        if not 0 < size < decided.size:
            raise BadData(
                f"{decided.size} preferences cannot give {size} to train and some to test"
            )
        shares = []
        for turn in range(repeats):
            order = np.random.default_rng([seed, turn]).permutation(decided)
            try:
                model = DCGLearn(c=c).fit(preferences.select(order[:size]))
            except BadData:  # equal lists only: nothing is learned, the guess is a coin
                shares.append(0.5)
                continue
            rest = preferences.select(order[size:])
            shares.append(accuracy(model.margins(rest), rest.answers))
        by_size[size] = float(np.mean(shares))
    return by_size


def tie_sweep(
    preferences: ListPreferences,
    values: Sequence[float] = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0),
    *,
    c: float = 1.0,
    n_folds: int = 5,
    seed: int = 0,
) -> list[TieRow]:
    """Compute Figure 20: held-out accuracy and mean difference of tied pairs by C of ties."""
    folds = fold_numbers(preferences.answers, n_folds, seed, None)
    rows = []
    for value in values:
        margins = held_out_margins(preferences, _fit_with(c, value / c), folds)
        difference = np.abs(margins[preferences.tied])
        mean = float(difference.mean()) if difference.size else float("nan")
        accurate = _share(margins, preferences.answers, ~preferences.tied)
        rows.append(TieRow(value, accurate, mean))
    return rows


def _fit_with(c: float, c_ties_share: float, penalty: Penalty = "steps") -> Fit:
    return lambda part: DCGLearn(c=c, c_ties=c * c_ties_share, penalty=penalty).fit(part)


def _share(margins: FloatArray, answers: IntArray, chosen: BoolArray) -> float:
    return accuracy(margins[chosen], answers[chosen])


def _shares(margins: FloatArray, preferences: ListPreferences) -> Shares:
    weak = ~preferences.tied & ~preferences.strong
    parts = (~preferences.tied, preferences.strong, weak)
    return Shares(*(_share(margins, preferences.answers, part) for part in parts))


def _differences(sizes: FloatArray, preferences: ListPreferences) -> dict[str, float]:
    names = {"much": 2, "better": 1, "same": 0}
    chosen = {name: np.abs(preferences.answers) == value for name, value in names.items()}
    return {name: float(sizes[rows].mean()) for name, rows in chosen.items() if rows.any()}
