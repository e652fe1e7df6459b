"""Forms and view data of the pages about people: links, tokens and roles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from topkapi.app.domain.enums import MOST_TOKEN_DAYS, TOKEN_DAYS, Role, Scope
from topkapi.app.services.accounts.records import ListedPerson, PersonRecord, TokenRecord
from topkapi.app.services.heads import StudyName
from topkapi.app.services.state.study import PersonInStudy
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
    """A one-time link; it cannot be retrieved again.

    `url` begins with the server's public address, or with `/` if that is not configured.
    """

    user: PersonRecord
    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PeopleView:
    """The list of people, or of crowd workers, how many of each there are, and the form.

    ``studies`` is where work can be assigned.
    """

    rows: Sequence[ListedPerson]
    paging: Paging
    choices: Choices
    search: str
    role: Role | None
    group: str
    counts: Mapping[str, int]
    form: InviteForm
    studies: Sequence[StudyName] = ()
    link: Link | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class PersonPageView:
    """One person: studies, role, password, state, tokens."""

    row: ListedPerson
    studies: Sequence[PersonInStudy]
    tokens: Sequence[TokenRecord]
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
