from datetime import UTC, datetime, timedelta

import pytest

from tests.cases import each_case
from topkapi.app.web.common.formats import ago, clock, initials, percent, spell_duration

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


@each_case(
    ("ms", "shown"), [(0, "00:00"), (767_000, "12:47"), (59_999, "00:59"), (3_723_000, "1:02:03")]
)
def test_clock(ms: int, shown: str) -> None:
    assert clock(ms) == shown


@each_case(
    ("minutes", "expected"),
    [
        (0.2, "1 minute"),
        (9, "9 minutes"),
        (59.6, "1 hour"),
        (131, "2 hours 10 minutes"),
        (118, "2 hours"),
    ],
)
def test_durations_are_no_more_exact_than_a_guess(minutes: float, expected: str) -> None:
    assert spell_duration(round(minutes * 60_000)) == expected


@each_case(
    ("since", "expected"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(seconds=95), "1 minute ago"),
        (timedelta(hours=3, minutes=59), "3 hours ago"),
        (timedelta(days=2), "2 days ago"),
    ],
)
def test_ago(since: timedelta, expected: str) -> None:
    assert ago(NOON - since, NOON) == expected


def test_percent_stays_in_its_bar() -> None:
    assert [percent(share) for share in (-1, 0.4634, 2)] == ["0.0%", "46.3%", "100.0%"]


@pytest.mark.parametrize(
    ("name", "letters"), [("Ansa Lehto", "AL"), ("Bao", "B"), ("ana maria da silva", "AS")]
)
def test_initials(name: str, letters: str) -> None:
    assert initials(name) == letters
