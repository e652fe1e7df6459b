"""The report as one HTML page that needs nothing else: styles inside, plots as SVG, no script."""

from collections.abc import Mapping

from topkapi.analysis.report.page.agreement import agreement_view
from topkapi.analysis.report.page.effort import confidence_view, effort_view
from topkapi.analysis.report.page.environment import environment, stylesheet
from topkapi.analysis.report.page.people import people_view
from topkapi.analysis.report.page.queries import queries_view, shown_documents
from topkapi.analysis.report.schema import Report

TABS = (
    ("agreement", "Agreement"),
    ("effort", "Effort"),
    ("sides", "Sides and checks"),
    ("people", "By assessor"),
    ("queries", "By query"),
    ("consensus", "Consensus"),
)
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
    return (
        environment()
        .get_template("body.html")
        .render(
            report=report,
            framed=framed,
            query_links=query_links or {},
            tabs=tabs,
            agreement=agreement_view(report),
            effort=effort_view(report),
            people=people_view(report),
            queries=queries_view(report, titles),
            confidence=confidence_view(report),
        )
    )


__all__ = ["render_body", "render_page", "shown_documents"]
