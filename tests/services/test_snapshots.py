"""Tests of snapshots: sums of large studies are cached for some seconds."""

import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session

from tests.exporting import make_judged_study
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.base import now
from topkapi.app.db.models import JudgmentRow
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.snapshots import MINUTE, PATIENCE, SECONDS, Snapshots

pytestmark = pytest.mark.both


class Clock:
    """A settable clock that advances by ``tick`` with every call."""

    def __init__(self, tick: float = 0.0) -> None:
        self.at, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.at += self.tick
        return self.at


def test_sums_of_a_large_study_are_kept_for_some_seconds(session: Session) -> None:
    study = make_study(session, queries=2)
    first, second = queries_of(session, study)
    row = make_assignment(session, query=first)
    clock = Clock()
    kept = Snapshots(clock, large=1)
    before = study_progress.overview(session, study, kept)
    assert (before.all.sums.assigned, before.work.latest(session, 6)) == (1, [])
    assert set(before.work.queries(session)) == {first.id}
    row.finished_at = row.last_entry_at = now()
    make_assignment(session, query=second)
    clock.at = SECONDS - 0.1
    again = study_progress.overview(session, study, kept)
    assert again.work is before.work
    assert again.work.latest(session, 6) == []
    clock.at = SECONDS + 0.1
    after = study_progress.overview(session, study, kept)
    assert (after.all.sums.assigned, after.all.sums.finished) == (2, 1)
    assert len(after.work.latest(session, 6)) == 1
    assert set(after.work.queries(session)) == {first.id, second.id}


def test_the_longer_it_took_the_longer_it_is_kept(session: Session) -> None:
    study = make_study(session)
    clock = Clock(tick=1.0)  # summing up takes one tick
    kept = Snapshots(clock, large=0)
    before = study_progress.overview(session, study, kept)
    clock.at = PATIENCE - 2.0
    assert study_progress.overview(session, study, kept).work is before.work
    clock.at = PATIENCE + 2.0
    assert study_progress.overview(session, study, kept).work is not before.work


def test_a_small_study_is_never_kept_even_if_the_machine_is_slow(session: Session) -> None:
    study = make_study(session)
    kept = Snapshots(Clock(tick=10.0))
    assert study_progress.overview(session, study, kept).all.sums.assigned == 0
    make_assignment(session, user=make_user(session), query=queries_of(session, study)[0])
    assert study_progress.overview(session, study, kept).all.sums.assigned == 1


def test_sides_over_a_long_log_are_counted_once_a_minute(session: Session) -> None:
    study = make_judged_study(session)
    clock = Clock()
    often, seldom = Snapshots(clock), Snapshots(clock, long=1)

    def sides(kept: Snapshots) -> object:
        return study_progress.overview(session, study, kept).work.sides(session)

    before = sides(seldom)
    assert before == sides(often) != {}
    session.execute(delete(JudgmentRow))
    clock.at = MINUTE - 0.1
    assert (sides(seldom), sides(often)) == (before, {})
    clock.at = MINUTE + 0.1
    assert sides(seldom) == {}
