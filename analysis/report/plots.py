"""Plots of a report for papers and slides, as PNG and SVG."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topkapi.analysis.lazy import matplotlib_figure
from topkapi.analysis.report.schema import Effort, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CODES = ("A better", "tie", "B better")
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "#23509f", "linestyle": "-", "marker": "o", "markerfacecolor": "#23509f"},
    {"color": "#656057", "linestyle": "--", "marker": "o", "markerfacecolor": "white"},
)
MOST_ROWS = 40


def matrices(report: Report, figure: Figure) -> None:
    """Draw the agreement matrices beside each other, shares of the row with counts."""
    axes = figure.subplots(1, len(report.tools), squeeze=False)[0]
    for axis, tool in zip(axes, report.tools, strict=True):
        found = tool.agreement.matrix
        shares = [[cell or 0.0 for cell in row] for row in found.shares]
        axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        for i, row in enumerate(shares):
            for j, share in enumerate(row):
                words = f"{found.counts[i][j]}\n{100 * share:.1f} %"
                axis.text(
                    j,
                    i,
                    words,
                    ha="center",
                    va="center",
                    color="white" if share > 0.55 else "black",
                )
        axis.set_xticks(range(3), CODES)
        axis.set_yticks(range(3), CODES)
        axis.set(xlabel="second assessor", ylabel="first assessor", title=tool.title)


def course(report: Report, figure: Figure) -> None:
    """Draw median seconds per judgment over a session, with the interval of the median."""
    axis = figure.subplots()
    for (title, effort), look in zip(_timed(report), LOOKS, strict=False):
        found = effort.course
        axis.plot(found.start, found.median, label=title, **look)
        low = [end for end in found.low if end is not None]
        high = [end for end in found.high if end is not None]
        if len(low) == len(found.start):
            axis.fill_between(found.start, low, high, color=look["color"], alpha=0.15, linewidth=0)
    _finish(axis, xlabel="judgments so far in the query", ylabel="seconds per judgment, median")


def queries(report: Report, figure: Figure) -> None:
    """Draw agreement by query, each tool from the most disputed query up."""
    axis = figure.subplots()
    for tool, look in zip(report.tools, LOOKS, strict=False):
        shares = [row.overall.value for row in tool.queries_by_disagreement]
        known = [share for share in shares if share is not None]
        axis.plot(range(1, len(known) + 1), known, label=tool.title, **look, markersize=3)
    _finish(axis, xlabel="queries in order of disagreement", ylabel="agreement")


def people(report: Report, figure: Figure) -> None:
    """Draw agreement of each assessor with the rest, with intervals."""
    axis = figure.subplots()
    names = sorted({row.assessor for tool in report.tools for row in tool.people})[:MOST_ROWS]
    for shift, (tool, look) in enumerate(zip(report.tools, LOOKS, strict=False)):
        shown = [(names.index(r.assessor), r.overall) for r in tool.people if r.assessor in names]
        values = [found.value for _, found in shown if found.value is not None]
        at = [position + 0.2 * shift for position, found in shown if found.value is not None]
        for position, found in shown:
            if found.interval is not None:
                y = position + 0.2 * shift
                axis.plot(found.interval, [y, y], color=look["color"], linewidth=1)
        axis.plot(values, at, label=tool.title, **(look | {"linestyle": ""}))
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    _finish(axis, xlabel="agreement with the rest", ylabel="")


def _finish(axis: Axes, *, xlabel: str, ylabel: str) -> None:
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(frameon=False)


def _timed(report: Report) -> list[tuple[str, Effort]]:
    """Return title and effort of the tools with times."""
    return [(tool.title, tool.effort) for tool in report.tools if isinstance(tool.effort, Effort)]


PLOTS: dict[str, Callable[[Report, Figure], None]] = {
    "matrices": matrices,
    "course": course,
    "queries": queries,
    "people": people,
}


def save_plot(report: Report, name: str, folder: str | Path) -> list[Path]:
    """Draw one plot as ``name.png`` and ``name.svg``; nothing where there is nothing to draw."""
    if not report.tools or (name == "course" and not _timed(report)):
        return []
    figure = matplotlib_figure.Figure(figsize=(8, 4), layout="constrained")
    PLOTS[name](report, figure)
    paths = [Path(folder) / f"{name}{ending}" for ending in (".png", ".svg")]
    with warnings.catch_warnings():  # names in scripts that the plots' font lacks show as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        for path in paths:
            figure.savefig(path, dpi=160)
    return paths
