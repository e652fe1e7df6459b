"""The report as one HTML page that needs nothing else: styles inside, plots as SVG, no script."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from topkapi.analysis.data.exports.cells import csv_text
from topkapi.analysis.report.page.environment import environment, plot_style, stylesheet
from topkapi.analysis.report.record import Report, ToolReport
from topkapi.analysis.report.subjects.agreement import (
    EXPLANATIONS,
    AgreementView,
    matrix_view,
    measure_rows,
    undefined_measures,
)
from topkapi.analysis.report.subjects.comparison import comparison_view
from topkapi.analysis.report.subjects.confidence import confidence_view
from topkapi.analysis.report.subjects.consensus import shown_documents as shown_in_consensus
from topkapi.analysis.report.subjects.effort import effort_view
from topkapi.analysis.report.subjects.lists import ListReport, lists_view
from topkapi.analysis.report.subjects.people import ToolPeople, people_view
from topkapi.analysis.report.subjects.queries import ToolQueries, queries_view
from topkapi.analysis.report.svg import heat, intervals

TABS = (
    ("agreement", "Agreement"),
    ("effort", "Effort"),
    ("sides", "Sides and checks"),
    ("people", "By assessor"),
    ("queries", "By query"),
    ("consensus", "Consensus"),
)
CODES = ("A better", "Tie", "B better")
CONFIDENCE_TAB = ("confidence", "Confidence")
MACHINES_TAB = ("machines", "Machines")


def render_page(report: Report) -> str:
    """Render the whole page; it can be opened from a disk, printed, or mailed."""
    template = environment().get_template("page.html")
    name = report.study.name
    return template.render(name=name, style=stylesheet(), body=render_body(report))


def render_body(
    report: Report,
    *,
    framed: bool = False,
    titles: Mapping[str, str] | None = None,
    query_links: Mapping[str, str] | None = None,
) -> str:
    """Render the content of ``main``; a report without any work has its notes alone.

    Parameters
    ----------
    report
        What to show.
    framed
        Whether the page around it has a title and tabs of its own.
    titles
        Titles of documents by id, shown instead of ids; ``shown_documents`` are those needed.
    query_links
        Addresses of the pages of queries by id.
    """
    tabs = TABS if report.confidence is None else (*TABS, CONFIDENCE_TAB)
    tabs = tabs if report.machines is None else (*tabs, MACHINES_TAB)
    tools = report.tools
    template = environment().get_template("body.html")
    return template.render(
        report=report,
        framed=framed,
        query_links=query_links or {},
        tabs=tabs,
        codes=CODES,
        pictures=pictures(report),
        agreement=_agreement(tools),
        comparison=comparison_view(report.comparison, {tool.tool: tool.title for tool in tools}),
        effort=effort_view((tool.title, tool.effort) for tool in tools),
        people=[_people(tool) for tool in tools],
        queries=[_queries(tool, titles or {}) for tool in tools],
        confidence=report.confidence and confidence_view(report.confidence),
    )


def _agreement(tools: tuple[ToolReport, ...]) -> AgreementView:
    measures = measure_rows([tool.agreement for tool in tools])
    return AgreementView(
        matrices=tuple(
            matrix_view(tool.tool, tool.title, tool.agreement, tool.queries_by_disagreement)
            for tool in tools
        ),
        measures=measures,
        undefined=undefined_measures([tool.title for tool in tools], measures),
    )


def _people(tool: ToolReport) -> ToolPeople:
    return people_view(
        tool.tool,
        tool.title,
        tool.people,
        tool.pairs,
        departures={row.assessor: row.mean for row in tool.consensus.departures},
        answers_given=tool.answers.given,
        assessor_pairs=tool.agreement.assessor_pairs,
    )


def _queries(tool: ToolReport, titles: Mapping[str, str]) -> ToolQueries:
    rows = tool.queries_by_disagreement
    return queries_view(tool.tool, tool.title, rows, tool.consensus, titles)


def shown_documents(report: Report) -> set[str]:
    """Return the ids of the documents that the page shows."""
    return {each for tool in report.tools for each in shown_in_consensus(tool.consensus)}


def render_lists(report: ListReport) -> str:
    """Render the page about lists below its head; every name in it is escaped."""
    return environment().get_template("lists.html").render(view=lists_view(report))


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot of the page with its numbers; both can be saved from there."""

    plot: Markup
    csv: str

    @property
    def links(self) -> dict[str, str]:
        """Addresses that hold the files themselves, by suffix."""
        svg, csv = quote(_file_of(self.plot)), quote(self.csv)
        return {"svg": f"data:image/svg+xml,{svg}", "csv": f"data:text/csv;charset=utf-8,{csv}"}


def pictures(report: Report) -> dict[str, Picture]:
    """Return the matrices of votes and the intervals of the measures, by name."""
    named = {}
    for tool in report.tools:
        matrix = tool.agreement.matrix
        lines = [[code, *row] for code, row in zip(CODES, matrix.counts, strict=True)]
        plot = heat(f"{tool.title}: votes of the second by the first assessor", CODES, matrix)
        named[f"matrix-{tool.tool}"] = Picture(plot, csv_text([["first", *CODES], *lines]))
    rows = [
        (EXPLANATIONS[each.key].title, each.figures)
        for each in measure_rows([tool.agreement for tool in report.tools])
    ]
    cells = [
        [name, tool.tool, figure.value, *(figure.interval or (None, None))]
        for name, figures in rows
        for tool, figure in zip(report.tools, figures, strict=True)
    ]
    head = ["measure", "tool", "value", "low", "high"]
    plot = intervals("Measures of agreement with their intervals", rows)
    return named | {"intervals": Picture(plot, csv_text([head, *cells]))}


def plots(report: Report) -> dict[str, str]:
    """Return the plots of the page as SVG files by name."""
    effort = effort_view((tool.title, tool.effort) for tool in report.tools)
    drawn = {"times": effort.boxes, "course": effort.courses} if effort.tools else {}
    drawn |= {name: each.plot for name, each in pictures(report).items()}
    for people in map(_people, report.tools):
        for name, plot in zip(("agreement", "error-rates"), people.histograms, strict=False):
            drawn[f"{name}-{people.tool}"] = plot
        if people.plot is not None:
            drawn[f"error-rates-{people.tool}"] = people.plot
    return {f"{name}.svg": _file_of(plot) for name, plot in drawn.items()}


def _file_of(plot: str) -> str:
    head, _, parts = plot.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{plot_style()}</style>{parts}'
