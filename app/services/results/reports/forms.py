"""The forms a report is handed out in: JSON, markup for a page, one file that holds the others."""

from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

if TYPE_CHECKING:
    from topkapi.analysis.report import ListReport, Report


def as_json(report: "Report | ListReport") -> str:
    """The report as JSON, the same as `topkapi report` writes."""
    from topkapi.analysis.report.serialise import to_json

    return to_json(report)


def as_markup(report: "Report") -> str:
    """What stands under the head of a study's page; every name in it is escaped."""
    from topkapi.analysis.report.page import render_body

    return render_body(report, framed=True)


def lists_as_markup(report: "ListReport") -> str:
    """The report on lists under the head of a study's page; every name in it is escaped."""
    from topkapi.analysis.report.page.lists import render_lists

    return render_lists(report)


def zipped(report: "Report") -> bytes:
    """The files of a report but its plots; the same report gives the same bytes."""
    from topkapi.analysis.report.files import report_texts

    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for name, text in report_texts(report).items():
            entry = ZipInfo(name)  # without the time at which it was made
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode())
    return made.getvalue()
