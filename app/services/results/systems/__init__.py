"""Systems of a study: their runs, and their scores on people's labels."""

from topkapi.app.services.results.systems.cache import SystemReports
from topkapi.app.services.results.systems.runs import (
    MOST_BYTES,
    RunsRefused,
    add_runs,
    read_runs,
    remove_run,
    runs_of,
)

__all__ = [
    "MOST_BYTES",
    "RunsRefused",
    "SystemReports",
    "add_runs",
    "read_runs",
    "remove_run",
    "runs_of",
]
