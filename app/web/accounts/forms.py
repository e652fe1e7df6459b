"""Forms of sign-in."""

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
