"""Forms of entry links."""

from typing import Annotated

from pydantic import Field, field_validator

from topkapi.app.domain.crowds import Platform
from topkapi.app.web.common.received import Received

Line = Annotated[str, Field(max_length=2000)]
Count = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class LinkForm(Received):
    """A new entry link."""

    platform: Platform = Platform.PROLIFIC
    consent: Annotated[str, Field(max_length=100_000)] = ""
    code: Line = ""
    redirect_url: Line = ""
    most_people: Count | None = None
    share: Count = 1
    rounds: Count = 1
    screen_out: Line = ""

    @field_validator("most_people", mode="before")
    @classmethod
    def _no_limit(cls, value: object) -> object:
        return value or None
