"""People and their tokens as the API sends them and as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import ApiToken, User
from topkapi.app.db.queries.accounts import people as queries
from topkapi.app.domain.addresses import CROWD
from topkapi.app.domain.enums import Role, Scope


@dataclass(frozen=True, slots=True)
class PersonRecord:
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
    def of(cls, user: User, **more: Any) -> Self:
        """Return the record of ``user``; ``more`` are the fields that a subclass adds."""
        return cls(
            id=user.id,
            email=user.email,
            name=user.name,
            role=user.role,
            disabled=user.disabled_at is not None,
            has_password=user.password_hash is not None,
            machine=user.machine,
            created_at=user.created_at,
            **more,
        )


@dataclass(frozen=True, slots=True)
class ListedPerson(PersonRecord):
    """A person as administrators see them, with the number of assignments and of finished ones.

    ``link_expires_at`` is set while a link is valid.
    """

    disabled_at: datetime | None
    link_expires_at: datetime | None
    assigned: int
    finished: int

    @property
    def crowd(self) -> bool:
        """Whether an entry link made the account."""
        return self.email.endswith(f"@{CROWD}")

    @property
    def state(self) -> str:
        """State of the account in a word or two."""
        if self.disabled:
            return "disabled"
        if self.machine:
            return "machine"
        if self.has_password:
            return "active"
        return "no password" if self.link_expires_at is None else "invited"


def listed_people(session: Session, users: Sequence[User]) -> list[ListedPerson]:
    """Return people with their work and whether a link of theirs is valid."""
    ids = [user.id for user in users]
    work, links = queries.work_counts(session, ids), queries.open_links(session, ids, now())
    return [
        ListedPerson.of(
            user,
            disabled_at=user.disabled_at,
            link_expires_at=links[user.id].expires_at if user.id in links else None,
            assigned=assigned,
            finished=finished,
        )
        for user in users
        for assigned, finished in [work.get(user.id, (0, 0))]
    ]


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """A token for programs, without its hash."""

    id: int
    name: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None

    @classmethod
    def of(cls, row: ApiToken, **more: Any) -> Self:
        """Return the record of a token; ``more`` are the fields that a subclass adds."""
        times = (row.created_at, row.expires_at, row.last_used_at)
        return cls(row.id, row.name, row.scope, *times, **more)

    @property
    def is_over(self) -> bool:
        """Whether the token has ended."""
        return self.expires_at is not None and self.expires_at <= now()


def tokens_of(session: Session, user_id: int) -> list[TokenRecord]:
    """Return the person's tokens that are not revoked, in creation order."""
    return [TokenRecord.of(token) for token in queries.tokens_of_user(session, user_id)]
