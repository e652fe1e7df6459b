"""Forms of the pages about people."""

from typing import Annotated

from pydantic import Field

from topkapi.app.domain.enums import MOST_TOKEN_DAYS, TOKEN_DAYS, Role, Scope
from topkapi.app.web.common.received import Line, Received


class InviteForm(Received):
    """The person to invite."""

    email: Line = ""
    name: Line = ""
    role: Role = Role.ASSESSOR


class RoleForm(Received):
    """The new role."""

    role: Role


Days = Annotated[
    int, Field(ge=0, le=MOST_TOKEN_DAYS, description="Until it ends; 0: it never does.")
]


class TokenForm(Received):
    """The purpose of a token, what it allows, and when it ends."""

    name: Line = ""
    scope: Scope = Scope.WRITE
    days: Days = TOKEN_DAYS


class AcceptForm(Received):
    """Name and password, set by the owner of a link; the first administrator sends an e-mail."""

    email: Line = ""
    name: Line = ""
    password: Annotated[str, Field(max_length=10_000)] = ""
