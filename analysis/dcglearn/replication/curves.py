"""Lines of a figure: the results of the experiments on learned gains."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from topkapi.analysis.lazy import matplotlib_figure


@dataclass(frozen=True)
class Curves:
    """One figure: ``lines`` by name, each with a value per entry of ``x``.

    ``number`` is the figure of [ZZCX13]_ that it reproduces.
    """

    number: str
    title: str
    x_name: str
    x: tuple[float, ...]
    lines: dict[str, tuple[float, ...]]

    def as_json(self) -> dict[str, object]:
        """Return JSON values under stable names."""
        lines = {name: list(values) for name, values in self.lines.items()}
        return {
            "figure": self.number,
            "title": self.title,
            "x_name": self.x_name,
            "x": list(self.x),
            "lines": lines,
        }

    def as_csv(self) -> str:
        """Format one row per x, one column per line."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([self.x_name, *self.lines])
        for position, x in enumerate(self.x):
            writer.writerow([f"{x:g}", *(f"{line[position]:.4f}" for line in self.lines.values())])
        return stream.getvalue()

    def as_text(self) -> str:
        """Format a table for the terminal."""
        width = max(16, len(self.x_name) + 2)
        column = max(12, *(len(name) + 2 for name in self.lines))
        heads = f"{self.x_name:<{width}}" + "".join(f"{name:>{column}}" for name in self.lines)
        rows = [
            f"{x:<{width}.4g}"
            + "".join(f"{line[position]:>{column}.3f}" for line in self.lines.values())
            for position, x in enumerate(self.x)
        ]
        return "\n".join([f"Figure {self.number}: {self.title}", heads, *rows])

    def draw(self, path: str | Path) -> None:
        """Write the figure as PNG, SVG or PDF, by the file's ending."""
        figure = matplotlib_figure.Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.add_subplot()
        for name, values in self.lines.items():
            axes.plot(self.x, values, marker="o", markersize=3, label=name)
        axes.set(xlabel=self.x_name, title=self.title)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
        figure.savefig(path, dpi=120)
