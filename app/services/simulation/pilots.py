"""What a finished study or a pilot says about the next one."""

from itertools import islice
from statistics import fmean, median

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Candidate, Query
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.services.progress import study_progress
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.exports.confidence import confidence_records
from topkapi.app.services.results.systems.cache import SystemReports
from topkapi.app.services.simulation.plan_records import Pilot

_NORMAL = 1.96
_SESSIONS = 50  # for the error rate: a session may take a second


def pilot_of(session: Session, slug: str) -> Pilot:
    """Return what is known from a study; None where it says nothing."""
    study = required_study(session, slug)
    sizes = session.scalars(
        select(func.count())
        .select_from(Candidate)
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study.id)
        .group_by(Query.id)
    ).all()
    pairs = study_progress.overview(session, study).tools.get(Tool.PAIRS)
    return Pilot(
        queries=len(sizes) or None,
        documents=round(fmean(sizes)) if sizes else None,
        k=study.settings.k,
        seconds=pairs.seconds if pairs else None,
        error=_error_rate(session, slug),
        deviation=_deviation(session, slug),
        settings=study.settings,
    )


def _error_rate(session: Session, slug: str) -> float | None:
    """Return the mean error rate that the first finished sessions say about themselves."""
    found = islice(confidence_records(StudySource(session, slug)), _SESSIONS)
    rates = [record.error_rate for _, record in found]
    return fmean(rates) if rates else None


def _deviation(session: Session, slug: str) -> float | None:
    """Return the typical standard deviation of a difference between two systems over queries."""
    reports = SystemReports()
    scores = reports.report(session, slug).scores
    if scores is None or len(scores.systems) < 2:
        return None
    scores = reports.report(session, slug, baseline=scores.systems[0].system).scores
    assert scores is not None
    gaps = [each.score(scores.measures[0]).difference for each in scores.systems[1:]]
    ends = [gap.figure.interval for gap in gaps if gap and gap.figure.interval]
    root = scores.queries**0.5
    found = [(high - low) / 2 / _NORMAL * root for low, high in ends if high > low]
    return median(found) if found else None
