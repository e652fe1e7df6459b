"""The audit log: what was done, by whom, to what; as a page and through the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from topkapi.app.db.models import AuditEvent
from topkapi.app.db.queries import audit as queries
from topkapi.app.web.access.deps import AdminUser, ApiAdmin, SessionDep
from topkapi.app.web.common.paging import (
    LARGEST_PAGE,
    Choices,
    Limit,
    Offset,
    Paging,
    offset_of,
    say_total,
)
from topkapi.app.web.common.templates import render


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An administrative action; ``person`` is None for the command line."""

    at: datetime
    person: str | None
    action: str
    subject: str
    detail: Mapping[str, object]

    @classmethod
    def of(cls, event: AuditEvent) -> Self:
        """Copy the event with the name of its actor."""
        person = None if event.user is None else event.user.name
        return cls(event.at, person, event.action, event.subject, event.detail)


@dataclass(frozen=True, slots=True)
class AuditView:
    """A page of the audit log; ``people`` are ids and names of those who acted."""

    events: Sequence[AuditRow]
    people: Sequence[tuple[int, str]]
    actions: Sequence[str]
    paging: Paging
    choices: Choices
    values: Mapping[str, object]


router = APIRouter(prefix="/audit", include_in_schema=False)
SIZE = 50


@router.get("")
def get_audit(
    request: Request,
    session: SessionDep,
    _user: AdminUser,
    person: Annotated[str, Query(pattern=r"^\d{0,9}$")] = "",
    action: Annotated[str, Query(max_length=60)] = "",
    subject: Annotated[str, Query(max_length=300)] = "",
    page: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 1,
) -> Response:
    """List the latest actions, filtered."""
    events, total = queries.events_page(
        session,
        user_id=int(person) if person else None,
        action=action,
        subject=subject.strip(),
        limit=SIZE,
        offset=offset_of(page, SIZE),
    )
    values = {"person": person, "action": action, "subject": subject.strip()}
    view = AuditView(
        events=[AuditRow.of(event) for event in events],
        people=[(actor.id, actor.name) for actor in queries.actors(session)],
        actions=queries.actions(session),
        paging=Paging(page, SIZE, total),
        choices=Choices(str(request.app.url_path_for("get_audit")), values),
        values=values,
    )
    return render(request, "audit/page.html", view)


api_router = APIRouter(prefix="/api/v1/audit", tags=["audit"])


class ActOut(BaseModel):
    """One administrative action; `who` is empty when it came from the command line."""

    id: int
    at: datetime
    who: str | None
    action: str
    subject: str
    detail: dict[str, Any]


@api_router.get("")
def get_acts(
    session: SessionDep,
    _user: ApiAdmin,
    response: Response,
    user_id: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
    action: Annotated[str, Query(max_length=60)] = "",
    subject: Annotated[str, Query(max_length=300)] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[ActOut]:
    """List actions, latest first; `user_id` 0 is the command line, `subject` a study or e-mail."""
    rows, total = queries.events_page(
        session, user_id=user_id, action=action, subject=subject, limit=limit, offset=offset
    )
    say_total(response, total)
    return [
        ActOut(
            id=row.id,
            at=row.at,
            who=row.user.email if row.user else None,
            action=row.action,
            subject=row.subject,
            detail=row.detail,
        )
        for row in rows
    ]
