"""Forms and view data of entry links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, field_validator

from topkapi.app.db.models import EntryLink
from topkapi.app.domain.crowds import PARAMETERS, Platform
from topkapi.app.web.common.markdown import to_html
from topkapi.app.web.common.received import Received
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.views import StudyHead

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


@dataclass(frozen=True, slots=True)
class LinkRow:
    """An entry link in the table, with the number of people who agreed."""

    id: int
    platform: str
    end: str
    share: int
    rounds: int
    most_people: int | None
    people: int
    created_at: datetime
    closed_at: datetime | None
    consent: str

    @classmethod
    def of(cls, link: EntryLink, people: int) -> Self:
        """Copy the link."""
        return cls(
            id=link.id,
            platform=PLATFORM_NAMES[link.platform],
            end=link.code or link.redirect_url,
            share=link.share,
            rounds=link.rounds,
            most_people=link.most_people,
            people=people,
            created_at=link.created_at,
            closed_at=link.closed_at,
            consent=to_html(link.consent),
        )


@dataclass(frozen=True, slots=True)
class CrowdView:
    """The entry links of a study, and the form for a new one; ``url`` is shown once."""

    head: StudyHead
    links: Sequence[LinkRow]
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


def link_address(url: str, platform: Platform) -> str:
    """Return the address to paste into the platform's form, with the parameters it fills in."""
    names = PARAMETERS[platform]
    values = _FILLED_IN[platform]
    pairs = zip((names.worker, names.session, names.study), values, strict=True)
    return url + "?" + "&".join(f"{name}={value}" for name, value in pairs)
