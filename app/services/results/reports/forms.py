"""Output forms of a report: JSON, HTML for a page, and a zip of all files."""

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from sqlalchemy.orm import Session

from topkapi.app.db.queries.results.exports import queries_in_order
from topkapi.app.db.queries.results.query_results import QueryDocument, documents_named

if TYPE_CHECKING:
    from topkapi.analysis.report import ListReport, Report
    from topkapi.analysis.report.subjects.systems import SystemReport


def as_json(report: "Report | ListReport | SystemReport") -> str:
    """Return the report as JSON, the same as `topkapi report` writes."""
    from topkapi.analysis.report.serialise import to_json

    return to_json(report)


def as_markup(
    session: Session,
    study_id: int,
    report: "Report",
    link: Callable[[QueryDocument], str],
    query_page: Callable[[int], str],
) -> str:
    """Return the report as HTML for a study's page.

    ``link`` gives the title of a document, escaped unless it is markup, ``query_page`` the address
    of a query's page.
    """
    from topkapi.analysis.report.page import render_body, shown_documents

    found = documents_named(session, study_id, shown_documents(report))
    titles = {name: link(document) for name, document in found.items()}
    rows = queries_in_order(session, study_id)
    pages = {name: query_page(number) for number, name, _ in rows}
    return render_body(report, framed=True, titles=titles, query_links=pages)


def lists_as_markup(report: "ListReport") -> str:
    """Return the report on lists as HTML for a study's page, with all names escaped."""
    from topkapi.analysis.report.page import render_lists

    return render_lists(report)


def zipped(report: "Report") -> bytes:
    """Return a zip of the report's files without plots; equal reports give equal bytes."""
    from topkapi.analysis.report.files import report_texts

    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, text in report_texts(report).items():
            entry = ZipInfo(name)  # without a timestamp
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode())
    return made.getvalue()
