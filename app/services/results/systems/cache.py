"""Cache of the scores of systems until the labels of their study change."""

from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Query, Ranking
from topkapi.app.db.queries.results import systems as queries
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.cache import StateCache, state_of
from topkapi.app.services.results.reports.notes import StoredResult

if TYPE_CHECKING:
    from topkapi.analysis.report.subjects.systems import SystemReport
    from topkapi.app.services.results.systems.scoring import StudySystems


class SystemReports(StateCache["StudySystems"]):
    """Labels and per-query values of the latest studies.

    A new run is scored alone; a new answer in the study drops what is kept.
    """

    def report(
        self,
        session: Session,
        slug: str,
        *,
        truth: str | None = None,
        baseline: str | None = None,
        shared: bool = False,
        stored: StoredResult | None = None,
    ) -> "SystemReport":
        """Return scores and leaderboard; raise Invalid for an unknown truth or baseline.

        If ``shared``, scores are on the queries that every system has. With ``stored`` they are on
        these labels, of whatever state they were computed from.
        """
        source = StudySource(session, slug)
        if not queries.has_systems(session, source.study.id):
            return _read(source).report(session, truth, baseline)
        lists = select(func.count(Ranking.id), func.max(Ranking.id)).join(Query)
        held = session.execute(lists.where(Query.study_id == source.study.id)).one()
        state = (stored.job_id if stored else state_of(source), *held)  # imports change it
        make = partial(_read, source, stored)
        with self.current(source.study.id, state, make) as found:
            return found.report(session, truth, baseline, shared=shared)


def _read(source: StudySource, stored: StoredResult | None = None) -> "StudySystems":
    # Imported here, so that a server starts without the numerical libraries.
    from topkapi.app.services.results.systems.scoring import StudySystems

    return StudySystems.of(source, stored.content if stored else None)
