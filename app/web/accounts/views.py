"""View data of sign-in and of a person's keys."""

from collections.abc import Sequence
from dataclasses import dataclass

from topkapi.app.web.common.views import PersonView


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
