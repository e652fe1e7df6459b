"""Forms and view data of the pages about people: links, tokens and roles."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import Field

from topkapi.app.db.base import now
from topkapi.app.db.models import ApiToken, Invitation, User
from topkapi.app.domain.enums import MOST_TOKEN_DAYS, TOKEN_DAYS, Role, Scope
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.common.received import Line, Received
from topkapi.app.web.common.views import Refusal


class InviteForm(Received):
    """The person to invite."""

    email: Line = ""
    name: Line = ""
    role: Role = Role.ASSESSOR


class RoleForm(Received):
    """The new role."""

    role: Role


Days = Annotated[
    int, Field(ge=0, le=MOST_TOKEN_DAYS, description="Until it ends; 0: it never does.")
]


class TokenForm(Received):
    """The purpose of a token, what it allows, and when it ends."""

    name: Line = ""
    scope: Scope = Scope.WRITE
    days: Days = TOKEN_DAYS


class AcceptForm(Received):
    """Name and password, set by the owner of a link; the first administrator sends an e-mail."""

    email: Line = ""
    name: Line = ""
    password: Annotated[str, Field(max_length=10_000)] = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A one-time link, shown once."""

    email: str
    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A person as administrators see them; ``link_expires_at`` is set while a link is valid."""

    id: int
    name: str
    email: str
    role: Role
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None
    link_expires_at: datetime | None
    assigned: int
    finished: int
    machine: bool

    @classmethod
    def of(cls, user: User, link: Invitation | None, work: tuple[int, int]) -> Self:
        """Copy the person; ``work`` is the number of assignments and of finished ones."""
        return cls(
            id=user.id,
            name=user.name,
            email=user.email,
            role=user.role,
            has_password=user.password_hash is not None,
            created_at=user.created_at,
            disabled_at=user.disabled_at,
            link_expires_at=None if link is None else link.expires_at,
            assigned=work[0],
            finished=work[1],
            machine=user.machine,
        )

    @property
    def state(self) -> str:
        """State of the account in a word or two."""
        if self.disabled_at is not None:
            return "disabled"
        if self.machine:
            return "machine"
        if self.has_password:
            return "active"
        return "no password" if self.link_expires_at is None else "invited"


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token for programs, without its hash."""

    id: int
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None

    @classmethod
    def of(cls, token: ApiToken) -> Self:
        """Copy the token."""
        times = (token.created_at, token.expires_at, token.last_used_at)
        return cls(token.id, token.name, token.scope, *times)

    @property
    def is_over(self) -> bool:
        """Whether the token has ended."""
        return self.expires_at is not None and self.expires_at <= now()


@dataclass(frozen=True, slots=True)
class PeopleView:
    """The list of people, and the invitation form."""

    rows: Sequence[PersonRow]
    paging: Paging
    choices: Choices
    search: str
    role: Role | None
    form: InviteForm
    link: Link | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class PersonPageView:
    """One person: role, password, state, tokens."""

    row: PersonRow
    tokens: Sequence[TokenRow]
    is_me: bool
    link: Link | None = None
    token: str | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class AcceptView:
    """The page of a one-time link, or of the first administrator, who gives an e-mail address."""

    token: str
    email: str
    name: str
    has_password: bool
    refusal: Refusal | None = None
    is_first: bool = False
