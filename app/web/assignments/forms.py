"""Forms of the pages of assignments."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from topkapi.app.domain.enums import Tool
from topkapi.app.web.common.received import Line, PersonId, Received


class RotationForm(Received):
    """The rotation as it was previewed: people in order, rounds and seed."""

    people: list[PersonId] = Field(default_factory=list)
    rounds: int = Field(1, ge=1, le=10_000)
    seed: Line = ""
    lists: bool = False

    @field_validator("seed")
    @classmethod
    def _trim(cls, value: str) -> str:
        return value.strip()


class PeopleForm(Received):
    """The selected people, in order."""

    people: list[PersonId] = Field(default_factory=list)


class RebalanceForm(PeopleForm):
    """The selected people, and the digest of the plan that was shown."""

    digest: Line = ""


class BulkForm(Received):
    """Selected work, or all that the filters match, and what to do with it."""

    ids: list[PersonId] = Field(default_factory=list)
    all: bool = False
    search: Line = ""
    tool: Tool | None = None
    state: Line = ""
    act: Literal["withdraw", "reassign", "void", "restore", "undo"] = "withdraw"
    confirmed: bool = False
    email: Line = ""
    reason: Annotated[str, Field(max_length=1000)] = ""
    next: Annotated[str, Field(max_length=1000)] = ""

    @field_validator("tool", mode="before")
    @classmethod
    def _any(cls, value: object) -> object:
        return value or None


class OneForm(Received):
    """One assignment, made by hand."""

    email: Line = ""
    query: Line = ""
    tool: Tool = Tool.PAIRS
    round: int = Field(1, ge=1, le=10_000)


class ReassignForm(Received):
    """The assessor who takes over, and the page to go back to."""

    email: Line = ""
    next: Annotated[str, Field(max_length=1000)] = ""


class AdjudicationForm(Received):
    """The query, and the person who judges its open pairs."""

    query: Line = ""
    email: Line = ""
