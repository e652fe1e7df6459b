"""Forms of sign-in, and of a person's own page and keys."""

from typing import Annotated

from pydantic import Field, field_validator

from topkapi.app.web.common.links import local_path
from topkapi.app.web.common.received import Received


class SignInForm(Received):
    """E-mail and password, the one-time code, and the page to go to afterwards."""

    email: str = Field("", max_length=1000)
    password: str = Field("", max_length=10_000)
    code: str = Field("", max_length=20)
    next: str = "/"
    reason: str = Field("", max_length=20)

    @field_validator("next")
    @classmethod
    def _stay_here(cls, value: str) -> str:
        return local_path(value)


Names = Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=100)]


class KeysForm(Received):
    """Actions and the key of each, in the same order; ``reset`` restores the default keys."""

    action: Names = Field(default_factory=list)
    key: Names = Field(default_factory=list)
    reset: bool = False
    next: str = "/"

    @field_validator("next")
    @classmethod
    def _stay_here(cls, value: str) -> str:
        return local_path(value)

    @property
    def keys(self) -> dict[str, str]:
        """The key of each action."""
        return dict(zip(self.action, self.key, strict=False))


class OwnName(Received):
    """The person's new name."""

    name: str = Field("", max_length=400)


class OwnPassword(Received):
    """The current password, and what it confirms: a new one, or one-time codes by their salt."""

    current: str = Field("", max_length=10_000)
    password: str = Field("", max_length=10_000)
    salt: str = Field("", max_length=64)
    code: str = Field("", max_length=20)
