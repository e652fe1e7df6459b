"""API of the audit log."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from topkapi.app.db.queries import audit as queries
from topkapi.app.web.access.deps import ApiAdmin, SessionDep
from topkapi.app.web.common.paging import Limit, Offset, say_total

router = APIRouter(prefix="/api/v1/audit", tags=["audit"])


class ActOut(BaseModel):
    """One administrative action; `who` is empty when it came from the command line."""

    id: int
    at: datetime
    who: str | None
    action: str
    subject: str
    detail: dict[str, Any]


@router.get("")
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
