"""Views: frozen dataclasses that templates read, one per page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts.accounts import Account
from topkapi.app.domain.enums import Role
from topkapi.app.services.judging.completion import Completion
from topkapi.app.services.judging.queue import DoneToday, Queue, QueueItem
from topkapi.app.web.common.paging import Choices, Paging, offset_of


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
class SignInView:
    """The sign-in page: the e-mail address entered, the error, and the redirect target.

    ``notice`` explains ``reason``, why a person who was signed in has to do it again.
    """

    email: str
    next: str
    reason: str
    notice: str | None
    error: str | None
    demo_accounts: Sequence[PersonView]
    demo_password: str
    no_accounts: bool = False
    asks_code: bool = False


@dataclass(frozen=True, slots=True)
class KeysView:
    """A person's keys: name, label and key of each action, and the keys to choose from."""

    rows: Sequence[tuple[str, str, str]]
    keys: Sequence[str]
    next: str
    error: str | None


@dataclass(frozen=True, slots=True)
class QueueView:
    """The assessor's queue; the table shows one page of it.

    ``completion`` ends the part of a crowd worker who has finished everything; ``trainings`` are
    slug and name of the studies whose training comes first.
    """

    queue: Queue
    paging: Paging
    choices: Choices
    today: DoneToday
    completion: Completion | None = None
    trainings: Sequence[tuple[str, str]] = ()

    @property
    def shown(self) -> tuple[QueueItem, ...]:
        """The assignments on this page of the table."""
        return self.queue.works[offset_of(self.paging.number, self.paging.size) : self.paging.last]
