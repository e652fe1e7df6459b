"""Admission: only requests with a signed cookie, a known token or a signed link reach the database.

This is checked before a request takes a slot, and for writes before the body is read. It is cheap
on purpose: a cookie is checked by its signature, and a token is accepted if it was valid within
the last minute. The transaction of the request makes the final decision.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar

from fastapi.concurrency import run_in_threadpool
from fastapi.security.utils import get_authorization_scheme_param
from sqlalchemy.orm import Session
from starlette.requests import Request

from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import SignInNeeded
from topkapi.app.services.accounts import tokens
from topkapi.app.web.access.slots import Lane
from topkapi.app.web.common.cookies import Claim, cookies_of
from topkapi.app.web.common.links import is_api, visitor_of

T = TypeVar("T")
KNOWN_SECONDS = 60.0
MOST_KNOWN = 10_000
NOBODY = 0  # no person has this id
NO_TOKEN = "Send a token: Authorization: Bearer topkapi_..."


class KnownTokens:
    """Cache of recently valid tokens, by hash.

    Other tokens are looked up in a separate short read with few slots, so that clients which try
    random tokens delay only each other.
    """

    def __init__(self, sessions: Sessions, lane: Lane) -> None:
        self._sessions = sessions
        self._lane = lane
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._lock = Lock()

    async def owner_of(self, plain: str, address: str) -> int:
        """Return the id of the token's owner; raise unless the token is valid."""
        seen, owner_id = self._seen.get(tokens.hash_token(plain), (float("-inf"), NOBODY))
        if time.monotonic() - seen < KNOWN_SECONDS:
            return owner_id
        async with self._lane.hold(key=("token", address)):
            owner_id = await run_in_threadpool(self._look_up, plain)
        self.note_valid(plain, owner_id)
        return owner_id

    def note_valid(self, plain: str, owner_id: int) -> None:
        """Record that a token was just found valid; called by every API request."""
        key = tokens.hash_token(plain)
        with self._lock:
            self._seen[key] = time.monotonic(), owner_id
            self._seen.move_to_end(key)
            if len(self._seen) > MOST_KNOWN:
                self._seen.popitem(last=False)

    def _look_up(self, plain: str) -> int:
        with self._sessions.read() as session:
            return tokens.owner_of(session, plain).user.id


async def admit(request: Request) -> int:
    """Return the id of the person who sends the request; `NOBODY` if they have a signed link.

    Raise unless the request has a signed cookie, a known token or a signed link.
    """
    person_id: int | None = getattr(request.state, "admitted", None)
    if person_id is None:
        if is_api(request):
            person_id = await _token_owner(request)
        else:
            person_id = required_claim(request).user_id
        request.state.admitted = person_id
    return person_id


async def _token_owner(request: Request) -> int:
    known: KnownTokens = request.app.state.known_tokens
    return await known.owner_of(sent_token(request), visitor_of(request).address)


def required_claim(request: Request) -> Claim:
    """Return the claim of the session cookie; raise if there is none that is valid."""
    claim = cookies_of(request).claim_of(request)
    if claim is None:
        raise SignInNeeded("Sign in to continue.")
    return claim


async def read_apart(
    request: Request, lane: Lane, key: Hashable, find: Callable[[Session], T]
) -> T:
    """Run ``find`` in a thread, in a short read of its own that holds a slot of ``lane``."""
    sessions: Sessions = request.app.state.sessions

    def run() -> T:
        with sessions.read() as session:
            return find(session)

    async with lane.hold(key=key):
        return await run_in_threadpool(run)


def admit_visitor(request: Request) -> None:
    """Admit a visitor without a session who has a valid link."""
    request.state.admitted, request.state.visitor = NOBODY, True


def is_visitor(request: Request) -> bool:
    """Return whether the request was admitted by a link."""
    return getattr(request.state, "visitor", False)


def sent_token(request: Request) -> str:
    """Return the token of an API request; raise if there is none."""
    scheme, plain = get_authorization_scheme_param(request.headers.get("Authorization"))
    if scheme.lower() != "bearer" or not plain:
        raise SignInNeeded(NO_TOKEN)
    return plain
