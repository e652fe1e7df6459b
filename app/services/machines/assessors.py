"""Machines as assessors: their accounts, and the work they are given."""

import re

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study, User
from topkapi.app.db.queries import machines as queries
from topkapi.app.db.queries.accounts.accounts import user_by_email
from topkapi.app.domain.assignment.rotation import AssignmentSpec
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.accounts.users import create_user
from topkapi.app.services.assignments import rotation

_HOST = "machine.invalid"  # a host that cannot exist: nobody gets mail there


def machine_named(session: Session, name: str, *, actor_id: int | None = None) -> User:
    """Return the machine of this name; it is created when it judges for the first time."""
    local = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    if not local:
        raise Invalid("Give the machine a name with letters or digits.", field="name")
    email = f"{local}@{_HOST}"
    found = user_by_email(session, email)
    if found is not None:
        return found
    return create_user(
        session, email=email, name=name, role=Role.ASSESSOR, machine=True, actor_id=actor_id
    )


def give_work(
    session: Session,
    study: Study,
    machine: User,
    tools: tuple[Tool, ...],
    *,
    most: int | None = None,
) -> int:
    """Assign every query of the study that the machine has not, of each tool ``most`` at most.

    Returns how many were left out.
    """
    missing = {tool: queries.queries_without(session, study.id, machine.id, tool) for tool in tools}
    wanted = [
        AssignmentSpec(machine.id, query, tool, 0)
        for tool, found in missing.items()
        for query in found[:most]
    ]
    if wanted:
        rotation.assign(session, study, wanted)
    return sum(map(len, missing.values())) - len(wanted)
