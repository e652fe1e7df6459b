"""API of people: list, invite, change, disable; links and tokens are sent only once."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from topkapi.app.db.queries.accounts import people as queries
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts import invitations, tokens, users
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.services.accounts.records import PersonRecord, TokenRecord, tokens_of
from topkapi.app.web.access.deps import ApiAdmin, SessionDep
from topkapi.app.web.common.paging import Limit, Number, Offset, Search, say_total
from topkapi.app.web.common.received import Body
from topkapi.app.web.people.invitation_pages import invitation_link
from topkapi.app.web.people.views import InviteForm, Link, TokenForm

router = APIRouter(prefix="/api/v1/users", tags=["people"])


@dataclass(frozen=True, slots=True)
class NewToken(TokenRecord):
    """A new token with its text, which is sent only once."""

    token: str


class InviteIn(InviteForm, Body):
    """The person to invite."""

    email: Annotated[str, Field(max_length=254, examples=["ansa@lehto.example"])]
    name: Annotated[str, Field(max_length=200, examples=["Ansa Lehto"])]


class UserChange(Body):
    """The fields to change; omitted fields stay as they are."""

    role: Role | None = None
    disabled: bool | None = None


class TokenIn(TokenForm, Body):
    """The purpose of the token, what it allows, and the days until it ends (0: it never does)."""

    name: Annotated[str, Field(max_length=100, examples=["notebook"])]


@router.get("")
def get_users(
    session: SessionDep,
    _user: ApiAdmin,
    response: Response,
    search: Search = "",
    role: Role | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[PersonRecord]:
    """List people by name; `X-Total-Count` is their number."""
    people, total = queries.users_page(
        session, search=search, role=role, limit=limit, offset=offset
    )
    say_total(response, total)
    return [PersonRecord.of(user) for user in people]


@router.post("", status_code=201)
def post_user(request: Request, session: SessionDep, user: ApiAdmin, body: InviteIn) -> Link:
    """Create an account without a password, and a link for its owner to set one."""
    made, token = invitations.invite(
        session, email=body.email, name=body.name, role=body.role, actor_id=user.id
    )
    return invitation_link(request, made, token)


@router.get("/{user_id}")
def get_user(session: SessionDep, _user: ApiAdmin, user_id: Number) -> PersonRecord:
    """Return one person."""
    return PersonRecord.of(users.user_of_number(session, user_id))


@router.patch("/{user_id}")
def patch_user(
    session: SessionDep, user: ApiAdmin, user_id: Number, body: UserChange
) -> PersonRecord:
    """Change the role, and disable or enable the account; all or nothing."""
    person = users.user_of_number(session, user_id)
    if body.role is not None and body.role is not person.role:
        users.change_role(session, person, body.role, actor_id=user.id)
    if body.disabled is True:
        users.disable_user(session, person, actor_id=user.id)
    if body.disabled is False:
        users.enable_user(session, person, actor_id=user.id)
    return PersonRecord.of(person)


@router.post("/{user_id}/erase")
def post_user_erase(session: SessionDep, user: ApiAdmin, user_id: Number) -> PersonRecord:
    """Permanently replace name and e-mail with a pseudonym; all judgments are kept."""
    person = users.user_of_number(session, user_id)
    erase_user(session, person, actor_id=user.id)
    return PersonRecord.of(person)


@router.post("/{user_id}/link", status_code=201)
def post_user_link(request: Request, session: SessionDep, user: ApiAdmin, user_id: Number) -> Link:
    """Create a new one-time link for the person; older links stop working."""
    person = users.user_of_number(session, user_id)
    return invitation_link(request, person, invitations.new_link(session, person, actor_id=user.id))


@router.get("/{user_id}/tokens")
def get_tokens(session: SessionDep, _user: ApiAdmin, user_id: Number) -> list[TokenRecord]:
    """List the person's tokens that are not revoked."""
    person = users.user_of_number(session, user_id)
    return tokens_of(session, person.id)


@router.post("/{user_id}/tokens", status_code=201)
def post_user_token(
    session: SessionDep, user: ApiAdmin, user_id: Number, body: TokenIn
) -> NewToken:
    """Create a token for the person's programs."""
    person = users.user_of_number(session, user_id)
    row, plain = tokens.issue_token(session, person, **body.model_dump(), actor_id=user.id)
    return NewToken.of(row, token=plain)


@router.delete("/{user_id}/tokens/{token_id}", status_code=204)
def delete_token(session: SessionDep, user: ApiAdmin, user_id: Number, token_id: Number) -> None:
    """Revoke a token at once."""
    tokens.revoke_token(session, token_id, user_id=user_id, actor_id=user.id)
