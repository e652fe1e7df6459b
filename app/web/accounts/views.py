"""Forms and view data of sign-in, of a person's own page and of their keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from topkapi.app.web.common.links import local_path
from topkapi.app.web.common.received import Received, storable
from topkapi.app.web.common.views import PersonView

LocalPath = Annotated[str, AfterValidator(storable), AfterValidator(local_path)]


class SignInForm(Received):
    """E-mail and password, a one-time or recovery code, and the page to go to afterwards."""

    email: str = Field("", max_length=1000)
    password: str = Field("", max_length=10_000)
    code: str = Field("", max_length=40)
    recovery: str = Field("", max_length=40)
    next: LocalPath = "/"
    reason: str = Field("", max_length=20)


Names = Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=100)]


class KeysForm(Received):
    """Actions and the key of each, in the same order; ``reset`` restores the default keys."""

    action: Names = Field(default_factory=list)
    key: Names = Field(default_factory=list)
    reset: bool = False
    next: LocalPath = "/"

    @property
    def keys(self) -> dict[str, str]:
        """The key of each action."""
        return dict(zip(self.action, self.key, strict=False))


class OwnName(Received):
    """The person's new name."""

    name: str = Field("", max_length=400)


class OwnPassword(Received):
    """The current password, and what it confirms: a new one, or one-time codes by their salt.

    ``renew`` asks for new recovery codes.
    """

    current: str = Field("", max_length=10_000)
    password: str = Field("", max_length=10_000)
    salt: str = Field("", max_length=64)
    code: str = Field("", max_length=20)
    renew: bool = False


@dataclass(frozen=True, slots=True)
class SignInView:
    """The sign-in page: the e-mail address entered, the error, and the redirect target.

    ``notice`` explains ``reason``, why a person who was signed in has to do it again;
    ``elsewhere`` is the host of the OpenID provider.
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
    elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class KeysView:
    """A person's keys: name, label and key of each action, and the keys to choose from."""

    rows: Sequence[tuple[str, str, str]]
    keys: Sequence[str]
    next: str
    error: str | None
