"""Cache of the scores of systems until the labels of their study change."""

from collections.abc import Hashable
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from topkapi.app.db.queries.results import systems as queries
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.cache import state_of
from topkapi.app.services.results.reports.stored import StoredResult

if TYPE_CHECKING:
    from topkapi.analysis.report.schema import SystemReport
    from topkapi.app.services.results.systems.scoring import StudySystems


class SystemReports:
    """Labels and per-query values of the latest studies of a process; one is read at a time.

    A new run is scored alone; a new answer in the study drops what is kept.
    """

    def __init__(self, capacity: int = 8) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: dict[int, tuple[Hashable, StudySystems]] = {}

    def report(
        self,
        session: Session,
        slug: str,
        *,
        truth: str | None = None,
        baseline: str | None = None,
        stored: StoredResult | None = None,
    ) -> "SystemReport":
        """Return scores and leaderboard; raise Invalid for an unknown truth or baseline.

        With ``stored`` they are on these labels, of whatever state they were computed from.
        """
        source = StudySource(session, slug)
        if not queries.has_systems(session, source.study.id):
            return _read(source).report(session, truth, baseline)
        lists = queries.lists_state(session, source.study.id)
        state = (stored.job_id if stored else state_of(source), lists)
        with self._lock:
            return self._current(source, state, stored).report(session, truth, baseline)

    def _current(
        self, source: StudySource, state: Hashable, stored: StoredResult | None
    ) -> "StudySystems":
        kept = self._kept.pop(source.study.id, None)
        if kept is None or kept[0] != state:
            kept = (state, _read(source, stored))
        self._kept[source.study.id] = kept
        while len(self._kept) > self._capacity:
            del self._kept[next(iter(self._kept))]
        return kept[1]


def _read(source: StudySource, stored: StoredResult | None = None) -> "StudySystems":
    # Imported here, so that a server starts without the numerical libraries.
    from topkapi.app.services.results.systems.scoring import StudySystems

    return StudySystems.of(source, stored.content if stored else None)
