"""Tables behind the figures of the sweeps."""

from collections.abc import Sequence

from topkapi.analysis.experiments.grids import title
from topkapi.analysis.experiments.tables import Table
from topkapi.analysis.papers.sweeps import BETA_MEASURES, BETAS, FOCUSED, beta_curves, k_curve
from topkapi.analysis.tasks import Row


def beta_table(rows: Sequence[Row], truth: str, name: str) -> Table:
    """Make a table of a row per beta, a column per model and measure.

    The best beta of each is bold.
    """
    models = [model for model in FOCUSED if any(row["model"] == model for row in rows)]
    columns, series = [], []
    for model in models:
        curves = beta_curves(rows, truth, model)
        for measure in BETA_MEASURES[truth]:
            columns.append(f"{title(model)} {measure}")
            series.append(curves[measure])
    lines: list[tuple[str, list[float | None]]] = [
        (f"β = {beta:.2f}", [values[position] for values in series])
        for position, beta in enumerate(BETAS)
    ]
    return Table(name, columns, lines)


def k_table(rows: Sequence[Row], measure: str, name: str) -> Table:
    """Make a table of a row per k, a column per model."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    curves = [k_curve(rows, model, measure) for model in models]
    lines: list[tuple[str, list[float | None]]] = [
        ("full order" if k is None else f"k = {k}", [curve.get(k) for curve in curves])
        for k in curves[0]
    ]
    return Table(name, [title(model) for model in models], lines)
