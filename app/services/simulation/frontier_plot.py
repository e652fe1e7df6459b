"""The frontier as a figure: one panel per error rate, `robust` as curves, others as points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topkapi.analysis.lazy import matplotlib_figure
from topkapi.app.services.simulation.frontier import CURVES, Frontier, Point, write_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#656057"
LINES = (("#23509f", "-"), ("#7d9fd6", "--"))  # of `CURVES`
MARKERS = {
    "heap": "s",
    "heap-bottom-up": "D",
    "insertion": "^",
    "tournament": "o",
    "buckets": "v",
    "heap, asked again": "P",
    "insertion, rechecked twice": "<",
    "tournament, best of three": "X",
}


def write_frontier(frontier: Frontier, stem: Path) -> list[Path]:
    """Write ``stem``.png, .svg and .csv, and return their paths."""
    figure = draw_frontier(frontier)
    pictures = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    for path in pictures:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    table = stem.with_name(f"{stem.name}.csv")
    write_csv(frontier, table)
    return [*pictures, table]


def draw_frontier(frontier: Frontier) -> Figure:
    """Plot both measures against questions, one row each; higher and further left is better."""
    rates, plan = sorted({point.error for point in frontier.points}), frontier.base.plan
    figure = matplotlib_figure.Figure(figsize=(1.2 + 3.6 * len(rates), 7.6), layout="constrained")
    rows = figure.subplots(2, len(rates), sharex="col", sharey="row", squeeze=False)
    measures = (f"kappa-NDCG@{plan.k}", f"overlap@{plan.k}")
    for row, (axes, measure) in enumerate(zip(rows, measures, strict=True)):
        axes[0].set_ylabel(f"{measure} of the list, {len(plan.order)} pages")
        for axis, rate in zip(axes, rates, strict=True):
            _draw_rate(axis, [point for point in frontier.points if point.error == rate], row)
            axis.grid(color="#dddddd", linewidth=0.6)
    for axis, rate in zip(rows[0], rates, strict=True):
        axis.set_title(f"{100 * rate:g} % of the answers wrong")
    for axis in rows[-1]:
        axis.set_xlabel("questions")
    handles, labels = rows[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(5, len(labels)))
    return figure


def _measure(point: Point, row: int) -> tuple[float, float]:
    """Return the measure of a row of the figure, and its standard error."""
    if row == 0:
        return point.quality, point.standard_error
    return point.overlap, point.overlap_standard_error


def _draw_rate(axis: Axes, points: list[Point], row: int) -> None:
    for name, (color, line) in zip(CURVES, LINES, strict=True):
        curve = [point for point in points if point.sorter == name]
        axis.errorbar(
            [point.questions for point in curve],
            [_measure(point, row)[0] for point in curve],
            yerr=[2 * _measure(point, row)[1] for point in curve],
            color=color,
            linestyle=line,
            marker="o",
            markersize=4,
            capsize=2,
            label=name,
        )
    for point in points:
        if point.sorter not in CURVES:
            axis.plot(
                [point.questions],
                [_measure(point, row)[0]],
                color=GREY,
                linestyle="none",
                marker=MARKERS.get(point.sorter, "o"),
                markersize=7,
                markerfacecolor="white",
                label=point.sorter,
            )
