"""The dashboard: progress and forecast of each study, and who needs attention."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_study, make_user, queries_of, work_on
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, JudgmentRow, Study
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.assignments.bulk import void
from topkapi.app.services.progress.attention import Sign
from topkapi.app.services.progress.forecast import DAYS, forecast
from topkapi.app.services.progress.study_progress import overview
from topkapi.app.services.state.dashboard import dashboard
from topkapi.app.services.state.study import StudyNeed, concerns_of_study, study_state

pytestmark = pytest.mark.both

TODAY = date(2026, 11, 15)


def test_a_steady_study_ends_when_its_work_does() -> None:
    found = forecast([0] * 4 + [2] * 10, 20, TODAY)
    assert found is not None
    assert found.expected == TODAY + timedelta(days=10)
    assert found.earliest < found.expected
    assert found.latest is not None
    assert found.latest > found.expected


@pytest.mark.parametrize(("finished", "left"), [([0] * 14, 5), ([0] * 12 + [1, 1], 5), ([9], 0)])
def test_nothing_is_forecast_from_next_to_nothing(finished: list[int], left: int) -> None:
    assert forecast(finished, left, TODAY) is None


@given(st.lists(st.integers(0, 50), min_size=1, max_size=DAYS), st.integers(1, 5000))
def test_the_range_holds_the_expected_day(finished: list[int], left: int) -> None:
    found = forecast(finished, left, TODAY)
    if found is not None:
        assert TODAY < found.earliest <= found.expected
        assert found.latest is None or found.latest >= found.expected


@pytest.fixture
def study(session: Session) -> Study:
    made = make_study(session, slug="tulips", queries=9)
    made.created_at = now() - timedelta(days=20)
    session.flush()
    return made


def usual(session: Session, study: Study) -> None:
    """Let two people work at an ordinary pace, one of them with finished work."""
    for index, name in enumerate(("Usual One", "Usual Two")):
        person = make_user(session, name=name)
        done = {"answered": 400, "active_ms": 4_000_000, "last_entry_at": now()}
        work_on(session, study, person, index, finished_at=now(), **done)
        work_on(session, study, person, index + 2, **done, expected_left=10)


def people_in_need(session: Session) -> list[StudyNeed]:
    """Return the people who need attention, without what is missing."""
    return [each for each in dashboard(session).attention if each.user]


def test_cards_show_progress_and_days(session: Session, study: Study) -> None:
    usual(session, study)
    make_study(session, slug="empty")
    archived = make_study(session, slug="old")
    archived.archived_at = now()
    seen = dashboard(session)
    (card,) = seen.cards
    assert (card.slug, card.line.sums.finished, card.line.sums.assigned) == ("tulips", 2, 4)
    assert (len(card.days), card.days[-1]) == (DAYS, 2)
    assert [each.slug for each in seen.unassigned] == ["empty"]
    assert people_in_need(session) == []


def test_an_archived_study_is_archived_not_finished(session: Session, study: Study) -> None:
    usual(session, study)
    usual(session, study)
    study.archived_at = now()
    seen = study_state(session, study)
    assert (seen.next.reason, seen.forecast) == ("the study is archived", None)


def test_a_range_of_one_day_is_that_day() -> None:
    last = forecast([0] * 10 + [90] * 4, 1, TODAY)
    assert last is not None
    assert (last.earliest, last.expected, last.latest) == (TODAY + timedelta(days=1),) * 3
    assert last.is_certain
    found = forecast([0] * 4 + [2] * 10, 20, TODAY)
    assert found is not None
    assert not found.is_certain


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sign", "words", "sums"),
    [
        (Sign.FAST, "1.0 s per answer", {"answered": 100, "active_ms": 100_000}),
        (Sign.SLOW, "60.0 s per answer", {"answered": 30, "active_ms": 1_800_000}),
        (
            Sign.INCONSISTENT,
            "repeated 4 of 10 answers",
            {"answered": 100, "active_ms": 900_000, "checks": 10, "checks_agreed": 4},
        ),
        (
            Sign.INACCURATE,
            "10 of 20 answers on known pairs are right",
            {"answered": 100, "active_ms": 900_000, "known_answers": 20, "known_right": 10},
        ),
        (Sign.IDLE, "no answer for 5 days; 1 unfinished", {"answered": 3, "active_ms": 30_000}),
        (Sign.IDLE, "has not begun; 1 unfinished", {}),
    ],
)
def test_who_needs_attention_and_why(
    session: Session, study: Study, sign: Sign, words: str, sums: dict[str, int]
) -> None:
    usual(session, study)
    person = make_user(session, name="Dora Kiss")
    last = now() - timedelta(days=5) if sign is Sign.IDLE else now()
    work_on(session, study, person, 5, last_entry_at=last if sums else None, **sums)
    (found,) = people_in_need(session)
    assert (found.user and found.user.name, found.sign) == ("Dora Kiss", sign)
    assert words in found.reason


def test_who_is_slow_and_has_finished_is_checked_in_finished_work(
    session: Session, study: Study
) -> None:
    usual(session, study)
    sums = {"answered": 30, "active_ms": 1_800_000, "last_entry_at": now()}
    person = make_user(session, name="Dora Kiss")
    row = work_on(session, study, person, 5, **sums)
    assert people_in_need(session)[0].page.endswith("state=open")
    person.disabled_at = now()
    assert people_in_need(session)[0].reason == "the account is disabled; 1 unfinished assignment"
    row.finished_at = now()
    session.flush()
    assert people_in_need(session)[0].page.endswith("state=finished")


def test_who_prefers_one_side_is_found_in_the_log(session: Session, study: Study) -> None:
    usual(session, study)
    person = make_user(session, name="Lefty")
    sums = {"answered": 60, "active_ms": 600_000, "last_entry_at": now()}
    row = work_on(session, study, person, 5, **sums)
    for position in range(60):
        side = "right" if position % 10 == 0 else "left"
        session.add(
            JudgmentRow(
                assignment_id=row.id, position=position, entry=EntryKind.ANSWER, answer=side
            )
        )
    session.flush()
    (found,) = people_in_need(session)
    assert found.sign is Sign.BIASED
    assert found.reason == "chose the left page in 90% of 60 answers"


def test_at_most_five_people_are_named(session: Session, study: Study) -> None:
    for index in range(8):
        work_on(session, study, make_user(session, name=f"P{index}"), index)
    seen = dashboard(session)
    assert (len(seen.attention), seen.more) == (5, 4), "eight people, and what is missing"
    assert seen.attention[0].sign is Sign.GAPS


def test_warnings_stay_when_the_work_is_finished(session: Session, study: Study) -> None:
    usual(session, study)
    person = make_user(session, name="Dora Kiss")
    sums = {"answered": 100, "active_ms": 100_000, "known_answers": 20, "known_right": 10}
    row = work_on(session, study, person, 5, last_entry_at=now(), **sums)
    for each in session.scalars(select(Assignment)):
        each.finished_at = now()
    session.flush()
    (found,) = people_in_need(session)
    assert (found.user and found.user.name, found.sign) == ("Dora Kiss", Sign.INACCURATE)
    seen = overview(session, study)
    assert [each.sign for each in concerns_of_study(session, study, seen)] == [
        Sign.INACCURATE,
        Sign.FAST,
    ]
    void(session, study, [row.id], reason="clicks at random")
    assert people_in_need(session) == []


def test_who_answers_at_random_in_teams_needs_attention(session: Session, study: Study) -> None:
    study.settings = StudySettings(sorter="robust", together=True)
    variances = [0.2, 0.5, 0.0]
    people = [make_user(session) for _ in range(3)]
    for person, lapse, answered in zip(people, (1.7, 1.7, -3.0), (34, 12, 60), strict=True):
        query = queries_of(session, study)[0]
        row = make_assignment(session, user=person, query=query, sorter="robust", together=True)
        errors = [[lapse, -1.0, -0.6], variances, [0.41 if lapse > 0 else 0.1]]
        row.answered, row.pending_question = answered, {"after": 0, "errors": errors}
    session.flush()
    found = concerns_of_study(session, study, overview(session, study))
    marked = [each for each in found if each.sign is Sign.RANDOM]
    assert [each.user_id for each in marked] == [people[0].id]
    assert "41% of 34 answers" in marked[0].reason
