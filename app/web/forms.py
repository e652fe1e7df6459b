"""What browsers post."""

from pydantic import Field, field_validator

from app.web.links import local_path
from app.web.received import Received


class SignInForm(Received):
    """E-mail and password, and the page wanted before."""

    email: str = Field("", max_length=1000)
    password: str = Field("", max_length=10_000)
    next: str = "/"

    @field_validator("next")
    @classmethod
    def _stay_here(cls, value: str) -> str:
        return local_path(value)
