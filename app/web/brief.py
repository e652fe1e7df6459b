"""Who is asking, found out in a transaction that ends before the work begins.

For routes that take long, such as an upload: a request's own transaction would stay open all the
while, and on SQLite keep every other writer waiting.
"""

from typing import Annotated

from fastapi import Depends, Request

from app.db.engine import Sessions
from app.domain.words import Role
from app.web.cookies import Claim
from app.web.deps import Credentials, SentToken, bearer_of, check_csrf, claimant, require
from app.web.views import PersonView


def _claimed(request: Request) -> tuple[PersonView, Claim]:
    sessions: Sessions = request.app.state.sessions
    with sessions.read() as session:
        user, claim = claimant(request, session)
        person = PersonView.of(require(user, Role.ADMIN))
    request.state.user = person
    return person, claim


def admin_at_door(
    request: Request,
    claimed: Annotated[tuple[PersonView, Claim], Depends(_claimed)],
    sent: SentToken,
) -> PersonView:
    """The administrator signed in by cookie; the body is not read before that is certain."""
    person, claim = claimed
    check_csrf(request, claim.nonce, sent, request.app.state.cookies)
    return person


def api_admin_at_door(request: Request, credentials: Credentials) -> PersonView:
    """The administrator whose token was sent."""
    sessions: Sessions = request.app.state.sessions
    with sessions.read() as session:
        token = bearer_of(request, session, credentials)
        person = PersonView.of(require(token.user, Role.ADMIN))
        request.app.state.token_uses.note(token)
    request.state.user = person
    return person


AdminAtDoor = Annotated[PersonView, Depends(admin_at_door)]
ApiAdminAtDoor = Annotated[PersonView, Depends(api_admin_at_door)]
