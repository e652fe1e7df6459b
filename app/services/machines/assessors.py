"""Machines as assessors: their accounts, and the work they are given."""

import re
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Study, User
from topkapi.app.db.queries import machines as queries
from topkapi.app.db.queries.accounts.accounts import user_by_email
from topkapi.app.domain import addresses
from topkapi.app.domain.assignment.rotation import AssignmentSpec
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.services.accounts.users import checked_name, create_user
from topkapi.app.services.assignments import rotation


def machine_named(session: Session, name: str, *, actor_id: int | None = None) -> User:
    """Return the machine of this name; it is created when it judges for the first time.

    Its address is its name where that is possible; otherwise a digest makes it different from
    those of similar names.
    """
    name = checked_name(name)
    exact = select(User).where(User.machine, User.name == name).order_by(User.id)
    found = session.scalars(exact.limit(1)).one_or_none()
    if found is not None:
        return found
    local = re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-.")[:60]
    if not local:
        local = "machine"
    if local != name or user_by_email(session, f"{local}@{addresses.MACHINE}") is not None:
        local += f"-{sha256(name.encode()).hexdigest()[:8]}"
    return create_user(
        session,
        email=f"{local}@{addresses.MACHINE}",
        name=name,
        role=Role.ASSESSOR,
        machine=True,
        actor_id=actor_id,
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
    rotation.refuse_archived(study)
    missing = {tool: queries.queries_without(session, study.id, machine.id, tool) for tool in tools}
    wanted = [
        AssignmentSpec(machine.id, query, tool, 0)
        for tool, found in missing.items()
        for query in found[:most]
    ]
    if wanted:
        rotation.assign(session, study, wanted)
    return sum(map(len, missing.values())) - len(wanted)
