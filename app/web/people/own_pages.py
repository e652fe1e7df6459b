"""A person's own page: name, password, tokens, sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import ApiToken, User
from topkapi.app.db.queries.accounts.people import tokens_of_user
from topkapi.app.domain.errors import AppError, Invalid, WrongCredentials
from topkapi.app.services.accounts import passwords, tokens, users
from topkapi.app.web.access.deps import CurrentUser, SessionDep
from topkapi.app.web.accounts.forms import OwnName, OwnPassword
from topkapi.app.web.common.cookies import Cookies
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import PersonView
from topkapi.app.web.people.forms import TokenForm
from topkapi.app.web.people.views import Refusal

router = APIRouter(prefix="/me", include_in_schema=False)
_DONE = {"name": "Your name is saved.", "password": "Your password is changed."}


@dataclass(frozen=True, slots=True)
class OwnView:
    """The signed-in person with their tokens; ``token`` is a new one, shown once."""

    person: PersonView
    tokens: Sequence[ApiToken]
    token: str | None = None
    done: str = ""
    refusal: Refusal | None = None


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
        users.rename(session, user, form.name)
    except Invalid as refusal:
        return _show(request, session, user, refusal)
    return _back(request, "name")


@router.post("/password")
def post_own_password(
    request: Request, session: SessionDep, user: CurrentUser, form: Annotated[OwnPassword, Form()]
) -> Response:
    """Change the password; the current one confirms it, and every other session ends."""
    if not passwords.matches(user.password_hash, form.current):
        wrong = Invalid("The current password is incorrect.", field="current")
        return _show(request, session, user, wrong)
    try:
        with session.begin_nested():
            users.set_password(session, user, form.password, actor_id=user.id)
    except (Invalid, WrongCredentials) as refusal:
        return _show(request, session, user, refusal)
    response = _back(request, "password")
    cookies: Cookies = request.app.state.cookies
    cookies.set_session(response, cookies.session_token(user))
    return response


@router.post("/tokens")
def post_own_token(
    request: Request, session: SessionDep, user: CurrentUser, form: Annotated[TokenForm, Form()]
) -> Response:
    """Create a token for programs and show it once."""
    try:
        _, plain = tokens.issue_token(session, user, form.name, actor_id=user.id)
    except Invalid as refusal:
        return _show(request, session, user, Invalid(str(refusal), field="token"))
    return _show(request, session, user, token=plain, status=201)


@router.post("/tokens/{token_id}/revoke")
def post_own_revoke(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    token_id: Annotated[int, Path(ge=1, le=2**31 - 1)],
) -> Response:
    """Revoke one of the person's tokens at once."""
    tokens.revoke_token(session, token_id, user_id=user.id, actor_id=user.id)
    return _back(request, "")


def _show(
    request: Request,
    session: Session,
    user: User,
    refusal: AppError | None = None,
    *,
    token: str | None = None,
    done: str = "",
    status: int = 200,
) -> Response:
    view = OwnView(
        person=PersonView.of(user),
        tokens=tokens_of_user(session, user.id),
        token=token,
        done=done,
        refusal=Refusal.of(refusal) if refusal else None,
    )
    return render(request, "people/me.html", view, status=status_of(refusal) if refusal else status)


def _back(request: Request, done: str) -> Response:
    url = str(request.app.url_path_for("get_me_page"))
    return RedirectResponse(f"{url}?done={done}" if done else url, status_code=303)
