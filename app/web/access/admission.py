"""Admission: only requests with a signed cookie, a known token or a signed link reach the database.

This is checked before a request takes a slot, and for writes before the body is read. It is cheap
on purpose: a cookie is checked by its signature, and a token is accepted if it was valid within
the last minute. The transaction of the request makes the final decision.
"""

import time
from collections import OrderedDict
from threading import Lock

from fastapi.concurrency import run_in_threadpool
from fastapi.security.utils import get_authorization_scheme_param
from starlette.requests import Request

from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import SignInNeeded
from topkapi.app.services.accounts import tokens
from topkapi.app.web.access.slots import Lane
from topkapi.app.web.common.cookies import Cookies
from topkapi.app.web.common.visitors import is_api

KNOWN_SECONDS = 60.0
MOST_KNOWN = 10_000
NO_TOKEN = "Send a token: Authorization: Bearer topkapi_..."


class KnownTokens:
    """Cache of recently valid tokens, by hash.

    Other tokens are looked up in a separate short read with few slots, so that clients which try
    random tokens delay only each other.
    """

    def __init__(self, sessions: Sessions, lane: Lane) -> None:
        self._sessions = sessions
        self._lane = lane
        self._seen: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    async def require(self, plain: str) -> None:
        """Raise unless the token is valid."""
        seen = self._seen.get(tokens.hash_token(plain))
        if seen is not None and time.monotonic() - seen < KNOWN_SECONDS:
            return
        async with self._lane.hold():
            await run_in_threadpool(self._look_up, plain)
        self.note_valid(plain)

    def note_valid(self, plain: str) -> None:
        """Record that a token was just found valid; called by every API request."""
        key = tokens.hash_token(plain)
        with self._lock:
            self._seen[key] = time.monotonic()
            self._seen.move_to_end(key)
            if len(self._seen) > MOST_KNOWN:
                self._seen.popitem(last=False)

    def _look_up(self, plain: str) -> None:
        with self._sessions.read() as session:
            tokens.owner_of(session, plain)


async def admit(request: Request) -> None:
    """Raise unless the request has a signed cookie, a known token or a signed link."""
    if getattr(request.state, "admitted", False):
        return
    if is_api(request):
        known: KnownTokens = request.app.state.known_tokens
        await known.require(sent_token(request))
    else:
        cookies: Cookies = request.app.state.cookies
        if cookies.claim_of(request) is None:
            raise SignInNeeded("Sign in to continue.")
    request.state.admitted = True


def admit_visitor(request: Request) -> None:
    """Admit a visitor without a session who has a valid link."""
    request.state.admitted = request.state.visitor = True


def is_visitor(request: Request) -> bool:
    """Return whether the request was admitted by a link."""
    return getattr(request.state, "visitor", False)


def sent_token(request: Request) -> str:
    """Return the token of an API request; raise if there is none."""
    scheme, plain = get_authorization_scheme_param(request.headers.get("Authorization"))
    if scheme.lower() != "bearer" or not plain:
        raise SignInNeeded(NO_TOKEN)
    return plain
