"""Clock skew between hosts, and clocks that are set back, end no session."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from itsdangerous import TimestampSigner

from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role
from topkapi.app.web.common.cookies import CLOCK_AHEAD, Cookies

pytestmark = pytest.mark.both

HOUR = 3600


@pytest.fixture
def issue_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Cookies, float], str]:
    """Return a function that makes a cookie on a host with a skewed clock."""
    user = User(id=7, session_version=3, email="a@example.org", name="A", role=Role.ADMIN)
    real = TimestampSigner.get_timestamp

    def issue(cookies: Cookies, seconds: float) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(TimestampSigner, "get_timestamp", lambda self: real(self) + int(seconds))
            return cookies.session_token(user)

    return issue


@pytest.mark.parametrize(
    ("seconds", "accepted"),
    [
        (2, True),
        (HOUR, True),
        (CLOCK_AHEAD.total_seconds() + HOUR, False),
        (-HOUR, True),
        (-71 * HOUR, True),
        (-73 * HOUR, False),
    ],
)
def test_a_cookie_of_a_host_with_another_clock(
    issue_at: Callable[[Cookies, float], str], seconds: float, accepted: bool
) -> None:
    cookies = Cookies("secret", lifetime=timedelta(hours=72), secure=False)
    claim = cookies.read(issue_at(cookies, seconds))
    assert (claim is not None) is accepted
    if claim is not None:
        assert (claim.user_id, claim.version) == (7, 3)
        assert cookies.is_half_over(claim) is (seconds < -36 * HOUR)
