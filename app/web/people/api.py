"""API of people: list, invite, change, disable; links and tokens are sent only once."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from topkapi.app.db.base import now
from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts import people as queries
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts import invitations, tokens, users
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.web.access.deps import ApiAdmin, SessionDep
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.paging import Limit, Number, Offset, say_total
from topkapi.app.web.common.received import Body
from topkapi.app.web.people.views import InviteForm, TokenForm, TokenRow

router = APIRouter(prefix="/api/v1/users", tags=["people"])


class UserOut(BaseModel):
    """A person."""

    id: int
    email: str
    name: str
    role: Role
    disabled: bool
    has_password: bool
    machine: bool
    created_at: datetime

    @classmethod
    def of(cls, user: User) -> "UserOut":
        """Return the response for ``user``."""
        return cls(
            id=user.id,
            email=user.email,
            name=user.name,
            role=user.role,
            disabled=user.disabled_at is not None,
            has_password=user.password_hash is not None,
            machine=user.machine,
            created_at=user.created_at,
        )


class InvitationOut(BaseModel):
    """A one-time link; it cannot be retrieved again.

    `url` begins with the server's public address, or with `/` if that is not configured.
    """

    user: UserOut
    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewToken(TokenRow):
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
    search: Annotated[str, Query(max_length=200)] = "",
    role: Role | None = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[UserOut]:
    """List people by name; `X-Total-Count` is their number."""
    found, total = queries.users_page(session, search=search, role=role, limit=limit, offset=offset)
    say_total(response, total)
    return [UserOut.of(user) for user in found]


@router.post("", status_code=201)
def post_user(
    request: Request, session: SessionDep, user: ApiAdmin, body: InviteIn
) -> InvitationOut:
    """Create an account without a password, and a link for its owner to set one."""
    made, token = invitations.invite(
        session, email=body.email, name=body.name, role=body.role, actor_id=user.id
    )
    return _link_out(request, made, token)


@router.get("/{user_id}")
def get_user(session: SessionDep, _user: ApiAdmin, user_id: Number) -> UserOut:
    """Return one person."""
    return UserOut.of(users.user_of_number(session, user_id))


@router.patch("/{user_id}")
def patch_user(session: SessionDep, user: ApiAdmin, user_id: Number, body: UserChange) -> UserOut:
    """Change the role, and disable or enable the account; all or nothing."""
    person = users.user_of_number(session, user_id)
    if body.role is not None and body.role is not person.role:
        users.change_role(session, person, body.role, actor_id=user.id)
    if body.disabled is True:
        users.disable_user(session, person, actor_id=user.id)
    if body.disabled is False:
        users.enable_user(session, person, actor_id=user.id)
    return UserOut.of(person)


@router.post("/{user_id}/erase")
def post_user_erase(session: SessionDep, user: ApiAdmin, user_id: Number) -> UserOut:
    """Permanently replace name and e-mail with a pseudonym; all judgments are kept."""
    person = users.user_of_number(session, user_id)
    erase_user(session, person, actor_id=user.id)
    return UserOut.of(person)


@router.post("/{user_id}/link", status_code=201)
def post_user_link(
    request: Request, session: SessionDep, user: ApiAdmin, user_id: Number
) -> InvitationOut:
    """Create a new one-time link for the person; older links stop working."""
    person = users.user_of_number(session, user_id)
    return _link_out(request, person, invitations.new_link(session, person, actor_id=user.id))


@router.get("/{user_id}/tokens")
def get_tokens(session: SessionDep, _user: ApiAdmin, user_id: Number) -> list[TokenRow]:
    """List the person's tokens that are not revoked."""
    person = users.user_of_number(session, user_id)
    return [TokenRow.of(token) for token in queries.tokens_of_user(session, person.id)]


@router.post("/{user_id}/tokens", status_code=201)
def post_user_token(
    session: SessionDep, user: ApiAdmin, user_id: Number, body: TokenIn
) -> NewToken:
    """Create a token for the person's programs."""
    person = users.user_of_number(session, user_id)
    row, plain = tokens.issue_token(session, person, **body.model_dump(), actor_id=user.id)
    return NewToken(**asdict(TokenRow.of(row)), token=plain)


@router.delete("/{user_id}/tokens/{token_id}", status_code=204)
def delete_token(session: SessionDep, user: ApiAdmin, user_id: Number, token_id: Number) -> None:
    """Revoke a token at once."""
    tokens.revoke_token(session, token_id, user_id=user_id, actor_id=user.id)


def _link_out(request: Request, user: User, token: str) -> InvitationOut:
    url = public_url(request, str(request.app.url_path_for("get_invitation", token=token)))
    return InvitationOut(user=UserOut.of(user), url=url, expires_at=now() + invitations.LIFETIME)
