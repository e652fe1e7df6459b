"""The papers' qualitative findings, checked against result rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topkapi.analysis.experiments.compare import Entry, gather, mean_over_folds
from topkapi.analysis.experiments.folds import Truth
from topkapi.analysis.experiments.grids import title
from topkapi.analysis.experiments.significance import holm, randomisation_test
from topkapi.analysis.experiments.store import Row
from topkapi.analysis.papers.comparison import ALPHA, PARENTS
from topkapi.analysis.papers.sweeps import BETA_MEASURES, BETAS, FOCUSED, beta_curves, k_curve

NEAR = 0.01
"""A curve has reached its plateau within this much of its best value."""


@dataclass(frozen=True)
class Finding:
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
        return "Confirmed" if self.confirmed else "Not confirmed"


def beats(
    rows: Sequence[Row], pairs: Sequence[tuple[str, str]], truth: Truth, measure: str
) -> list[Finding]:
    """Tell whether the first model of each pair is significantly better, Holm over pairs."""
    values = []
    for first, second in pairs:
        one, two = (gather(rows, truth, Entry(name), measure) for name in (first, second))
        difference = mean_over_folds(one) - mean_over_folds(two)
        values.append((difference, randomisation_test(np.concatenate(one), np.concatenate(two))))
    corrected = holm([p for _, p in values])
    return [
        Finding(
            f"{title(first)} is above {title(second)} in {measure} ({rows[0]['data']}, {truth})",
            f"difference {difference:+.4f}, corrected p {p:.3f}",
            difference > 0 and p < ALPHA,
        )
        for (first, second), (difference, _), p in zip(pairs, values, corrected, strict=True)
    ]


def focused_against_parents(rows: Sequence[Row], measure: str) -> list[Finding]:
    """Check [NGLC12]_, section 4.2.2, on top-k ground truth."""
    have = {row["model"] for row in rows}
    pairs = [
        (child, parent)
        for child, parents in PARENTS.items()
        for parent in parents
        if {child, parent} <= have
    ]
    return beats(rows, pairs, "topk", measure)


def interior_beta(rows: Sequence[Row], truth: str) -> list[Finding]:
    """Check [NGLC12]_, section 4.2.3: the best beta is between 0 and 1."""
    found = []
    for model in (name for name in FOCUSED if any(row["model"] == name for row in rows)):
        curves = beta_curves(rows, truth, model)
        for measure in BETA_MEASURES[truth]:
            curve = curves[measure]
            position = int(np.argmax(curve))
            found.append(
                Finding(
                    f"{title(model)} is best inside 0 < beta < 1 in {measure} "
                    f"({rows[0]['data']}, {truth})",
                    f"best {curve[position]:.4f} at {BETAS[position]:.2f}, ends {curve[0]:.4f} and "
                    f"{curve[-1]:.4f}",
                    0 < position < len(BETAS) - 1,
                )
            )
    return found


def plateau(rows: Sequence[Row], measure: str) -> list[Finding]:
    """Check [LGNC13]_, section 4.2: the curve over k rises quickly to a stable value."""
    found = []
    for model in dict.fromkeys(row["model"] for row in rows):
        curve = k_curve(rows, model, measure)
        known = sorted(k for k in curve if k is not None)
        best = max(curve[k] for k in known)
        reached = next(k for k in known if curve[k] >= best - NEAR)
        full, first = curve[None], curve[known[0]]
        found.append(
            Finding(
                f"{title(model)} rises to a plateau in {measure} ({rows[0]['data']})",
                f"{first:.4f} at k = {known[0]}, within {NEAR} of the best ({best:.4f}) from "
                f"k = {reached}, full order {full:.4f}",
                known[0] < reached <= 50 and first < best - NEAR,
            )
        )
    return found
