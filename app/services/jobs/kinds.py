"""The kinds of jobs by name; each imports its libraries when it first runs."""

from collections.abc import Callable, Mapping

from topkapi.app.db.base import Json
from topkapi.app.services.jobs.running import RunningJob

KINDS: Mapping[str, Callable[[RunningJob], Json]] = {}
