"""What templates read: frozen dataclasses, one a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts.accounts import Account
from topkapi.app.domain.enums import Role
from topkapi.app.services.judging.queue import Queue, QueueItem
from topkapi.app.web.common.paging import Choices, Paging, offset_of


@dataclass(frozen=True, slots=True)
class PersonView:
    """Who is signed in. A copy, because a row is unreadable once its transaction is rolled back."""

    id: int
    name: str
    email: str
    role: Role

    @classmethod
    def of(cls, user: User | Account) -> Self:
        """What pages and the log need of ``user``."""
        return cls(user.id, user.name, user.email, user.role)


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """A demo account offered on the sign-in page."""

    name: str
    email: str
    role: str


@dataclass(frozen=True, slots=True)
class SignInView:
    """The sign-in page: what was typed, what was wrong, where to go afterwards."""

    email: str
    next: str
    error: str | None
    demo_accounts: Sequence[DemoAccount]
    demo_password: str


@dataclass(frozen=True, slots=True)
class QueueView:
    """The assessor's queue, of which the table shows some at a time."""

    queue: Queue
    paging: Paging
    choices: Choices

    @property
    def shown(self) -> tuple[QueueItem, ...]:
        """The work on this page of the table."""
        return self.queue.works[offset_of(self.paging.number, self.paging.size) : self.paging.last]
