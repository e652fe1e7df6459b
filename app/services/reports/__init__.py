"""Reports: agreement and effort of a study, counted once for every state of it."""

from app.services.reports.cache import ReportCache
from app.services.reports.service import make_report

__all__ = ["ReportCache", "make_report"]
