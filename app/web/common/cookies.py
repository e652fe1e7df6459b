"""Signed cookies, and the CSRF tokens bound to them.

The session cookie is signed and holds a user id, the version of the user's sessions, and a nonce. A
CSRF token is a keyed hash of that nonce, so it is valid for one session and cannot be forged by
another site. A visitor who is not signed in has a nonce of their own, for the sign-in form.
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
from topkapi.app.web.common.prefix import prefix

SESSION_COOKIE = "topkapi_session"
VISITOR_COOKIE = "topkapi_visitor"
CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf_token"
# How far in the future the date of a cookie may be: the clock of another host may be fast, or the
# clock of this one was set back. Only this server signs cookies, so a future date is harmless.
CLOCK_AHEAD = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Claim:
    """Content of a session cookie; the database decides whether it is still valid.

    Renewals change ``issued_at`` and keep ``began_at``, when the person signed in.
    """

    user_id: int
    version: int
    nonce: str
    issued_at: datetime
    began_at: datetime


class Cookies:
    """Makes and reads cookies, signed with the secret of the server."""

    def __init__(
        self, secret: str, *, lifetime: timedelta, secure: bool, longest: timedelta = timedelta.max
    ) -> None:
        self._secret = secret.encode()
        self._serializer = URLSafeTimedSerializer(secret, salt="session")
        self._lifetime = lifetime  # without a visit
        self._longest = longest  # since the sign-in
        self._secure = secure

    def session_token(self, user: User, nonce: str | None = None) -> str:
        """Return the value of a session cookie for ``user``, who signs in now."""
        claim = [user.id, user.session_version, nonce or secrets.token_urlsafe(16)]
        return str(self._serializer.dumps(claim))

    def renewed_token(self, claim: Claim) -> str:
        """Return the value of a session cookie with the same claim, issued now."""
        began = int(claim.began_at.timestamp())
        return str(self._serializer.dumps([claim.user_id, claim.version, claim.nonce, began]))

    def claim_of(self, request: Request) -> Claim | None:
        """Return the claim of the request's session cookie if its signature and age are valid.

        The claim is cached on the request, so the signature is checked once.
        """
        state = request.state
        if not hasattr(state, "claim"):
            state.claim = self.read(request.cookies.get(SESSION_COOKIE, ""))
        claim: Claim | None = state.claim
        return claim

    def read(self, token: str) -> Claim | None:
        """Return the claim of a session cookie if its signature and age are valid."""
        try:
            values, issued = self._serializer.loads(token, return_timestamp=True)
            user_id, version, nonce, *renewed = values
        except (BadData, ValueError, TypeError):
            return None
        at, issued = datetime.now(UTC), issued.replace(tzinfo=UTC)
        began = datetime.fromtimestamp(renewed[0], UTC) if renewed else issued
        if not -CLOCK_AHEAD <= at - issued <= self._lifetime or at - began > self._longest:
            return None
        return Claim(user_id, version, nonce, issued, began)

    def is_half_over(self, claim: Claim) -> bool:
        """Return whether the cookie should be renewed, so that active users stay signed in."""
        return datetime.now(UTC) - claim.issued_at > self._lifetime / 2

    def set_session(self, response: Response, token: str) -> None:
        """Set the session cookie."""
        seconds = int(self._lifetime.total_seconds())
        set_cookie(response, SESSION_COOKIE, token, max_age=seconds, secure=self._secure)

    def set_visitor(self, response: Response, nonce: str) -> None:
        """Set the visitor cookie."""
        set_cookie(response, VISITOR_COOKIE, nonce, secure=self._secure)

    def clear_session(self, response: Response) -> None:
        """Delete the session cookie."""
        response.delete_cookie(SESSION_COOKIE, path=prefix() or "/", httponly=True, samesite="lax")

    def csrf_token(self, nonce: str) -> str:
        """Return the CSRF token for forms of the session or visitor with this nonce."""
        return hmac.new(self._secret, b"csrf:" + nonce.encode(), sha256).hexdigest()

    def csrf_is_valid(self, nonce: str | None, token: str | None) -> bool:
        """Return whether ``token`` belongs to ``nonce``, compared in constant time."""
        if not nonce or not token:
            return False
        return hmac.compare_digest(self.csrf_token(nonce).encode(), token.encode())


def set_cookie(
    response: Response, name: str, value: str, *, secure: bool, max_age: int | None = None
) -> None:
    """Set a cookie of this server that no script can read."""
    path = prefix() or "/"
    response.set_cookie(
        name, value, max_age, path=path, httponly=True, samesite="lax", secure=secure
    )


def cookies_of(request: Request) -> Cookies:
    """Return the maker of the cookies of this server."""
    cookies: Cookies = request.app.state.cookies
    return cookies
