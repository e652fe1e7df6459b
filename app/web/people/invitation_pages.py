"""Pages of secret links: a one-time link, and that of a new server's first administrator."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.base import now
from topkapi.app.db.models import User
from topkapi.app.domain.errors import AppError
from topkapi.app.services.accounts import invitations
from topkapi.app.services.accounts.invitations import create_first, refuse_code
from topkapi.app.services.accounts.records import PersonRecord
from topkapi.app.services.accounts.sign_in import refuse_unusable
from topkapi.app.web.access.admission import admit_visitor, read_apart
from topkapi.app.web.access.bodies import VISITOR, limit_body
from topkapi.app.web.access.deps import SessionDep, check_visitor_form
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.accounts.devices import signed_in
from topkapi.app.web.common.cookies import cookies_of
from topkapi.app.web.common.links import public_url, visitor_of
from topkapi.app.web.common.refusals import show_form, try_change
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.people.views import AcceptForm, AcceptView, Link

router = APIRouter(include_in_schema=False)
Token = Annotated[str, Path(max_length=100)]


async def _admit(request: Request, refuse: Callable[[Session], object]) -> None:
    """Refuse an invalid link in a short read of its own, because strangers may try many."""
    lane, address = limits_of(request).strangers, visitor_of(request).address
    await read_apart(request, lane, address, refuse)
    admit_visitor(request)


async def _shown_link(request: Request, token: Token) -> None:
    await _admit(request, lambda session: invitations.owner_of(session, token))


async def _right_code(request: Request, code: Token) -> None:
    await _admit(request, lambda session: refuse_code(session, request.app.state.secret, code))


@router.get("/invitations/{token}", dependencies=[Depends(_shown_link)])
def get_invitation(request: Request, session: SessionDep, token: Token) -> Response:
    """Show the form for name and password, or why the link does not work."""
    user = invitations.owner_of(session, token)
    refuse_unusable(user, visitor_of(request))
    view = AcceptView(token, user.email, user.name, user.password_hash is not None)
    return _page(request, view)


@router.post(
    "/invitations/{token}", dependencies=[Depends(check_visitor_form), Depends(_shown_link)]
)
@limit_body(VISITOR)
def post_invitation(
    request: Request, session: SessionDep, token: Token, form: Annotated[AcceptForm, Form()]
) -> Response:
    """Set name and password, and sign in."""
    user = invitations.owner_of(session, token)
    refuse_unusable(user, visitor_of(request))
    email, has_password = user.email, user.password_hash is not None
    with try_change(session) as tried:
        user = invitations.accept(session, token, name=form.name, password=form.password)
    if tried.refusal:
        view = AcceptView(token, email, form.name, has_password, Refusal.of(tried.refusal))
        return _page(request, view, tried.refusal)
    url = str(request.app.url_path_for("get_start"))
    if user.totp_salt is not None:  # a link replaces the password, not the one-time code
        return RedirectResponse(url, status_code=303)
    return signed_in(request, user, url)


@router.get("/first/{code}", dependencies=[Depends(_right_code)])
def get_first(request: Request, code: Token) -> Response:
    """Show the form for e-mail address, name and password."""
    return _page(request, AcceptView(code, "", "", has_password=False, is_first=True))


@router.post("/first/{code}", dependencies=[Depends(check_visitor_form), Depends(_right_code)])
@limit_body(VISITOR)
def post_first(
    request: Request, session: SessionDep, code: Token, form: Annotated[AcceptForm, Form()]
) -> Response:
    """Create the administrator, and sign in."""
    secret: str = request.app.state.secret
    fields = {"email": form.email, "name": form.name, "password": form.password}
    with try_change(session) as tried:
        user = create_first(session, secret, code, **fields)
    if tried.refusal:
        reason = Refusal.of(tried.refusal)
        view = AcceptView(code, form.email, form.name, False, reason, is_first=True)
        return _page(request, view, tried.refusal)
    response = RedirectResponse(str(request.app.url_path_for("get_start")), status_code=303)
    cookies = cookies_of(request)
    cookies.set_session(response, cookies.session_token(user))
    return response


def invitation_link(request: Request, user: User, token: str) -> Link:
    """Return the one-time link of an invitation, to be shown once."""
    url = public_url(request, str(request.app.url_path_for("get_invitation", token=token)))
    return Link(PersonRecord.of(user), url, now() + invitations.LIFETIME)


def _page(request: Request, view: AcceptView, refusal: AppError | None = None) -> Response:
    """Render the form; the address is a secret, so the page sends no referrer."""
    response = show_form(request, "people/invitation.html", view, refusal)
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
