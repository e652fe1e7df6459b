"""View data of the administration templates: people, links, tokens, audit log, imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from topkapi.app.db.models import ApiToken, AuditEvent, Invitation, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError
from topkapi.app.services.importing.uploads import Upload
from topkapi.app.web.common.paging import Choices, Paging
from topkapi.app.web.people.forms import InviteForm


@dataclass(frozen=True, slots=True)
class Link:
    """A one-time link, shown once."""

    email: str
    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form was refused, and the field it concerns."""

    message: str
    field: str | None = None

    @classmethod
    def of(cls, error: AppError) -> "Refusal":
        """Return the message and field of ``error``."""
        return cls(str(error), getattr(error, "field", None))


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A row of the list of people."""

    user: User
    link: Invitation | None
    assigned: int
    finished: int


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
    tokens: Sequence[ApiToken]
    is_me: bool
    link: Link | None = None
    token: str | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class AcceptView:
    """The page of a one-time link."""

    token: str
    email: str
    name: str
    has_password: bool
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class AuditView:
    """A page of the audit log."""

    events: Sequence[AuditEvent]
    people: Sequence[User]
    actions: Sequence[str]
    paging: Paging
    choices: Choices
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ImportsView:
    """The upload form of a study, with the accepted names of fields and the settings."""

    largest: str
    names: Mapping[str, Mapping[str, Sequence[str]]]
    settings: Sequence[str]
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class ImportView:
    """The state of an upload."""

    upload: Upload
