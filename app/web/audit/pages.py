"""The audit log: what was done, by whom, to what; as a page and through the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from topkapi.app.services import audit
from topkapi.app.services.audit import Act, NamedAct
from topkapi.app.web.access.deps import AdminUser, ApiAdmin, SessionDep
from topkapi.app.web.audit.sentences import emails_of, sentence_of
from topkapi.app.web.common.paging import (
    Choices,
    Limit,
    Offset,
    PageNumber,
    Paging,
    paged,
    say_total,
)
from topkapi.app.web.common.templates import render

SIZE = 50


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An administrative action as a sentence; ``study`` is the name of the study it is about."""

    act: NamedAct
    sentence: str
    study: str


def _row(act: NamedAct, names: Mapping[str, str]) -> AuditRow:
    of_person = "@" in act.subject or act.action == "token.revoke"  # once recorded by its id
    study = "" if of_person else names.get(act.subject, act.subject)
    return AuditRow(act, sentence_of(act.action, act.subject, act.detail, names), study)


@dataclass(frozen=True, slots=True)
class AuditView:
    """A page of the audit log; ``people`` are ids and names of those who acted."""

    rows: Sequence[AuditRow]
    people: Sequence[tuple[int, str]]
    actions: Sequence[str]
    paging: Paging
    choices: Choices
    values: Mapping[str, object]


router = APIRouter(prefix="/audit", include_in_schema=False)


@router.get("")
def get_audit(
    request: Request,
    session: SessionDep,
    _user: AdminUser,
    person: Annotated[str, Query(pattern=r"^\d{0,9}$")] = "",
    action: Annotated[str, Query(max_length=60)] = "",
    subject: Annotated[str, Query(max_length=300)] = "",
    page: PageNumber = 1,
) -> Response:
    """List the latest actions, filtered; without an action, all but sign-ins."""
    acts, paging = paged(
        page,
        SIZE,
        lambda offset: audit.acts(
            session,
            user_id=int(person) if person else None,
            action="" if action == "all" else action,
            but="" if action else "user.sign_in",
            subject=subject.strip(),
            limit=SIZE,
            offset=offset,
        ),
    )
    keys = [key for act in acts for key in (act.subject, *emails_of(act.detail))]
    names = audit.names_of(session, keys)
    values = {"person": person, "action": action, "subject": subject.strip()}
    view = AuditView(
        rows=[_row(act, names) for act in acts],
        people=audit.actors(session),
        actions=audit.actions(session),
        paging=paging,
        choices=Choices(str(request.app.url_path_for("get_audit")), values),
        values=values,
    )
    return render(request, "audit/page.html", view)


api_router = APIRouter(prefix="/api/v1/audit", tags=["audit"])


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
) -> Sequence[Act]:
    """List actions, latest first; `user_id` 0 is the command line, `subject` a study or e-mail."""
    acts, total = audit.acts(
        session, user_id=user_id, action=action, subject=subject, limit=limit, offset=offset
    )
    say_total(response, total)
    return acts
