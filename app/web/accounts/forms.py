"""Forms of sign-in, and of a person's own page and keys."""

from typing import Annotated

from pydantic import Field, field_validator

from topkapi.app.web.common.links import local_path
from topkapi.app.web.common.received import Received


class SignInForm(Received):
    """E-mail and password, and the page to go to afterwards."""

    email: str = Field("", max_length=1000)
    password: str = Field("", max_length=10_000)
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
    """The current password, and the new one."""

    current: str = Field("", max_length=10_000)
    password: str = Field("", max_length=10_000)
