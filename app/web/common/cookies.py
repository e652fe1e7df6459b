"""Signed cookies, and the CSRF tokens bound to them.

A sign-in is a signed cookie that names a person, the version their sign-ins have, and a nonce. A
CSRF token is a keyed hash of that nonce, so it works for one sign-in and cannot be made by a page
elsewhere. A visitor who is not signed in has a nonce of their own, for the sign-in form.
"""

import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from topkapi.app.db.models import User

SESSION_COOKIE = "topkapi_session"
VISITOR_COOKIE = "topkapi_visitor"
CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf_token"
# How far ahead of this host's clock a cookie may be dated: another host's clock may be fast, or
# this one's may have been set back. Only we sign cookies, so a date in the future does no harm.
CLOCK_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a session cookie says; the database decides whether it still holds."""

    user_id: int
    version: int
    nonce: str
    issued_at: datetime


class Cookies:
    """Makes and reads the cookies of one program, signed with its secret."""

    def __init__(self, secret: str, *, lifetime: timedelta, secure: bool) -> None:
        self._secret = secret.encode()
        self._serializer = URLSafeTimedSerializer(secret, salt="session")
        self._lifetime = lifetime
        self._secure = secure

    def session_token(self, user: User, nonce: str | None = None) -> str:
        """The value of a session cookie for ``user``; a renewed one keeps its nonce."""
        claim = [user.id, user.session_version, nonce or secrets.token_urlsafe(16)]
        return str(self._serializer.dumps(claim))

    def renewed_token(self, claim: Claim) -> str:
        """The value of a session cookie that claims the same from now on."""
        return str(self._serializer.dumps([claim.user_id, claim.version, claim.nonce]))

    def claim_of(self, request: Request) -> Claim | None:
        """What the request's session cookie claims, if its signature and age are right.

        A request asks for it several times; the signature is checked once.
        """
        state = request.state
        if not hasattr(state, "claim"):
            state.claim = self.read(request.cookies.get(SESSION_COOKIE, ""))
        claim: Claim | None = state.claim
        return claim

    def read(self, token: str) -> Claim | None:
        """What a session cookie claims, if its signature and age are right."""
        try:
            values, issued = self._serializer.loads(token, return_timestamp=True)
            user_id, version, nonce = values
        except (BadData, ValueError, TypeError):
            return None
        issued = issued.replace(tzinfo=UTC)
        if not -CLOCK_AHEAD <= datetime.now(UTC) - issued <= self._lifetime:
            return None
        return Claim(user_id, version, nonce, issued)

    def is_half_over(self, claim: Claim) -> bool:
        """Whether the cookie should be renewed, so that nobody is signed out while at work."""
        return datetime.now(UTC) - claim.issued_at > self._lifetime / 2

    def set_session(self, response: Response, token: str) -> None:
        """Send the session cookie."""
        self._set(response, SESSION_COOKIE, token, int(self._lifetime.total_seconds()))

    def set_visitor(self, response: Response, nonce: str) -> None:
        """Send the visitor's cookie."""
        self._set(response, VISITOR_COOKIE, nonce, None)

    def clear_session(self, response: Response) -> None:
        """Take the session cookie away."""
        response.delete_cookie(SESSION_COOKIE, path="/", httponly=True, samesite="lax")

    def csrf_token(self, nonce: str) -> str:
        """The token that forms of this nonce's owner carry."""
        return hmac.new(self._secret, b"csrf:" + nonce.encode(), sha256).hexdigest()

    def csrf_is_right(self, nonce: str | None, token: str | None) -> bool:
        """Whether ``token`` belongs to ``nonce``, compared in constant time."""
        if not nonce or not token:
            return False
        return hmac.compare_digest(self.csrf_token(nonce).encode(), token.encode())

    def _set(self, response: Response, name: str, value: str, max_age: int | None) -> None:
        response.set_cookie(
            name,
            value,
            max_age=max_age,
            path="/",
            httponly=True,
            samesite="lax",
            secure=self._secure,
        )
