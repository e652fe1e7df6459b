"""Authentication in a separate transaction that ends before the work begins.

For long requests such as an upload or an export: the request's own transaction would stay open all
the time, and occupy a connection or, on SQLite, block every other writer.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials
from sqlalchemy.orm import Session

from topkapi.app.domain.enums import Role
from topkapi.app.web.access.admission import admit, read_apart, sent_token
from topkapi.app.web.access.deps import (
    RESEARCH,
    Credentials,
    SentToken,
    api_user,
    check_form,
    claimant,
    renew_sign_in,
    require,
)
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.common.links import is_api
from topkapi.app.web.common.views import PersonView


async def early_person(request: Request, *roles: Role) -> PersonView:
    """Return the person authenticated by cookie or token; require one of ``roles``."""
    person_id = await admit(request)

    def find(session: Session) -> PersonView:
        person = (_token_owner if is_api(request) else _claimed)(request, session)
        request.state.user = person
        return require(request, session, person, *roles)

    return await read_apart(request, limits_of(request).authentication, person_id, find)


def _claimed(request: Request, session: Session) -> PersonView:
    user, claim = claimant(request, session)
    renew_sign_in(request, claim)
    return PersonView.of(user)


def _token_owner(request: Request, session: Session) -> PersonView:
    sent = HTTPAuthorizationCredentials(scheme="Bearer", credentials=sent_token(request))
    return api_user(request, session, sent)


def _with_role(*roles: Role) -> Callable[[Request], Awaitable[PersonView]]:
    async def find(request: Request) -> PersonView:
        return await early_person(request, *roles)

    return find


EarlyPerson = Annotated[PersonView, Depends(_with_role(*Role))]
EarlyResearcher = Annotated[PersonView, Depends(_with_role(*RESEARCH))]  # of routes that only read
_Admin = Annotated[PersonView, Depends(_with_role(Role.ADMIN))]


async def early_admin(request: Request, person: _Admin, sent: SentToken) -> PersonView:
    """Return the administrator signed in by cookie; checked before the body is read."""
    check_form(request, sent)
    return person


async def early_api_admin(_credentials: Credentials, person: _Admin) -> PersonView:
    """Return the administrator who owns the token."""
    return person


async def early_api_researcher(_credentials: Credentials, person: EarlyResearcher) -> PersonView:
    """Return the researcher or administrator who owns the token."""
    return person


EarlyAdmin = Annotated[PersonView, Depends(early_admin)]
EarlyApiAdmin = Annotated[PersonView, Depends(early_api_admin)]
EarlyApiResearcher = Annotated[PersonView, Depends(early_api_researcher)]
