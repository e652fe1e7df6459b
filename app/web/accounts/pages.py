"""Sign-in and sign-out, a person's own keys on the judging page, and the owner of a token."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.queries.accounts.accounts import any_users, demo_users
from topkapi.app.domain.errors import (
    AppError,
    CodeNeeded,
    Forbidden,
    Invalid,
    TooManyAttempts,
    WrongCredentials,
)
from topkapi.app.domain.shortcuts import ACTIONS, KEYS, chosen_keys, keys_of
from topkapi.app.installation.demo_accounts import DEMO_PASSWORD
from topkapi.app.services.accounts import users
from topkapi.app.services.accounts.oidc import Provider
from topkapi.app.services.accounts.sign_in import Authenticator
from topkapi.app.web.access.bodies import VISITOR, limit_body
from topkapi.app.web.access.deps import ApiUser, CurrentUser, check_visitor_form
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.accounts.devices import signed_in
from topkapi.app.web.accounts.views import KeysForm, KeysView, SignInForm, SignInView
from topkapi.app.web.common.cookies import cookies_of
from topkapi.app.web.common.links import landing, local_path, visitor_of
from topkapi.app.web.common.refusals import show_form
from topkapi.app.web.common.views import PersonView

router = APIRouter(include_in_schema=False)
_EXPIRED = "Your session has expired. Sign in to continue where you left off."
_REASONS = {
    "expired": _EXPIRED,
    "kept": f"{_EXPIRED} Your last answer is stored in this browser and is saved as soon as "
    "you have signed in.",
    "unsaved": "Your session has expired, and your change was not saved. Sign in to return to its "
    "page, and make the change again.",
}


async def _hold_sign_in(request: Request) -> AsyncIterator[None]:
    """Hold a slot: to hash a password, or only to query the database for the page.

    Devices on which somebody has signed in before do not wait for others at their address, and
    nobody waits for tokens and links that are tried from it.
    """
    limits = limits_of(request)
    device = request.app.state.devices.device_of(request)
    key = device.id if device else ("sign-in", visitor_of(request).address)
    lane = limits.sign_in if request.method == "POST" else limits.strangers
    async with lane.hold(key=key):
        yield


SIGN_IN_PLACE = Depends(_hold_sign_in, scope="function")


@router.get("/sign-in", dependencies=[SIGN_IN_PLACE])
def get_sign_in(request: Request, next: str = "/", reason: str = "") -> Response:
    """Show the sign-in form; a browser on this machine also sees the demo accounts.

    ``reason`` says why a person is back here: ``expired``, ``kept`` if an answer is waiting, or
    ``unsaved`` if a form was sent too late; any other is ignored.
    """
    known = reason if reason in _REASONS else ""
    return show_sign_in(request, SignInForm(next=next, reason=known))


@router.post("/sign-in", dependencies=[Depends(check_visitor_form), SIGN_IN_PLACE])
@limit_body(VISITOR)
def post_sign_in(request: Request, form: Annotated[SignInForm, Form()]) -> Response:
    """Check e-mail, password and one-time code, then redirect to the page the person wanted."""
    authenticator: Authenticator = request.app.state.authenticator
    try:
        user = authenticator.sign_in(
            form.email,
            form.password,
            visitor_of(request),
            request.app.state.devices.device_of(request),
            code=form.recovery or form.code,
        )
    except (WrongCredentials, TooManyAttempts, Forbidden) as refusal:
        return show_sign_in(request, form, refusal)
    return signed_in(request, user, landing(request, form.next))


@router.post("/sign-out")
def post_sign_out(request: Request, user: CurrentUser) -> Response:
    """End all sessions of the person, this one included."""
    users.end_sessions(user)
    response = RedirectResponse(str(request.app.url_path_for("get_sign_in")), status_code=303)
    cookies_of(request).clear_session(response)
    return response


def show_sign_in(request: Request, form: SignInForm, refusal: AppError | None = None) -> Response:
    """Show the form, with the reason of a refusal."""
    view = SignInView(
        email=form.email[:254],
        next=form.next,
        reason=form.reason,
        notice=_REASONS.get(form.reason),
        error=str(refusal) if refusal else None,
        demo_accounts=_demo_accounts(request),
        demo_password=DEMO_PASSWORD,
        no_accounts=_has_no_accounts(request),
        asks_code=isinstance(refusal, CodeNeeded),
        elsewhere=_elsewhere(request),
    )
    return show_form(request, "accounts/sign_in.html", view, refusal)


def _elsewhere(request: Request) -> str:
    """Return the host of the OpenID provider; empty if there is none."""
    provider: Provider | None = request.app.state.oidc
    return urlsplit(provider.issuer).netloc if provider else ""


def _has_no_accounts(request: Request) -> bool:
    with request.app.state.sessions.read() as session:
        return not any_users(session)


def _demo_accounts(request: Request) -> Sequence[PersonView]:
    if not visitor_of(request).on_loopback:
        return ()
    with request.app.state.sessions.read() as session:
        return [PersonView.of(each) for each in demo_users(session)]


@router.get("/keys")
def get_keys(request: Request, user: CurrentUser, next: str = "/") -> Response:
    """Show the keys of the person, each with a choice."""
    return _show_keys(request, keys_of(user.keys), local_path(next))


@router.post("/keys")
def post_keys(request: Request, user: CurrentUser, form: Annotated[KeysForm, Form()]) -> Response:
    """Store the chosen keys, or the default keys, and return to where the person came from."""
    wanted = {} if form.reset else form.keys
    try:
        user.keys = chosen_keys(wanted) or None
    except Invalid as refusal:
        return _show_keys(request, keys_of(wanted), form.next, refusal)
    return RedirectResponse(landing(request, form.next), status_code=303)


def _show_keys(
    request: Request, keys: Mapping[str, str], next: str, refusal: Invalid | None = None
) -> Response:
    view = KeysView(
        rows=[(action.name, action.label, keys[action.name]) for action in ACTIONS],
        keys=KEYS,
        next=next,
        error=str(refusal) if refusal else None,
    )
    return show_form(request, "accounts/keys.html", view, refusal)


api_router = APIRouter(prefix="/api/v1", tags=["account"])


@api_router.get("/me")
def get_me(user: ApiUser) -> PersonView:
    """Return the owner of the token."""
    return user
