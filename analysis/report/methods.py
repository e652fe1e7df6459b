"""The methods section of a paper: sentences and tables of a report, as Markdown and LaTeX."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """How a study was run, beyond what its report holds; all of files is unknown.

    Attributes
    ----------
    sorter
        Sorter of the study's pairs; None if it is not known.
    assigned, finished
        Sessions of all tools without voided ones, and those of them that are finished.
    voided, voided_answers
        Begun sessions that were voided, and their answers.
    adjudications, adjudicated
        Sessions of adjudicators, and their answers.
    comparers, compared_queries, compared
        Assessors, queries and answers of the tool that compares two lists.
    pseudonyms
        Pseudonym of each name of the report; missing ones are numbered.
    """

    sorter: str | None = None
    assigned: int = 0
    finished: int = 0
    voided: int = 0
    voided_answers: int = 0
    adjudications: int = 0
    adjudicated: int = 0
    comparers: int = 0
    compared_queries: int = 0
    compared: int = 0
    pseudonyms: Mapping[str, str] = field(default_factory=dict)


def methods_texts(report: Report, facts: StudyFacts | None = None) -> dict[str, str]:
    """Return ``methods.md`` and ``methods.tex`` of a report.

    Parameters
    ----------
    report
        Report of a study or of files.
    facts
        How the study was run.
    """
    found = methods_of(report, facts or StudyFacts())
    return {"methods.md": as_markdown(found), "methods.tex": as_latex(found)}


def methods_of(report: Report, facts: StudyFacts) -> Methods:
    """Return the sentences and tables, with every number taken from report and facts."""
    paragraphs = [
        " ".join(_study(report, facts)),
        *(" ".join(_about(tool, report.study.k, facts.sorter)) for tool in report.tools),
        " ".join(_more(facts)),
    ]
    if isinstance(report.comparison, Comparison):
        paragraphs.append(" ".join(_compared(report.comparison, report)))
    paragraphs.append(_statistics(report))
    tables = (_agreement(report), _effort(report), *_people(report, facts.pseudonyms))
    return Methods(tuple(each for each in paragraphs if each), tables)


def _study(report: Report, facts: StudyFacts) -> Iterator[str]:
    """Yield the sentences about people, material and sessions."""
    study = report.study
    queries = _count(study.queries, "query", "queries")
    yield f"In the study {study.name}, {_count(study.assessors, 'assessor')} judged {queries}."
    if study.queries:
        yield (
            f"Each query came with its own candidate documents, {study.documents} in all "
            f"({study.documents / study.queries:.1f} per query on average)."
        )
    if facts.finished < facts.assigned:
        yield f"Of {_count(facts.assigned, 'session')}, {facts.finished} were finished."
    if facts.voided:
        yield (
            f"We voided {_count(facts.voided, 'further session')} with "
            f"{_count(facts.voided_answers, 'answer')}; they count in none of the figures."
        )


def _about(tool: ToolReport, k: int | None, sorter: str | None) -> Iterator[str]:
    """Yield the sentences about one tool."""
    yield f"With {tool.title}, {_count(tool.assessors, 'assessor')} judged " + (
        f"{_count(tool.queries, 'query', 'queries')}."
    )
    if tool.tool == "pairs" and sorter is not None:
        yield (
            "Assessors saw two documents at a time and chose the better one; the sorter "
            f"{sorter} chose the pairs and kept the best {k} documents in order."
        )
    if isinstance(effort := tool.effort, Effort):
        seconds, times = effort.seconds_per_judgment, effort.judgments_per_query
        yield (
            f"The {_count(effort.sessions, 'finished session')} took {_with(times.mean, 1)} "
            f"judgments and {_with(effort.minutes_per_query.mean, 1)} minutes on average; the "
            f"median time of the {_count(seconds.count, 'timed judgment')} of all sessions was "
            f"{_with(seconds.median, 1)} s."
        )
    again, left = tool.answers.self_consistency, tool.answers.left
    if again.figure.value is not None:
        yield (
            f"Of {_count(again.asked, 'repeated pair')}, {_share(again.figure)} were answered "
            "as before."
        )
    if left.figure.value is not None and left.p_queries is not None and left.answers:
        yield (
            f"Assessors preferred the left document in {_share(left.figure)} of "
            f"{_count(left.answers, 'answer')} without ties ({_p(left.p_queries)}, swapping sides "
            "of whole queries)."
        )


def _more(facts: StudyFacts) -> Iterator[str]:
    """Yield the sentences about adjudication and comparisons of lists."""
    if facts.adjudications:
        yield (
            f"In {_count(facts.adjudications, 'further session')}, adjudicators answered "
            f"{_count(facts.adjudicated, 'pair')} that one more vote would decide; these answers "
            "count for the consensus only."
        )
    if facts.compared:
        yield (
            f"With T3 lists, {_count(facts.comparers, 'assessor')} gave "
            f"{_count(facts.compared, 'preference')} between two rankings of a query, for "
            f"{_count(facts.compared_queries, 'query', 'queries')}."
        )


def _compared(found: Comparison, report: Report) -> Iterator[str]:
    """Yield a sentence about the difference of two tools with and without ties."""
    titles = [report.tool(name).title for name in found.tools]
    for words, each in (("", found.all_pairs), (" without ties", found.without_ties)):
        p = each.p_queries.value
        verdict = "" if p is None else " is significant" if p < 0.05 else " is not significant"
        yield (
            f"The difference in agreement{words} between {titles[0]} and {titles[1]}"
            f"{verdict or ' cannot be tested'}: {_with(each.difference, 1, scale=100)} percentage "
            f"points, {_p(each.p_queries)} by a permutation test over queries; chi-square({each.df}"
            f") = {_number(each.chi_square, 2)}, {_p(each.p)}, treats votes as independent."
        )


def _statistics(report: Report) -> str:
    level = f"{100 * report.settings.level:.0f}"
    return (
        f"Intervals have a level of {level} %. Those of pooled figures, of effort and of "
        "differences resample queries among those that the same assessors judged; those of single "
        "assessors leave out one of their queries at a time; those of error rates are of the "
        "posterior of a hierarchical model. Votes count in both orders of their documents, so that "
        "chance-corrected coefficients do not depend on the order of a file. A dash marks figures "
        "that these judgments do not define."
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


def _people(report: Report, pseudonyms: Mapping[str, str]) -> Iterator[Table]:
    everyone = dict.fromkeys(each.assessor for tool in report.tools for each in tool.people)
    numbered = {name: f"assessor {number}" for number, name in enumerate(everyone, start=1)}
    shown = {**numbered, **pseudonyms}
    for tool in report.tools:
        if 0 < len(tool.people) <= _MOST_PEOPLE:
            rows: list[Row] = [("Assessor", "Shared queries", "Agreement", "Error rate")]
            for each in tool.people:
                figures = (_cell(each.overall), _cell(each.error_rate))
                rows.append((shown[each.assessor], str(each.shared_queries), *figures))
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
