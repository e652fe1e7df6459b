"""Figures of the sweeps, drawn without a display."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topkapi.analysis.experiments.grids import title
from topkapi.analysis.lazy import matplotlib_figure
from topkapi.analysis.papers.sweeps import (
    BETA_MEASURES,
    BETAS,
    FOCUSED,
    K_MEASURES,
    beta_curves,
    k_curve,
)
from topkapi.analysis.tasks import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1f5a94", "#b4552d", "#3d7a4e")
DASHES = ("-", "--", "-.")


def beta_figure(rows: Sequence[Row], truth: str, name: str) -> Figure:
    """Draw each FocusedRank model over beta: NDCG on the left axis, ERR on the right."""
    models = [model for model in FOCUSED if any(row["model"] == model for row in rows)]
    figure = matplotlib_figure.Figure(figsize=(4.6 * len(models), 3.4))
    for position, model in enumerate(models, start=1):
        axes = figure.add_subplot(1, len(models), position)
        other = axes.twinx()
        curves = beta_curves(rows, truth, model)
        for number, measure in enumerate(BETA_MEASURES[truth]):
            target = other if measure.endswith("err") else axes
            target.plot(
                BETAS, curves[measure], DASHES[number], color=COLOURS[number], label=measure
            )
        axes.set(title=title(model), xlabel="beta", ylabel="NDCG")
        other.set_ylabel("ERR")
        lines = [*axes.get_lines(), *other.get_lines()]
        axes.legend(lines, [str(line.get_label()) for line in lines], fontsize=7)
    figure.suptitle(name)
    figure.tight_layout()
    return figure


def k_figure(rows: Sequence[Row], name: str, *, zoom: int = 100) -> Figure:
    """Draw NDCG against the full order over k: all of it above, k up to ``zoom`` below."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    figure = matplotlib_figure.Figure(figsize=(3.6 * len(models), 6.0))
    for position, model in enumerate(models, start=1):
        whole = figure.add_subplot(2, len(models), position)
        part = figure.add_subplot(2, len(models), len(models) + position)
        for number, measure in enumerate(K_MEASURES):
            curve = k_curve(rows, model, measure)
            known = [k for k in curve if k is not None]
            last = max(known) * 1.3
            values = [curve[k] for k in known]
            style: dict[str, Any] = {
                "color": COLOURS[number],
                "linestyle": DASHES[number],
                "marker": ".",
            }
            whole.plot([*known, last], [*values, curve[None]], label=measure, **style)
            near = [k for k in known if k <= zoom]
            part.plot(near, [curve[k] for k in near], label=measure, **style)
        _mark_full(whole, last)
        whole.set(title=title(model))
        part.set(xlabel="k", xscale="log")
        whole.legend(fontsize=7)
    figure.suptitle(name)
    figure.tight_layout()
    return figure


def _mark_full(axes: Axes, position: float) -> None:
    axes.axvline(position, color="#999999", linewidth=0.8)
    axes.annotate("full", (position, axes.get_ylim()[0]), ha="right", va="bottom", fontsize=7)


def save(figure: Figure, path: Path) -> None:
    """Write PNG, SVG or PDF by the file's ending; no dates inside, so that bytes repeat."""
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
    figure.savefig(path, dpi=110, metadata=metadata)
