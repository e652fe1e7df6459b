"""Forms and view data of entry links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, Field, field_validator
from sqlalchemy.orm import Session
from starlette.requests import Request

from topkapi.app.db.models import EntryLink, Study
from topkapi.app.db.queries import crowds as queries
from topkapi.app.domain.crowds import PARAMETERS, Platform
from topkapi.app.domain.enums import Tool
from topkapi.app.services.crowds.entering import people_needed
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.received import Received
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.visit import StudyHead

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


class LinkOut(BaseModel):
    """An entry link and the number of people who hold a place; it is closed from `closed_at` on.

    At least `needed` more people are needed for the work that is left.
    """

    id: int
    platform: Platform
    consent: str
    code: str
    redirect_url: str
    most_people: int | None
    share: int
    rounds: int
    screen_out: str
    people: int
    needed: int
    created_at: datetime
    closed_at: datetime | None

    @classmethod
    def of(cls, session: Session, study: Study, link: EntryLink) -> Self:
        """Copy the link, and count its people."""
        people = queries.people_of_links(session, study.id).get(link.id, 0)
        counted = {"people": people, "needed": people_needed(session, link, study)}
        names = cls.model_fields.keys() & link.__table__.columns.keys()
        return cls(**{name: getattr(link, name) for name in names}, **counted)

    @property
    def falls_short(self) -> bool:
        """Whether fewer people are let in than the work needs."""
        return self.most_people is not None and self.people + self.needed > self.most_people


def links_of(session: Session, study: Study) -> list[LinkOut]:
    """Return the entry links of a study, newest first."""
    return [LinkOut.of(session, study, link) for link in queries.links_of_study(session, study.id)]


@dataclass(frozen=True, slots=True)
class CrowdView:
    """The entry links of a study, and the form for a new one; ``url`` is shown once.

    ``tools`` are those that people get, which the proposed consent text describes.
    """

    head: StudyHead
    tools: Sequence[Tool]
    links: Sequence[LinkOut]
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
