"""Views that several features share: the signed-in person, and the refusal of a form."""

from dataclasses import dataclass
from typing import Self

from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts.accounts import Account
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError


@dataclass(frozen=True, slots=True)
class PersonView:
    """The signed-in person: a copy, because a row cannot be read after a rollback."""

    id: int
    name: str
    email: str
    role: Role

    @classmethod
    def of(cls, user: User | Account) -> Self:
        """Copy the attributes of ``user`` that pages and the log need."""
        return cls(user.id, user.name, user.email, user.role)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form was refused, and the field it concerns."""

    message: str
    field: str | None = None

    @classmethod
    def of(cls, error: AppError | None) -> "Refusal | None":
        """Return the message and field of ``error``, if there is one."""
        return None if error is None else cls(str(error), getattr(error, "field", None))
