"""A methods section as a record, and its formats: Markdown and LaTeX."""

from dataclasses import dataclass

Row = tuple[str, ...]
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {char: f"\\{char}" for char in "&%$#_{}"} | {"<": "$<$", ">": "$>$"}
_MARKDOWN = {char: f"\\{char}" for char in "\\`*_[]<>|#"}


@dataclass(frozen=True, slots=True)
class MethodsTable:
    """A table of a methods section; the first row is its header."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Methods:
    """A methods section: paragraphs of plain sentences, then tables."""

    paragraphs: tuple[str, ...]
    tables: tuple[MethodsTable, ...]


def as_markdown(found: Methods) -> str:
    """Format a methods section as Markdown."""
    parts = [_escaped(each, _MARKDOWN) for each in found.paragraphs]
    for table in found.tables:
        head, *body = ([_escaped(cell, _MARKDOWN) for cell in row] for row in table.rows)
        lines = [head, ["---"] * len(head), *body]
        shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts.append(f"**{_escaped(table.title, _MARKDOWN)}**\n\n{shown}")
    return "\n\n".join(parts) + "\n"


def as_latex(found: Methods) -> str:
    """Format a methods section as LaTeX; the tables need the package booktabs."""
    parts = [_escaped(each, _LATEX) for each in found.paragraphs]
    for table in found.tables:
        head, *body = (
            " & ".join(_escaped(cell, _LATEX) for cell in row) + r" \\" for row in table.rows
        )
        columns = "l" + "r" * (len(table.rows[0]) - 1)
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escaped(table.title, _LATEX)}}}"]
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *body]
        parts.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]))
    return "\n\n".join(parts) + "\n"


def _escaped(text: str, replaced: dict[str, str]) -> str:
    return "".join(replaced.get(char, char) for char in text)
