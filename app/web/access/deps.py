"""Dependencies of routes: the session of the request's transaction, and the authenticated user.

One request is one transaction. It is committed when the route has returned, before the response is
sent, and rolled back when the route raises. GET and HEAD read; everything else writes. Before a
request takes a slot, the gate has read its body, and `get_slot` has checked that it has a signed
cookie with a CSRF token, a known token, or a signed link.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, TypeVar

from fastapi import Depends, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions, shorten_lock_wait
from topkapi.app.db.models import Study, User
from topkapi.app.db.queries.accounts.accounts import Account, Bearer, account_of
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Role, Scope
from topkapi.app.domain.errors import BadToken, Forbidden, SignInNeeded
from topkapi.app.services.accounts import tokens
from topkapi.app.services.accounts.sign_in import refuse_unusable
from topkapi.app.web.access.admission import (
    NO_TOKEN,
    KnownTokens,
    admit,
    is_visitor,
    required_claim,
)
from topkapi.app.web.access.slots import Lane, limits_of
from topkapi.app.web.common.cookies import (
    CSRF_FIELD,
    CSRF_HEADER,
    VISITOR_COOKIE,
    Claim,
    cookies_of,
)
from topkapi.app.web.common.links import is_api, visitor_of
from topkapi.app.web.common.views import PersonView

T = TypeVar("T")
Someone = TypeVar("Someone", User, Account, PersonView)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_LONG_WAIT = 0.5  # seconds in a queue after which the database lock timeout is shortened
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
RESEARCH = (Role.RESEARCHER, Role.ADMIN)
RowId = Annotated[int, Path(ge=1, le=2**31 - 1)]  # the range of an integer column
Slug = Annotated[str, Path(max_length=100, pattern=r"^[^\x00]+$", description="The study's slug.")]


def _lane_of(request: Request) -> Lane:
    limits = limits_of(request)
    return limits.read if request.method in SAFE_METHODS else limits.write


async def sent_csrf_token(request: Request) -> str | None:
    """Return the CSRF token of the request, from the header or the form field."""
    if request.method in SAFE_METHODS or CSRF_HEADER in request.headers:
        return request.headers.get(CSRF_HEADER)
    if request.headers.get("content-type", "").startswith(_FORMS):
        value = (await request.form()).get(CSRF_FIELD)
        return value if isinstance(value, str) else None
    return None


SentToken = Annotated[str | None, Depends(sent_csrf_token)]


async def get_slot(request: Request, sent: SentToken) -> AsyncIterator[float]:
    """Hold a slot while the request's transaction is open; yield the seconds waited for it.

    A request that is not admitted, or a form without a valid CSRF token, is refused first.
    """
    person_id = await admit(request)
    check_form(request, sent)
    async with _lane_of(request).hold(key=person_id or None) as waited:
        yield waited


@contextmanager
def _transaction(request: Request, waited: float) -> Iterator[Session]:
    """Open the transaction of the request.

    Before a rollback all loaded rows are detached, so that the error page and the request log can
    still read who was signed in.
    """
    sessions: Sessions = request.app.state.sessions
    factory = sessions.read if request.method in SAFE_METHODS else sessions.write
    with factory.begin() as session:
        try:
            if waited > _LONG_WAIT:
                shorten_lock_wait(session, waited)
            yield session
        except BaseException:
            session.expunge_all()
            raise


def get_session(
    request: Request, waited: Annotated[float, Depends(get_slot, scope="function")]
) -> Iterator[Session]:
    """Yield the session of the request's transaction."""
    with _transaction(request, waited) as session:
        yield session


async def in_transaction(
    request: Request, work: Callable[[Session], T], *, before: Callable[[], None] | None = None
) -> T:
    """Run ``work`` in the request's transaction, with a single switch to a thread.

    With dependencies, a request would switch to a thread four times; judging requests are frequent
    and must be fast. ``before``, which computes for milliseconds, runs first, without a
    transaction.
    """
    key = await admit(request) or None
    waited = 0.0
    if before is not None:
        async with limits_of(request).computing.hold(key=key) as waited:
            await run_in_threadpool(before)
    async with _lane_of(request).hold(waited, key=key) as waited:

        def run() -> T:
            with _transaction(request, waited) as session:
                return work(session)

        return await run_in_threadpool(run)


SessionDep = Annotated[Session, Depends(get_session, scope="function")]


def check_visitor_form(request: Request, sent: SentToken) -> None:
    """Check the CSRF token of a write by a visitor who is not signed in.

    A browser that still has the cookie of a revoked session gets forms bound to that cookie.
    """
    claim = cookies_of(request).claim_of(request)
    nonce = claim.nonce if claim is not None else request.cookies.get(VISITOR_COOKIE)
    check_csrf(request, nonce, sent)


def claimant(request: Request, session: Session) -> tuple[User, Claim]:
    """Return the user signed in by cookie, and the claim of the cookie."""
    claim = required_claim(request)
    user = session.get(User, claim.user_id)
    if user is None or user.session_version != claim.version:
        raise SignInNeeded("Sign in to continue.")
    refuse_unusable(user, visitor_of(request))
    return user, claim


async def sent_token_of_claimant(request: Request, sent: SentToken) -> str | None:
    """Return the CSRF token, after checking it and the session cookie."""
    check_csrf(request, required_claim(request).nonce, sent)
    return sent


ClaimantToken = Annotated[str | None, Depends(sent_token_of_claimant)]


def current_user(request: Request, session: SessionDep, sent: SentToken) -> User:
    """Return the user signed in by cookie; a write needs a valid CSRF token."""
    user, claim = claimant(request, session)
    check_csrf(request, claim.nonce, sent)
    renew_sign_in(request, claim)
    request.state.user = PersonView.of(user)
    return user


def current_person(request: Request, session: Session, sent: str | None) -> PersonView:
    """Return the person signed in by cookie, like `current_user` but from a plain row (faster)."""
    claim = required_claim(request)
    account = account_of(session, claim.user_id, claim.version)
    if account is None:
        raise SignInNeeded("Sign in to continue.")
    refuse_unusable(account, visitor_of(request))
    check_csrf(request, claim.nonce, sent)
    renew_sign_in(request, claim)
    person = PersonView.of(account)
    request.state.user = person
    return person


def renew_sign_in(request: Request, claim: Claim) -> None:
    """Schedule a new cookie when half of the session's lifetime is over."""
    cookies = cookies_of(request)
    if cookies.is_half_over(claim):
        request.state.renewed_session = cookies.renewed_token(claim)


bearer = HTTPBearer(auto_error=False, description="A token created by `topkapi users token`.")


async def sent_credentials(
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> HTTPAuthorizationCredentials:
    """Return the token of an API request; without one, raise before its body is read."""
    if credentials is None:
        raise SignInNeeded(NO_TOKEN)
    return credentials


Credentials = Annotated[HTTPAuthorizationCredentials, Depends(sent_credentials)]


def bearer_of(
    request: Request, session: Session, credentials: HTTPAuthorizationCredentials
) -> Bearer:
    """Return the token of an API request with its owner; raise if it does not allow the request."""
    token = tokens.owner_of(session, credentials.credentials)
    if token.scope is Scope.READ and request.method not in SAFE_METHODS:
        raise Forbidden("This token may only read. Use one with the scope write.")
    refuse_unusable(token.user, visitor_of(request))
    known: KnownTokens = request.app.state.known_tokens
    known.note_valid(credentials.credentials, token.user.id)
    return token


def api_user(request: Request, session: SessionDep, credentials: Credentials) -> PersonView:
    """Return the owner of the bearer token of an API request; cookies are ignored."""
    token = bearer_of(request, session, credentials)
    request.app.state.token_uses.note(token)
    person = PersonView.of(token.user)
    request.state.user = person
    return person


def check_form(request: Request, sent: str | None) -> None:
    """Check the CSRF token of a write by a page; API requests and link holders have none."""
    if request.method in SAFE_METHODS or is_visitor(request) or is_api(request):
        return
    check_csrf(request, required_claim(request).nonce, sent)


def check_csrf(request: Request, nonce: str | None, sent: str | None) -> None:
    """Raise if this is a write whose CSRF token does not belong to the visitor's cookie."""
    if request.method not in SAFE_METHODS and not cookies_of(request).csrf_is_valid(nonce, sent):
        raise BadToken("This form has expired. Reload the page and submit it again.")


def require(request: Request, session: Session, user: Someone, *roles: Role) -> Someone:
    """Raise unless the user has one of ``roles``, and may read the study that the address names.

    All checks of roles and studies go through here. For a researcher without access, the study is
    not there.
    """
    if user.role not in roles:
        raise Forbidden(f"This needs the role {' or '.join(roles)}; yours is {user.role}.")
    if "slug" in request.path_params and user.role is Role.RESEARCHER:
        required_study(session, request.path_params["slug"], user.id)
    return user


def reader_id(user: User | PersonView) -> int | None:
    """Return whose access limits a list of studies; None for administrators, who see all."""
    return None if user.role is Role.ADMIN else user.id


def _with_role(find: Callable[..., Someone], *roles: Role) -> Callable[..., Someone]:
    def check(
        request: Request, session: SessionDep, user: Annotated[Someone, Depends(find)]
    ) -> Someone:
        return require(request, session, user, *roles)

    return check


CurrentUser = Annotated[User, Depends(current_user)]
ResearcherUser = Annotated[User, Depends(_with_role(current_user, *RESEARCH))]
AdminUser = Annotated[User, Depends(_with_role(current_user, Role.ADMIN))]
ApiUser = Annotated[PersonView, Depends(api_user)]
ApiResearcher = Annotated[PersonView, Depends(_with_role(api_user, *RESEARCH))]
ApiAdmin = Annotated[PersonView, Depends(_with_role(api_user, Role.ADMIN))]


def _study(session: SessionDep, slug: Slug) -> Study:
    return required_study(session, slug)


StudyDep = Annotated[Study, Depends(_study)]  # after the user, whose role is checked first
