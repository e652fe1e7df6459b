"""The administrator's dashboard: running studies, their forecasts, and who needs attention."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Study
from topkapi.app.db.queries import progress as queries
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.attention import Sign
from topkapi.app.services.progress.forecast import DAYS, Forecast, forecast
from topkapi.app.services.progress.snapshots import Snapshots
from topkapi.app.services.progress.study_progress import Line, Overview
from topkapi.app.services.state.study import (
    MOST_NEEDS,
    Checklist,
    StudyNeed,
    checklist,
    needs,
    next_step,
)


@dataclass(frozen=True, slots=True)
class StudyCard:
    """A study: its progress, work finished per day, and the expected last day."""

    slug: str
    name: str
    line: Line
    days: Sequence[int]
    forecast: Forecast | None

    @property
    def finished(self) -> bool:
        """Whether all promised work is finished."""
        return self.line.sums.finished == self.line.promised


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Running studies first, then finished ones; and at most five things that need attention.

    ``unassigned`` is what studies without any assignment need, ``more`` counts what is left out.
    The ``checklist`` is None once somebody has answered.
    """

    cards: Sequence[StudyCard]
    unassigned: Sequence[StudyNeed]
    attention: Sequence[StudyNeed]
    more: int
    checklist: Checklist | None


def dashboard(
    session: Session, snapshots: Snapshots | None = None, at: datetime | None = None
) -> Dashboard:
    """Return the dashboard of all studies that are not archived."""
    at = at or now()
    snapshots = snapshots or Snapshots()
    studies = queries.open_studies(session)
    seen = {study.id: study_progress.overview(session, study, snapshots) for study in studies}
    days = queries.finished_per_day(session, at - timedelta(days=DAYS))
    cards = [
        _card(study, seen[study.id], days.get(study.id, {}), at.date())
        for study in studies
        if seen[study.id].all.promised
    ]
    assigned = [study for study in studies if seen[study.id].all.promised]
    open_needs = [each for study in assigned for each in needs(session, study, seen[study.id], at)]
    order = list(Sign)
    open_needs.sort(key=lambda each: order.index(each.sign))
    return Dashboard(
        cards=sorted(cards, key=lambda card: card.finished),
        unassigned=[
            next_step(session, study, seen[study.id], may_change=True)
            for study in studies
            if not seen[study.id].all.promised
        ],
        attention=open_needs[:MOST_NEEDS],
        more=max(0, len(open_needs) - MOST_NEEDS),
        checklist=checklist(session, [each.all for each in seen.values()]),
    )


def _card(study: Study, seen: Overview, per_day: Mapping[date, int], today: date) -> StudyCard:
    days = [per_day.get(today - timedelta(days=ago), 0) for ago in range(DAYS - 1, -1, -1)]
    left = seen.all.promised - seen.all.sums.finished
    return StudyCard(study.slug, study.name, seen.all, days, forecast(days, left, today))
