"""The methods section of a paper: sentences and tables of a report, as Markdown and LaTeX."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from topkapi.analysis.report.schema import (
    Agreement,
    Comparison,
    Effort,
    Figure,
    Report,
    ToolReport,
)

Row = tuple[str, ...]
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {char: f"\\{char}" for char in "&%$#_{}"} | {"<": "$<$", ">": "$>$"}
_MOST_PEOPLE = 100  # rows of a table of assessors
_NONE = "–"
_MARKDOWN = {char: f"\\{char}" for char in "\\`*_[]<>|#"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a methods section; the first row is its header."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Methods:
    """A methods section: paragraphs of plain sentences, then tables."""

    paragraphs: tuple[str, ...]
    tables: tuple[Table, ...]


def methods_texts(report: Report, sorter: str | None = None) -> dict[str, str]:
    """Return ``methods.md`` and ``methods.tex`` of a report.

    Parameters
    ----------
    report
        Report of a study or of files.
    sorter
        Sorter of the study's pairs; None if it is not known.
    """
    found = methods_of(report, sorter)
    return {"methods.md": as_markdown(found), "methods.tex": as_latex(found)}


def methods_of(report: Report, sorter: str | None = None) -> Methods:
    """Return the sentences and tables, with every number taken from the report."""
    study, level = report.study, f"{100 * report.settings.level:.0f}"
    paragraphs = [
        f"{_count(study.assessors, 'assessor')} judged {_count(study.queries, 'query', 'queries')} "
        f"with {_count(study.documents, 'document')}. Intervals are at the {level} % level and "
        "resample queries; a dash marks what these judgments cannot tell.",
        *(" ".join(_about(tool, study.k, sorter)) for tool in report.tools),
    ]
    if isinstance(report.comparison, Comparison):
        paragraphs.append(_compared(report.comparison, report))
    paragraphs += report.notes or ()
    return Methods(tuple(paragraphs), (_agreement(report), _effort(report), *_people(report)))


def _about(tool: ToolReport, k: int | None, sorter: str | None) -> Iterator[str]:
    """Yield the sentences about one tool."""
    yield f"{tool.title}: {_count(tool.assessors, 'assessor')} judged " + (
        f"{_count(tool.queries, 'query', 'queries')}."
    )
    if tool.tool == "pairs" and sorter is not None:
        yield f"Two documents were compared at a time, and the sorter {sorter} kept the best {k}."
    if isinstance(effort := tool.effort, Effort):
        seconds, times = effort.seconds_per_judgment, effort.judgments_per_query
        yield (
            f"The {_count(effort.sessions, 'finished session')} with "
            f"{_count(seconds.count, 'timed judgment')} took {_with(times.mean, 1)} judgments "
            f"and {_with(effort.minutes_per_query.mean, 1)} minutes per query on "
            f"average; the median time per judgment was {_with(seconds.median, 1)} s."
        )
    again, left = tool.answers.self_consistency, tool.answers.left
    if again.figure.value is not None:
        yield (
            f"Of {_count(again.asked, 'repeated pair')}, {_share(again.figure)} were answered "
            "as before."
        )
    if left.figure.value is not None and left.p_queries is not None:
        yield f"The left document won {_share(left.figure)} of the answers ({_p(left.p_queries)})."


def _compared(found: Comparison, report: Report) -> str:
    titles = [report.tool(name).title for name in found.tools]
    each = found.all_pairs
    points = _with(each.difference, 1, scale=100)
    return (
        f"Agreement under {titles[0]} minus agreement under {titles[1]} is {points} percentage "
        f"points; chi-square({each.df}) = {_number(each.chi_square, 2)}, {_p(each.p)}, which takes "
        f"votes as independent; a permutation test over queries gives {_p(each.p_queries)}."
    )


_MEASURES: tuple[tuple[str, Callable[[Agreement], Figure]], ...] = (
    ("Agreement", lambda found: found.overall),
    ("Agreement without ties", lambda found: found.without_ties),
    ("Cohen's kappa", lambda found: found.cohen_kappa),
    ("Fleiss' kappa", lambda found: found.fleiss_kappa),
    ("Krippendorff's alpha", lambda found: found.krippendorff_alpha),
    ("Gwet's AC1", lambda found: found.gwet_ac1),
    ("Kendall's tau-b", lambda found: found.tau_b),
    ("RBO", lambda found: found.rbo),
)


def _agreement(report: Report) -> Table:
    rows = [("", *(tool.title for tool in report.tools))]
    rows.append(("Shared votes", *(str(tool.agreement.votes) for tool in report.tools)))
    for name, figure in _MEASURES:
        rows.append((name, *(_cell(figure(tool.agreement)) for tool in report.tools)))
    return Table("Agreement between assessors", tuple(rows))


def _effort(report: Report) -> Table:
    rows: list[Row] = [("", "Sessions", "Judgments per query", "Minutes per query", "Seconds each")]
    for tool in report.tools:
        if isinstance(effort := tool.effort, Effort):
            spent = (effort.judgments_per_query, effort.minutes_per_query)
            means = (_cell(each.mean, 1) for each in spent)
            median = _cell(effort.seconds_per_judgment.median, 1)
            rows.append((tool.title, str(effort.sessions), *means, median))
    return Table("Effort: means per query, and the median time per judgment", tuple(rows))


def _people(report: Report) -> Iterator[Table]:
    for tool in report.tools:
        if 0 < len(tool.people) <= _MOST_PEOPLE:
            rows: list[Row] = [("Assessor", "Shared queries", "Agreement", "Error rate")]
            for each in tool.people:
                figures = (_cell(each.overall), _cell(each.error_rate))
                rows.append((each.assessor, str(each.shared_queries), *figures))
            yield Table(f"Assessors, {tool.title}", tuple(rows))


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


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _number(figure: Figure, digits: int) -> str:
    return "undefined" if figure.value is None else f"{figure.value:.{digits}f}"


def _p(figure: Figure) -> str:
    if figure.value is None:
        return "p undefined"
    return "p < 0.0001" if figure.value < 0.0001 else f"p = {figure.value:.4f}"


def _cell(figure: Figure, digits: int = 3) -> str:
    return _NONE if figure.value is None else _with(figure, digits)


def _share(figure: Figure) -> str:
    return _with(figure, 1, scale=100, unit=" %")


def _with(figure: Figure, digits: int = 3, *, scale: float = 1, unit: str = "") -> str:
    """Format a figure with its interval, or the reason why it is undefined."""
    if figure.value is None:
        return f"undefined ({figure.reason})"
    value = f"{scale * figure.value:.{digits}f}{unit}"
    if figure.interval is None:
        return value
    low, high = (f"{scale * end:.{digits}f}" for end in figure.interval)
    return f"{value} ({low} to {high})"
