"""The administrator's dashboard: running studies, their forecasts, and who needs attention."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil, sqrt

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Study
from topkapi.app.db.queries import progress as queries
from topkapi.app.db.queries.assignments.assignments import users_by_id
from topkapi.app.services.heads import PersonHead, StudyName
from topkapi.app.services.judging.teams import reliabilities
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.attention import (
    Concern,
    Sign,
    concerns,
    most_pressing,
)
from topkapi.app.services.progress.snapshots import Snapshots
from topkapi.app.services.progress.study_progress import Line, Overview

DAYS = 14
LEAST = 3  # finished assignments below which nothing is forecast
_Z = 1.645  # a 90 % interval of a Poisson count, by its normal approximation
_LONGEST = 3650  # days; beyond, no date is given


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected last day, and a 90 % range; ``latest`` is None if it has no end in sight."""

    expected: date
    earliest: date
    latest: date | None

    @property
    def is_certain(self) -> bool:
        """Whether the range is the expected day alone."""
        return self.earliest == self.expected == self.latest


def forecast(finished: Sequence[int], left: int, today: date) -> Forecast | None:
    """Return the expected last day, or None while too little is finished.

    ``finished`` are the counts of the last days, today last. Days before the first count are left
    out: the study had not begun.
    """
    first = next((index for index, count in enumerate(finished) if count), len(finished))
    days, total = len(finished) - first, sum(finished)
    if total < LEAST or not left:
        return None
    spread = _Z * sqrt(total)
    expected = _after(today, left * days / total)
    earliest = _after(today, left * days / (total + spread))
    if expected is None or earliest is None:
        return None
    slow = total - spread
    return Forecast(expected, earliest, _after(today, left * days / slow) if slow > 0 else None)


def _after(today: date, days: float) -> date | None:
    return today + timedelta(days=ceil(days)) if days <= _LONGEST else None


MOST_CONCERNS = 5
LARGEST_LOG = 50_000  # answers; in larger studies the sides are counted by the report only


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
class Attention:
    """A study, or a person in it, that needs attention, and the reason in words."""

    slug: str
    study: str
    user: PersonHead | None
    sign: Sign
    reason: str


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Running studies first, then finished ones; and at most five things that need attention.

    ``unassigned`` are studies without any assignment, ``more`` counts what is left out.
    """

    cards: Sequence[StudyCard]
    unassigned: Sequence[StudyName]
    attention: Sequence[Attention]
    more: int


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
    found = [each for study in studies for each in _attention(session, study, seen[study.id], at)]
    order = list(Sign)
    found.sort(key=lambda each: order.index(each.sign))
    return Dashboard(
        cards=sorted(cards, key=lambda card: card.finished),
        unassigned=[StudyName.of(study) for study in studies if not seen[study.id].all.promised],
        attention=found[:MOST_CONCERNS],
        more=max(0, len(found) - MOST_CONCERNS),
    )


def concerns_of_study(
    session: Session, study: Study, seen: Overview, at: datetime | None = None
) -> list[Concern]:
    """Return all reasons for attention in a study; they stay when its work is finished."""
    sums = seen.all.sums
    counted = 0 < sums.answered <= LARGEST_LOG
    sides = queries.sides_per_person(session, study.id) if counted else {}
    members = reliabilities(session, study.id) if study.settings.together else {}
    return concerns(seen, sides, members, begun_at=study.created_at, at=at or now())


def _attention(session: Session, study: Study, seen: Overview, at: datetime) -> list[Attention]:
    found = most_pressing(concerns_of_study(session, study, seen, at))
    users = users_by_id(session, [each.user_id for each in found])
    missing = study_progress.why_missing(session, seen)
    head = study.slug, study.name
    return [
        *([Attention(*head, None, Sign.GAPS, missing)] if missing else []),
        *(
            Attention(*head, PersonHead.of(users[each.user_id]), each.sign, each.reason)
            for each in found
        ),
    ]


def _card(study: Study, seen: Overview, per_day: Mapping[date, int], today: date) -> StudyCard:
    days = [per_day.get(today - timedelta(days=ago), 0) for ago in range(DAYS - 1, -1, -1)]
    left = seen.all.promised - seen.all.sums.finished
    return StudyCard(study.slug, study.name, seen.all, days, forecast(days, left, today))
