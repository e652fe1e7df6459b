"""The papers' qualitative findings, checked against result rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.data.folds import Truth
from topkapi.analysis.experiments.compare import ModelEntry, gather, mean_over_folds
from topkapi.analysis.experiments.grids import title
from topkapi.analysis.lazy import stats
from topkapi.analysis.papers.comparison import ALPHA, PARENTS
from topkapi.analysis.papers.sweeps import BETA_MEASURES, FOCUSED
from topkapi.analysis.significance import holm, randomisation_test
from topkapi.analysis.tasks import Row
from topkapi.analysis.typing import FloatArray

NEAR = 0.01
"""A plateau may lose this much against the full order."""


@dataclass(frozen=True)
class PaperFinding:
    """A claim, the measured values, and whether they confirm it."""

    claim: str
    measured: str
    confirmed: bool

    @property
    def line(self) -> str:
        """One line of Markdown."""
        return f"- {self.claim}: {self.measured}. **{self.verdict}**"

    @property
    def verdict(self) -> str:
        """Verdict on the finding."""
        return "Confirmed" if self.confirmed else "Not shown"


def beats(
    rows: Sequence[Row], pairs: Sequence[tuple[str, str]], truth: Truth, measure: str
) -> list[PaperFinding]:
    """Tell whether the first model of each pair is significantly better, Holm over pairs."""
    values = []
    for first, second in pairs:
        one, two = (gather(rows, truth, ModelEntry(name), measure) for name in (first, second))
        difference = (mean_over_folds(one) or 0.0) - (mean_over_folds(two) or 0.0)
        values.append((difference, randomisation_test(np.concatenate(one), np.concatenate(two))))
    corrected = holm([p for _, p in values])
    return [
        PaperFinding(
            f"{title(first)} is above {title(second)} in {measure} ({rows[0]['data']}, {truth})",
            f"difference {difference:+.4f}, corrected p {p:.3f}",
            difference > 0 and p < ALPHA,
        )
        for (first, second), (difference, _), p in zip(pairs, values, corrected, strict=True)
    ]


def focused_against_parents(rows: Sequence[Row], measure: str) -> list[PaperFinding]:
    """Check [NGLC12]_, section 4.2.2, on top-k ground truth."""
    have = {row["model"] for row in rows}
    pairs = [
        (child, parent)
        for child, parents in PARENTS.items()
        for parent in parents
        if {child, parent} <= have
    ]
    return beats(rows, pairs, "topk", measure)


def interior_beta(rows: Sequence[Row], truth: str) -> list[PaperFinding]:
    """Check [NGLC12]_, section 4.2.3: the best beta is between 0 and 1.

    The best of 21 points is inside by chance alone, so beta is chosen by the other folds.
    """
    found = []
    for model in (name for name in FOCUSED if any(row["model"] == name for row in rows)):
        mine = [row for row in rows if row["truth"] == truth and row["model"] == model]
        for measure in BETA_MEASURES[truth]:
            curves = np.array([row["values"][measure] for row in mine])
            gains = cross_fitted(curves[:, 1:-1]) - cross_fitted(curves[:, [0, -1]])
            low, high = interval_over_folds(gains)
            found.append(
                PaperFinding(
                    f"{title(model)} is better inside 0 < beta < 1 than at its ends in {measure} "
                    f"({rows[0]['data']}, {truth})",
                    f"beta chosen by the other folds: difference {gains.mean():+.4f} "
                    f"({low:+.4f} to {high:+.4f} over {gains.size} folds)",
                    low > 0,
                )
            )
    return found


def cross_fitted(curves: FloatArray) -> FloatArray:
    """Return each fold's value at the point that is best on the mean of the other folds.

    Parameters
    ----------
    curves
        Values (folds, points), at least two folds.
    """
    others = curves.sum(axis=0) - curves
    chosen: FloatArray = curves[np.arange(curves.shape[0]), others.argmax(axis=1)]
    return chosen


def interval_over_folds(values: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval of the mean over folds; infinite for one fold."""
    if values.size < 2:
        return -np.inf, np.inf
    reach = float(stats.t.ppf((1 + level) / 2, values.size - 1))
    half = reach * float(values.std(ddof=1)) / np.sqrt(values.size)
    return float(values.mean()) - half, float(values.mean()) + half


def plateau(rows: Sequence[Row], measure: str) -> list[PaperFinding]:
    """Check [LGNC13]_, section 4.2: the curve over k rises quickly to a stable value.

    Confirmed if the best k, chosen by the other folds, is above the first one, is at most 50, and
    loses less than ``NEAR`` against the full order, each by its interval over folds.
    """
    found = []
    for model in dict.fromkeys(row["model"] for row in rows):
        mine = [row for row in rows if row["model"] == model]
        known = sorted({row["k"] for row in mine if row["k"] is not None})
        curves = np.array([_by_fold(mine, k, measure) for k in known]).T
        early = cross_fitted(curves[:, [k <= 50 for k in known]])
        rise = interval_over_folds(early - curves[:, 0])
        lead = early - np.array(_by_fold(mine, None, measure))
        low, high = interval_over_folds(lead)
        found.append(
            PaperFinding(
                f"{title(model)} rises to a plateau in {measure} ({rows[0]['data']})",
                f"best k up to 50 against k = {known[0]}: {rise[0]:+.4f} to {rise[1]:+.4f}; "
                f"against the full order {lead.mean():+.4f} ({low:+.4f} to {high:+.4f})",
                rise[0] > 0 and low > -NEAR,
            )
        )
    return found


def _by_fold(rows: Sequence[Row], k: int | None, measure: str) -> list[float]:
    ordered = sorted((row["fold"], row["values"][measure]) for row in rows if row["k"] == k)
    return [value for _, value in ordered]
