"""Forms of sign-in and of a person's own page."""

from pydantic import Field, field_validator

from topkapi.app.web.common.links import local_path
from topkapi.app.web.common.received import Received


class SignInForm(Received):
    """E-mail and password, and the page to go to afterwards."""

    email: str = Field("", max_length=1000)
    password: str = Field("", max_length=10_000)
    next: str = "/"

    @field_validator("next")
    @classmethod
    def _stay_here(cls, value: str) -> str:
        return local_path(value)


class OwnName(Received):
    """The person's new name."""

    name: str = Field("", max_length=400)


class OwnPassword(Received):
    """The current password, and the new one."""

    current: str = Field("", max_length=10_000)
    password: str = Field("", max_length=10_000)
