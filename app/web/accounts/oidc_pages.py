"""Signing in at an OpenID provider, beside passwords."""

from dataclasses import astuple

from fastapi import APIRouter, Request
from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.responses import RedirectResponse, Response

from topkapi.app.domain.errors import AppError, Forbidden, NotFound
from topkapi.app.services.accounts.oidc import MALFORMED, PendingSignIn, Provider
from topkapi.app.services.accounts.sign_in import Authenticator
from topkapi.app.web.accounts.devices import signed_in
from topkapi.app.web.accounts.pages import SIGN_IN_PLACE, show_sign_in
from topkapi.app.web.accounts.views import SignInForm
from topkapi.app.web.common.cookies import set_cookie
from topkapi.app.web.common.links import landing, local_path, public_url, visitor_of
from topkapi.app.web.common.prefix import prefix

PENDING_COOKIE = "topkapi_oidc"
_SECONDS = 600  # to sign in at the provider
router = APIRouter(include_in_schema=False, dependencies=[SIGN_IN_PLACE])


@router.get("/sign-in/oidc")
def get_oidc(request: Request, next: str = "/") -> Response:
    """Send the person to the provider."""
    provider = _provider(request)
    try:
        address, pending = provider.begin(_callback(request), local_path(next))
    except MALFORMED:
        refusal = Forbidden("The other site does not answer. Sign in with your password.")
        return show_sign_in(request, SignInForm(next=next), refusal)
    response = RedirectResponse(address, status_code=303)
    value = str(_serializer(request).dumps(astuple(pending)))
    secure = request.app.state.settings.secure_cookies
    set_cookie(response, PENDING_COOKIE, value, max_age=_SECONDS, secure=secure)
    return response


@router.get("/sign-in/oidc/callback")
def get_oidc_callback(request: Request, code: str = "", state: str = "") -> Response:
    """Sign in the person whom the provider sends back, if they have an account here."""
    provider = _provider(request)
    authenticator: Authenticator = request.app.state.authenticator
    next = "/"
    try:
        pending = _pending(request)
        next = pending.next
        person = provider.identity(pending, _callback(request), code, state)
        user = authenticator.sign_in_elsewhere(person, visitor_of(request))
    except AppError as refusal:
        return show_sign_in(request, SignInForm(next=next), refusal)
    response = signed_in(request, user, landing(request, next))
    response.delete_cookie(PENDING_COOKIE, path=prefix() or "/")
    return response


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.oidc
    if provider is None:
        raise NotFound("Signing in at another site is not set up.")
    return provider


def _callback(request: Request) -> str:
    return public_url(request, str(request.app.url_path_for("get_oidc_callback")))


def _serializer(request: Request) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(request.app.state.secret, salt="oidc")


def _pending(request: Request) -> PendingSignIn:
    sent = request.cookies.get(PENDING_COOKIE, "")
    try:
        return PendingSignIn(*_serializer(request).loads(sent, max_age=_SECONDS))
    except (BadData, TypeError):
        raise Forbidden("This sign-in has expired, or began in another browser.") from None
