"""Exports: a study as files, the same bytes from the page, the API and the command line.

`open_export` prepares an export, `EXPORTS` lists the formats, `export_session` opens the database
session to read it in.
"""

from topkapi.app.services.results.exports.formats import EXPORTS, ExportFormat
from topkapi.app.services.results.exports.service import (
    Completeness,
    Export,
    ListedExport,
    OfferedExport,
    completeness,
    export_session,
    format_of,
    listed_exports,
    open_export,
)
from topkapi.app.services.results.exports.source import ExportOptions, StudySource
