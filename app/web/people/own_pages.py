"""A person's own page: name, password, tokens, sessions, and a copy of their data."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.concurrency import run_in_threadpool
from markupsafe import Markup
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import User
from topkapi.app.db.queries.crowds import is_crowd
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError, Conflict, Invalid, TooManyAttempts
from topkapi.app.services.accounts import tokens, users
from topkapi.app.services.accounts.own_data import own_data
from topkapi.app.services.accounts.records import TokenRecord, tokens_of
from topkapi.app.services.accounts.sign_in import Authenticator
from topkapi.app.services.accounts.totp import (
    Codes,
    recovery_codes_left,
    renew_recovery_codes,
    turn_off,
)
from topkapi.app.web.access.deps import CurrentUser, RowId, SentToken, SessionDep, check_form
from topkapi.app.web.access.downloads import OwnSession, spooled
from topkapi.app.web.access.early_auth import EarlyPerson
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.accounts.views import OwnName, OwnPassword
from topkapi.app.web.common.cookies import cookies_of
from topkapi.app.web.common.links import visitor_of
from topkapi.app.web.common.refusals import show_form, try_change
from topkapi.app.web.common.views import PersonView, Refusal
from topkapi.app.web.people.views import TokenForm

router = APIRouter(prefix="/me", include_in_schema=False)
_DONE = {
    "name": "Your name is saved.",
    "password": "Your password is changed.",
    "on": "One-time codes are on: the next sign-in asks for one.",
    "off": "One-time codes are off.",
}


@dataclass(frozen=True, slots=True)
class OwnView:
    """The signed-in person with their tokens; ``token`` is a new one, shown once.

    ``recovery`` are new recovery codes, shown once; ``recovery_left`` of them are unused.

    ``is_crowd``: the account was made by an entry link, and has a pseudonym instead of a password.
    """

    person: PersonView
    tokens: Sequence[TokenRecord]
    token: str | None = None
    done: str = ""
    refusal: Refusal | None = None
    is_crowd: bool = False
    has_codes: bool = False
    new_codes: "NewCodes | None" = None
    recovery: Sequence[str] = ()
    recovery_left: int = 0


@dataclass(frozen=True, slots=True)
class NewCodes:
    """What an authenticator app needs to show one-time codes; ``salt`` is what would be stored."""

    salt: str
    secret: str
    address: str

    @property
    def qr_code(self) -> Markup:
        """The address as a QR code, black on white in either colour scheme."""
        from segno import make

        drawn = make(self.address, micro=False)
        return Markup(drawn.svg_inline(scale=4, light="#fff", title="QR code of the secret"))


@router.get("")
def get_me_page(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    done: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Show the person's own account."""
    return _show(request, session, user, done=_DONE.get(done, ""))


@router.post("/name")
def post_own_name(
    request: Request, session: SessionDep, user: CurrentUser, form: Annotated[OwnName, Form()]
) -> Response:
    """Change the person's name."""
    try:
        _refuse_crowd(session, user)
        users.rename(session, user, form.name)
    except (Invalid, Conflict) as refusal:
        return _show(request, session, user, refusal)
    return _back(request, "name")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What was sent with the current password, and why that was refused."""

    form: OwnPassword
    refusal: AppError | None


async def _confirmed(
    request: Request, person: EarlyPerson, sent: SentToken, form: Annotated[OwnPassword, Form()]
) -> Confirmed:
    """Check the current password before the transaction, throttled as signing in is."""
    check_form(request, sent)
    authenticator: Authenticator = request.app.state.authenticator
    device = request.app.state.devices.device_of(request)
    refusal: AppError | None = None
    async with limits_of(request).sign_in.hold(key=person.id):
        try:
            await run_in_threadpool(
                authenticator.confirm, person.email, form.current, visitor_of(request), device
            )
        except (Invalid, TooManyAttempts) as wrong:
            refusal = wrong
    return Confirmed(form, refusal)


@router.post("/password")
def post_own_password(
    request: Request,
    new: Annotated[Confirmed, Depends(_confirmed)],
    session: SessionDep,
    user: CurrentUser,
) -> Response:
    """Change the password; the current one confirms it, and every other session ends."""
    if new.refusal is not None:
        return _show(request, session, user, new.refusal)
    with try_change(session) as tried:
        users.set_password(session, user, new.form.password, actor_id=user.id)
    if tried.refusal:
        return _show(request, session, user, tried.refusal)
    response = _back(request, "password")
    cookies = cookies_of(request)
    cookies.set_session(response, cookies.session_token(user))
    return response


@router.post("/codes")
def post_own_codes(
    request: Request,
    new: Annotated[Confirmed, Depends(_confirmed)],
    session: SessionDep,
    user: CurrentUser,
) -> Response:
    """Turn one-time codes on, with a salt and a code, or off, or renew the recovery codes.

    The current password confirms it.
    """
    codes: Codes = request.app.state.codes
    salt, recovery = new.form.salt, []
    try:
        if new.refusal is not None:
            raise new.refusal
        if salt:
            recovery = codes.turn_on(session, user, salt, new.form.code)
        elif new.form.renew:
            recovery = renew_recovery_codes(session, user)
        else:
            turn_off(session, user, actor_id=user.id)
    except Invalid as refusal:
        return _show(request, session, user, Invalid(str(refusal), field="code"), salt=salt)
    except (Conflict, TooManyAttempts) as refusal:
        return _show(request, session, user, refusal, salt=salt)
    if not recovery:
        return _back(request, "off")
    done = _DONE["on"] if salt else ""
    return _show(request, session, user, recovery=recovery, done=done, status=201)


@router.get("/data")
def get_own_data(person: EarlyPerson, session: OwnSession) -> Response:
    """Download everything that is stored about the person, as JSON."""
    user = users.user_of_number(session, person.id)
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    chunks = (chunk.encode() for chunk in own_data(session, user))
    return spooled(chunks, "application/json", headers)


@router.post("/tokens")
def post_own_token(
    request: Request, session: SessionDep, user: CurrentUser, form: Annotated[TokenForm, Form()]
) -> Response:
    """Create a token for programs and show it once."""
    with try_change(session) as tried:
        _, plain = tokens.issue_token(session, user, **form.model_dump(), actor_id=user.id)
    if tried.refusal:
        return _show(request, session, user, Invalid(str(tried.refusal), field="token"))
    return _show(request, session, user, token=plain, status=201)


@router.post("/tokens/{token_id}/revoke")
def post_own_revoke(
    request: Request, session: SessionDep, user: CurrentUser, token_id: RowId
) -> Response:
    """Revoke one of the person's tokens at once."""
    tokens.revoke_token(session, token_id, user_id=user.id, actor_id=user.id)
    return _back(request, "")


def _refuse_crowd(session: Session, user: User) -> None:
    if is_crowd(session, user.id):
        raise Conflict("You joined through an entry link; the name of your account is a pseudonym.")


def _show(
    request: Request,
    session: Session,
    user: User,
    refusal: AppError | None = None,
    *,
    token: str | None = None,
    done: str = "",
    status: int = 200,
    salt: str = "",
    recovery: Sequence[str] = (),
) -> Response:
    has_codes = user.totp_salt is not None
    view = OwnView(
        person=PersonView.of(user),
        tokens=tokens_of(session, user.id),
        token=token,
        done=done,
        refusal=Refusal.of(refusal),
        is_crowd=is_crowd(session, user.id),
        has_codes=has_codes,
        recovery=recovery,
        recovery_left=recovery_codes_left(session, user.id),
        new_codes=None if has_codes or user.role is not Role.ADMIN else _codes(request, user, salt),
    )
    return show_form(request, "people/me.html", view, refusal, status)


def _codes(request: Request, user: User, salt: str) -> NewCodes:
    codes: Codes = request.app.state.codes
    salt = salt or secrets.token_urlsafe(16)
    return NewCodes(salt, codes.secret_of(user.id, salt), codes.address_of(user, salt))


def _back(request: Request, done: str) -> Response:
    url = str(request.app.url_path_for("get_me_page"))
    return RedirectResponse(f"{url}?done={done}" if done else url, status_code=303)
