"""People: the list, invitations, and changes to one account."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts import people as queries
from topkapi.app.db.queries.progress import open_studies
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError, Conflict
from topkapi.app.services.accounts import invitations, tokens, users
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.services.accounts.records import listed_people, tokens_of
from topkapi.app.services.heads import StudyName
from topkapi.app.services.state.study import studies_of_person
from topkapi.app.web.access.deps import AdminUser, RowId, SessionDep
from topkapi.app.web.common.paging import Choices, PageNumber, Search, paged
from topkapi.app.web.common.refusals import show_form, try_change
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.people.invitation_pages import invitation_link
from topkapi.app.web.people.views import (
    InviteForm,
    Link,
    PeopleView,
    PersonPageView,
    RoleForm,
    TokenForm,
)

router = APIRouter(prefix="/people", include_in_schema=False)
SIZE = 50


@router.get("")
def get_people(
    request: Request,
    session: SessionDep,
    _user: AdminUser,
    search: Search = "",
    role: Role | None = None,
    group: Annotated[str, Query(pattern="^(|crowd)$")] = "",
    sort: Annotated[str, Query(pattern=f"^-?({'|'.join(queries.SORTS)})$")] = "name",
    page: PageNumber = 1,
) -> Response:
    """List people, one page at a time."""
    view = _people(session, request, search=search, role=role, group=group, sort=sort, page=page)
    return render(request, "people/page.html", view)


@router.post("")
def post_person(
    request: Request, session: SessionDep, user: AdminUser, form: Annotated[InviteForm, Form()]
) -> Response:
    """Create an account and show the link with which its owner sets a password."""
    actor_id, link = user.id, None
    with try_change(session) as tried:
        made, token = invitations.invite(
            session, email=form.email, name=form.name, role=form.role, actor_id=actor_id
        )
        form, link = InviteForm(), invitation_link(request, made, token)
    refusal = tried.refusal
    view = _people(session, request, form=form, link=link, refusal=Refusal.of(refusal))
    return show_form(request, "people/page.html", view, refusal, 201)


@dataclass(frozen=True, slots=True)
class PersonVisit:
    """A request of an administrator about one person."""

    request: Request
    session: Session
    me: User
    person: User


def _visit(request: Request, session: SessionDep, user: AdminUser, user_id: RowId) -> PersonVisit:
    return PersonVisit(request, session, user, users.user_of_number(session, user_id))


Visit = Annotated[PersonVisit, Depends(_visit)]


@router.get("/{user_id}")
def get_person(visit: Visit) -> Response:
    """Show one person."""
    return _show(visit)


@router.post("/{user_id}/link")
def post_link(visit: Visit) -> Response:
    """Create a new one-time link; the current password works until the link is used."""
    link = None
    with try_change(visit.session) as tried:
        token = invitations.new_link(visit.session, visit.person, actor_id=visit.me.id)
        link = invitation_link(visit.request, visit.person, token)
    return _show(visit, tried.refusal, link=link)


@router.post("/{user_id}/role")
def post_role(visit: Visit, form: Annotated[RoleForm, Form()]) -> Response:
    """Change the role."""
    return _changed(visit, partial(users.change_role, role=form.role))


@router.post("/{user_id}/disable")
def post_disable(visit: Visit) -> Response:
    """Refuse further sign-ins and end the current sessions."""
    return _changed(visit, users.disable_user)


@router.post("/{user_id}/enable")
def post_enable(visit: Visit) -> Response:
    """Let a disabled person sign in again."""
    return _changed(visit, users.enable_user)


@router.post("/{user_id}/erase")
def post_erase(visit: Visit, email: Annotated[str, Form(max_length=254)] = "") -> Response:
    """Replace name and e-mail by a pseudonym, for good; the e-mail address confirms it."""
    if email.strip().lower() != visit.person.email:
        wanted = visit.person.email
        return _show(visit, Conflict(f"To erase this person, enter the e-mail address {wanted}."))
    return _changed(visit, erase_user)


@router.post("/{user_id}/tokens")
def post_token(visit: Visit, form: Annotated[TokenForm, Form()]) -> Response:
    """Create a token for programs and show it once."""
    session, person, chosen, plain = visit.session, visit.person, form.model_dump(), None
    with try_change(session) as tried:
        _, plain = tokens.issue_token(session, person, **chosen, actor_id=visit.me.id)
    return _show(visit, tried.refusal, token=plain)


@router.post("/{user_id}/tokens/{token_id}/revoke")
def post_revoke(visit: Visit, token_id: RowId) -> Response:
    """Revoke a token at once."""
    tokens.revoke_token(visit.session, token_id, user_id=visit.person.id, actor_id=visit.me.id)
    return _to_person(visit)


def _changed(visit: PersonVisit, change: Callable[..., object]) -> Response:
    """Change the person and show them, or show why that was refused."""
    with try_change(visit.session) as tried:
        change(visit.session, visit.person, actor_id=visit.me.id)
    return _show(visit, tried.refusal) if tried.refusal else _to_person(visit)


def _show(
    visit: PersonVisit,
    refusal: AppError | None = None,
    *,
    link: Link | None = None,
    token: str | None = None,
) -> Response:
    session, person = visit.session, visit.person
    view = PersonPageView(
        row=listed_people(session, [person])[0],
        tokens=tokens_of(session, person.id),
        studies=studies_of_person(session, person.id, visit.request.app.state.snapshots),
        is_me=person.id == visit.me.id,
        link=link,
        token=token,
        refusal=Refusal.of(refusal),
    )
    return show_form(visit.request, "people/person.html", view, refusal, 201 if token else 200)


def _people(
    session: Session,
    request: Request,
    *,
    search: str = "",
    role: Role | None = None,
    group: str = "",
    sort: str = "name",
    page: int = 1,
    form: InviteForm | None = None,
    link: Link | None = None,
    refusal: Refusal | None = None,
) -> PeopleView:
    listed, paging = paged(
        page,
        SIZE,
        lambda offset: queries.users_page(
            session,
            search=search.strip(),
            role=role,
            crowd=group == "crowd",
            sort=sort.removeprefix("-"),
            descending=sort.startswith("-"),
            limit=SIZE,
            offset=offset,
        ),
    )
    path = str(request.app.url_path_for("get_people"))
    return PeopleView(
        rows=listed_people(session, listed),
        paging=paging,
        choices=Choices(path, {"search": search, "role": role, "group": group, "sort": sort}),
        search=search,
        role=role,
        group=group,
        counts={each: queries.users_page(session, crowd=bool(each))[1] for each in ("", "crowd")},
        form=form or InviteForm(),
        studies=[StudyName.of(each) for each in open_studies(session)[:3]] if link else (),
        link=link,
        refusal=refusal,
    )


def _to_person(visit: PersonVisit) -> Response:
    url = visit.request.app.url_path_for("get_person", user_id=visit.person.id)
    return RedirectResponse(str(url), status_code=303)
