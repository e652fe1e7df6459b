"""Reports: agreement and effort of a study, computed once per state of it.

The numerical libraries are loaded when the first report is made, not when the server starts.
"""

from topkapi.app.services.results.reports.cache import ListReports, ReportCache, is_large
from topkapi.app.services.results.reports.forms import as_json, as_markup, lists_as_markup, zipped
