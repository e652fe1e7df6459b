"""Who is asking, found out in a transaction that ends before the work begins.

For routes that take long, such as an upload or an export: a request's own transaction would stay
open all the while, and keep a connection or, on SQLite, every other writer waiting.
"""

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.queries.accounts.accounts import Bearer
from topkapi.app.domain.enums import Role
from topkapi.app.web.access.admission import admit, sent_token
from topkapi.app.web.access.deps import (
    RESEARCH,
    Credentials,
    SentToken,
    bearer_of,
    check_form,
    claimant,
    renew_sign_in,
    require,
)
from topkapi.app.web.access.slots import TransactionLimits
from topkapi.app.web.common.views import PersonView
from topkapi.app.web.common.visitors import is_api

T = TypeVar("T")


async def person_at_door(request: Request, *roles: Role) -> PersonView:
    """Find who is asking by cookie or token, and require one of ``roles``."""
    await admit(request)
    person = await (_token_owner if is_api(request) else _claimed)(request)
    request.state.user = person
    return require(person, *roles)


async def _claimed(request: Request) -> PersonView:
    def find(session: Session) -> PersonView:
        user, claim = claimant(request, session)
        renew_sign_in(request, user, claim)
        return PersonView.of(user)

    return await _read(request, find)


async def _token_owner(request: Request) -> PersonView:
    sent = HTTPAuthorizationCredentials(scheme="Bearer", credentials=sent_token(request))
    token: Bearer = await _read(request, lambda session: bearer_of(request, session, sent))
    request.app.state.token_uses.note(token)
    return PersonView.of(token.user)


async def _read(request: Request, find: Callable[[Session], T]) -> T:
    places: TransactionLimits = request.app.state.transaction_limits
    sessions: Sessions = request.app.state.sessions

    def run() -> T:
        with sessions.read() as session:
            return find(session)

    async with places.door.hold():
        return await run_in_threadpool(run)


async def _admin(request: Request) -> PersonView:
    return await person_at_door(request, Role.ADMIN)


async def early_admin(
    request: Request, person: Annotated[PersonView, Depends(_admin)], sent: SentToken
) -> PersonView:
    """The administrator signed in by cookie; the body is not read before that is certain."""
    check_form(request, sent)
    return person


async def early_api_admin(request: Request, _credentials: Credentials) -> PersonView:
    """The administrator whose token was sent."""
    return await person_at_door(request, Role.ADMIN)


async def researcher_at_door(request: Request) -> PersonView:
    """The researcher or administrator who asks, by cookie or token; for routes that only read."""
    return await person_at_door(request, *RESEARCH)


ResearcherAtDoor = Annotated[PersonView, Depends(researcher_at_door)]


async def api_researcher_at_door(_credentials: Credentials, person: ResearcherAtDoor) -> PersonView:
    """The researcher or administrator whose token was sent."""
    return person


EarlyAdmin = Annotated[PersonView, Depends(early_admin)]
EarlyApiAdmin = Annotated[PersonView, Depends(early_api_admin)]
ApiResearcherAtDoor = Annotated[PersonView, Depends(api_researcher_at_door)]
