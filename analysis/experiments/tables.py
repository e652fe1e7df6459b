"""Tables of results as text, CSV, Markdown, LaTeX and HTML, the best of each column in bold."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from topkapi.analysis.data.exports.cells import csv_cell, csv_line


@dataclass(frozen=True)
class Table:
    """Rows of named values; a missing value is None. Values of ``lower`` columns are better low.

    ``marks`` (row title, column) get a sign after the value, explained by ``note``.
    """

    title: str
    columns: list[str]
    rows: list[tuple[str, list[float | None]]]
    marks: frozenset[tuple[str, str]] = frozenset()
    note: str = ""
    digits: int = 4
    bold: bool = True
    lower: frozenset[str] = field(default_factory=frozenset)

    def best(self, column: int) -> str | None:
        """Return the printed form of a column's best value."""
        values = [value for _, row in self.rows if (value := row[column]) is not None]
        if not values or not self.bold:
            return None
        pick = min if self.columns[column] in self.lower else max
        return self.shown(pick(values))

    def shown(self, value: float | None) -> str:
        """Format a value with the table's digits."""
        return "" if value is None else f"{value:.{self.digits}f}"

    def cells(self, strong: Callable[[str], str], mark: str) -> list[list[str]]:
        """Return printed cells without the header.

        ``strong`` wraps best values.
        """
        best = [self.best(column) for column in range(len(self.columns))]
        lines = []
        for title, values in self.rows:
            line = [title]
            for column, value in enumerate(values):
                text = self.shown(value)
                text = strong(text) if text and text == best[column] else text
                marked = (title, self.columns[column]) in self.marks
                line.append(text + mark if marked else text)
            lines.append(line)
        return lines


def as_text(table: Table, width: int | None = None) -> str:
    """Format a table for a terminal: aligned columns, a star before best values.

    Columns that do not fit into ``width`` follow below, with the titles of the rows again.
    """
    cells = [["", *table.columns], *table.cells(lambda text: f"*{text}", "'")]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    blocks = [
        [
            "  ".join(
                [line[0].ljust(widths[0]), *(line[each].rjust(widths[each]) for each in block)]
            ).rstrip()
            for line in cells
        ]
        for block in _blocks(widths, width)
    ]
    lines = [line for block in blocks for line in ["", *block]][1:]
    note = [f"' {table.note}"] if table.note else []
    return "\n".join([table.title, *lines, *note])


def _blocks(widths: Sequence[int], most: int | None) -> list[list[int]]:
    """Return the columns after the first in blocks that fit beside it into ``most`` characters."""
    blocks: list[list[int]] = [[]]
    for column in range(1, len(widths)):
        used = widths[0] + sum(2 + widths[each] for each in [*blocks[-1], column])
        if most is not None and used > most and blocks[-1]:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def as_csv(table: Table) -> str:
    """Format a table as CSV: six digits, no marks, no title that is a formula."""
    lines = [csv_line(["", *table.columns])]
    for title, values in table.rows:
        figures = ("" if value is None else f"{value:.6f}" for value in values)
        lines.append(",".join([csv_cell(title), *figures]) + "\n")
    return "".join(lines)


def as_markdown(table: Table) -> str:
    """Format a table as Markdown with its title."""
    lines = [f"**{table.title}**", "", _piped(["", *table.columns])]
    lines.append(_piped(["---", *("---:" for _ in table.columns)]))
    lines.extend(_piped(line) for line in table.cells(lambda text: f"**{text}**", "†"))
    return "\n".join([*lines, *(["", f"† {table.note}"] if table.note else [])])


def _piped(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_latex(table: Table) -> str:
    """Format a table as LaTeX: a tabular inside a table, for booktabs."""
    lines = [
        r"\begin{table}\centering",
        rf"\caption{{{_tex(table.title)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}\toprule",
        " & ".join(["", *map(_tex, table.columns)]) + r" \\\midrule",
    ]
    for line in table.cells(lambda text: rf"\textbf{{{text}}}", r"\textsuperscript{\dag}"):
        lines.append(" & ".join([_tex(line[0]), *line[1:]]) + r" \\")
    lines.append(r"\bottomrule\end{tabular}")
    if table.note:
        lines.append(rf"\par\textsuperscript{{\dag}} {_tex(table.note)}")
    return "\n".join([*lines, r"\end{table}"])


def _tex(text: str) -> str:
    for char in "&%$#_{}":
        text = text.replace(char, f"\\{char}")
    return text.replace("κ", r"$\kappa$").replace("β", r"$\beta$")


def as_html(table: Table) -> str:
    """Format a table as an HTML element with caption and header cells."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in ["", *table.columns])
    body = []
    for line in table.cells(lambda text: f"<strong>{text}</strong>", "<sup>†</sup>"):
        cells = "".join(f"<td>{cell}</td>" for cell in line[1:])
        body.append(f'<tr><th scope="row">{html.escape(line[0])}</th>{cells}</tr>')
    note = f"<p>† {html.escape(table.note)}</p>" if table.note else ""
    return (
        f"<table><caption>{html.escape(table.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>{note}"
    )


FORMATS: dict[str, tuple[str, Callable[[Table], str]]] = {
    "text": (".txt", as_text),
    "csv": (".csv", as_csv),
    "markdown": (".md", as_markdown),
    "latex": (".tex", as_latex),
    "html": (".html", as_html),
}
"""Format -> file ending and writer."""
