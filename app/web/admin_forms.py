"""What administrators' browsers post."""

from typing import Annotated

from pydantic import BaseModel, Field, field_validator

from app.domain.words import Role, Tool

Line = Annotated[str, Field(max_length=400)]


class InviteForm(BaseModel):
    """Who is invited."""

    email: Line = ""
    name: Line = ""
    role: Role = Role.ASSESSOR


class RoleForm(BaseModel):
    """Another role."""

    role: Role


class TokenForm(BaseModel):
    """What a token is for."""

    name: Line = ""


class AcceptForm(BaseModel):
    """Name and password, by the owner of a link."""

    name: Line = ""
    password: Annotated[str, Field(max_length=10_000)] = ""


class RotationForm(BaseModel):
    """The rotation as it was previewed: people in their order, rounds and seed."""

    people: list[int] = []
    rounds: int = Field(1, ge=1, le=10_000)
    seed: Line = ""
    lists: bool = False

    @field_validator("seed")
    @classmethod
    def _trim(cls, value: str) -> str:
        return value.strip()


class OneForm(BaseModel):
    """One piece of work, given by hand."""

    email: Line = ""
    query: Line = ""
    tool: Tool = Tool.PAIRS
    round: int = Field(1, ge=1, le=10_000)


class ReassignForm(BaseModel):
    """Who takes over, and the page to go back to."""

    email: Line = ""
    next: Annotated[str, Field(max_length=1000)] = ""


class ConfirmForm(BaseModel):
    """A name typed once more, so that nothing is deleted by a slip."""

    confirm: Line = ""
