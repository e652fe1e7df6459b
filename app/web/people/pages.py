"""People: the list, invitations, and changes to one account."""

from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.base import now
from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts import people as queries
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError, Conflict, Invalid, NotFound
from topkapi.app.services.accounts import invitations, tokens, users
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.web.access.deps import AdminUser, SessionDep
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.paging import LARGEST_PAGE, Choices, Paging, offset_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.people.forms import InviteForm, RoleForm, TokenForm
from topkapi.app.web.people.views import Link, PeopleView, PersonPageView, PersonRow, TokenRow

router = APIRouter(prefix="/people", include_in_schema=False)
SIZE = 50
UserId = Annotated[int, Path(ge=1, le=2**31 - 1)]
PageNumber = Annotated[int, Query(ge=1, le=LARGEST_PAGE)]
_REFUSALS = (Invalid, Conflict, NotFound)


@router.get("")
def get_people(
    request: Request,
    session: SessionDep,
    _user: AdminUser,
    search: Annotated[str, Query(max_length=200)] = "",
    role: Role | None = None,
    sort: Annotated[str, Query(pattern="^-?(name|email|role|created)$")] = "name",
    page: PageNumber = 1,
) -> Response:
    """List people, one page at a time."""
    view = _people(session, request, search=search, role=role, sort=sort, page=page)
    return render(request, "people/page.html", view)


@router.post("")
def post_person(
    request: Request, session: SessionDep, user: AdminUser, form: Annotated[InviteForm, Form()]
) -> Response:
    """Create an account and show the link with which its owner sets a password."""
    actor_id = user.id
    try:
        with session.begin_nested():
            made, token = invitations.invite(
                session, email=form.email, name=form.name, role=form.role, actor_id=actor_id
            )
    except (Invalid, Conflict) as refusal:
        view = _people(session, request, form=form, refusal=Refusal.of(refusal))
        return render(request, "people/page.html", view, status=status_of(refusal))
    link = _link(request, made.email, token)
    return render(request, "people/page.html", _people(session, request, link=link), status=201)


@router.get("/{user_id}")
def get_person(request: Request, session: SessionDep, user: AdminUser, user_id: UserId) -> Response:
    """Show one person."""
    person = users.user_of_number(session, user_id)
    return render(request, "people/person.html", _person(session, user, person))


@router.post("/{user_id}/link")
def post_link(request: Request, session: SessionDep, user: AdminUser, user_id: UserId) -> Response:
    """Create a new one-time link; the current password works until the link is used."""
    person = users.user_of_number(session, user_id)
    try:
        with session.begin_nested():
            token = invitations.new_link(session, person, actor_id=user.id)
    except Conflict as refusal:
        return _refuse(request, session, user, user_id, refusal)
    link = _link(request, person.email, token)
    return render(request, "people/person.html", _person(session, user, person, link=link))


@router.post("/{user_id}/role")
def post_role(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    user_id: UserId,
    form: Annotated[RoleForm, Form()],
) -> Response:
    """Change the role."""
    person = users.user_of_number(session, user_id)
    try:
        with session.begin_nested():
            users.change_role(session, person, form.role, actor_id=user.id)
    except Conflict as refusal:
        return _refuse(request, session, user, user_id, refusal)
    return _to_person(request, user_id)


@router.post("/{user_id}/disable")
def post_disable(
    request: Request, session: SessionDep, user: AdminUser, user_id: UserId
) -> Response:
    """Refuse further sign-ins and end the current sessions."""
    person = users.user_of_number(session, user_id)
    try:
        with session.begin_nested():
            users.disable_user(session, person, actor_id=user.id)
    except Conflict as refusal:
        return _refuse(request, session, user, user_id, refusal)
    return _to_person(request, user_id)


@router.post("/{user_id}/enable")
def post_enable(
    request: Request, session: SessionDep, user: AdminUser, user_id: UserId
) -> Response:
    """Let a disabled person sign in again."""
    users.enable_user(session, users.user_of_number(session, user_id), actor_id=user.id)
    return _to_person(request, user_id)


@router.post("/{user_id}/erase")
def post_erase(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    user_id: UserId,
    email: Annotated[str, Form(max_length=254)] = "",
) -> Response:
    """Replace name and e-mail by a pseudonym, for good; the e-mail address confirms it."""
    person = users.user_of_number(session, user_id)
    try:
        with session.begin_nested():
            if email.strip().lower() != person.email:
                raise Conflict(f"To erase this person, enter the e-mail address {person.email}.")
            erase_user(session, person, actor_id=user.id)
    except Conflict as refusal:
        return _refuse(request, session, user, user_id, refusal)
    return _to_person(request, user_id)


@router.post("/{user_id}/tokens")
def post_token(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    user_id: UserId,
    form: Annotated[TokenForm, Form()],
) -> Response:
    """Create a token for programs and show it once."""
    person = users.user_of_number(session, user_id)
    try:
        with session.begin_nested():
            _, plain = tokens.issue_token(session, person, **form.model_dump(), actor_id=user.id)
    except _REFUSALS as refusal:
        return _refuse(request, session, user, user_id, refusal)
    view = _person(session, user, person, token=plain)
    return render(request, "people/person.html", view, status=201)


@router.post("/{user_id}/tokens/{token_id}/revoke")
def post_revoke(
    request: Request, session: SessionDep, user: AdminUser, user_id: UserId, token_id: UserId
) -> Response:
    """Revoke a token at once."""
    tokens.revoke_token(session, token_id, user_id=user_id, actor_id=user.id)
    return _to_person(request, user_id)


def _people(
    session: Session,
    request: Request,
    *,
    search: str = "",
    role: Role | None = None,
    sort: str = "name",
    page: int = 1,
    form: InviteForm | None = None,
    link: Link | None = None,
    refusal: Refusal | None = None,
) -> PeopleView:
    found, total = queries.users_page(
        session,
        search=search.strip(),
        role=role,
        sort=sort.removeprefix("-"),
        descending=sort.startswith("-"),
        limit=SIZE,
        offset=offset_of(page, SIZE),
    )
    ids = [user.id for user in found]
    work = queries.work_counts(session, ids)
    links = queries.open_links(session, ids, now())
    path = str(request.app.url_path_for("get_people"))
    return PeopleView(
        rows=[PersonRow.of(each, links.get(each.id), work.get(each.id, (0, 0))) for each in found],
        paging=Paging(page, SIZE, total),
        choices=Choices(path, {"search": search, "role": role, "sort": sort}),
        search=search,
        role=role,
        form=form or InviteForm(),
        link=link,
        refusal=refusal,
    )


def _person(
    session: Session,
    me: User,
    person: User,
    *,
    link: Link | None = None,
    token: str | None = None,
    refusal: Refusal | None = None,
) -> PersonPageView:
    work = queries.work_counts(session, [person.id]).get(person.id, (0, 0))
    waiting = queries.open_links(session, [person.id], now()).get(person.id)
    return PersonPageView(
        row=PersonRow.of(person, waiting, work),
        tokens=[TokenRow.of(each) for each in queries.tokens_of_user(session, person.id)],
        is_me=person.id == me.id,
        link=link,
        token=token,
        refusal=refusal,
    )


def _refuse(
    request: Request, session: Session, me: User, user_id: int, refusal: AppError
) -> Response:
    person = users.user_of_number(session, user_id)
    view = _person(session, me, person, refusal=Refusal.of(refusal))
    return render(request, "people/person.html", view, status=status_of(refusal))


def _link(request: Request, email: str, token: str) -> Link:
    url = public_url(request, str(request.app.url_path_for("get_invitation", token=token)))
    return Link(email, url, now() + invitations.LIFETIME)


def _to_person(request: Request, user_id: int) -> Response:
    url = request.app.url_path_for("get_person", user_id=user_id)
    return RedirectResponse(str(url), status_code=303)
