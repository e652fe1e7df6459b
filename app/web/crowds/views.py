"""Forms and view data of entry links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field
from starlette.requests import Request

from topkapi.app.domain.crowds import PARAMETERS, Platform
from topkapi.app.domain.enums import Tool
from topkapi.app.services.crowds.links import LinkRecord
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.received import Received
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.visit import StudyHead

Line = Annotated[str, Field(max_length=2000)]
Count = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
PLATFORM_NAMES: Mapping[Platform, str] = {
    Platform.PROLIFIC: "Prolific",
    Platform.MTURK: "Mechanical Turk",
    Platform.OTHER: "another platform",
}
_FILLED_IN = {
    Platform.PROLIFIC: ("{{%PROLIFIC_PID%}}", "{{%SESSION_ID%}}", "{{%STUDY_ID%}}"),
    Platform.MTURK: ("WORKER", "ASSIGNMENT", "HIT"),
    Platform.OTHER: ("WORKER", "SESSION", "STUDY"),
}


class LinkForm(Received):
    """A new entry link."""

    platform: Platform = Platform.PROLIFIC
    consent: Annotated[str, Field(max_length=100_000)] = ""
    code: Line = ""
    redirect_url: Line = ""
    most_people: Annotated[Count | None, BeforeValidator(lambda value: value or None)] = None
    share: Count = 1
    rounds: Count = 1
    screen_out: Line = ""


@dataclass(frozen=True, slots=True)
class CrowdView:
    """The entry links of a study, and the form for a new one; ``url`` is shown once.

    ``tools`` are those that people get, which the proposed consent text describes.
    """

    head: StudyHead
    tools: Sequence[Tool]
    links: Sequence[LinkRecord]
    form: LinkForm
    url: str = ""
    refusal: Refusal | None = None

    @property
    def platforms(self) -> Mapping[Platform, str]:
        """The names of all platforms."""
        return PLATFORM_NAMES


@dataclass(frozen=True, slots=True)
class ConsentView:
    """The consent page; without ``fields`` it cannot be agreed to, and ``problem`` says why."""

    token: str
    study: str
    html: str
    fields: Mapping[str, str]
    preview: bool = False
    signed_in: bool = False
    problem: str = ""
    full: bool = False


def link_address(request: Request, token: str, platform: Platform) -> str:
    """Return the address to paste into the platform's form, with the parameters it fills in."""
    url = public_url(request, str(request.app.url_path_for("get_consent", token=token)))
    names = PARAMETERS[platform]
    pairs = zip((names.worker, names.session, names.study), _FILLED_IN[platform], strict=True)
    return url + "?" + "&".join(f"{name}={value}" for name, value in pairs)
