"""Bulk actions on the work of a study: withdraw, reassign, void, restore."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Assignment, Study, User
from topkapi.app.db.queries.assignments.manual_assignment import matching_ids, withdrawn_with
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services.assignments import bulk, voiding
from topkapi.app.web.access.deps import AdminUser, SessionDep, StudyDep
from topkapi.app.web.assignments.forms import BulkForm
from topkapi.app.web.assignments.work_pages import show_list, work_url

router = APIRouter(prefix="/studies/{slug}/work", include_in_schema=False)


@router.post("/bulk")
def post_bulk(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[BulkForm, Form()],
) -> Response:
    """Withdraw, reassign, void or restore the selected work, all of it or nothing."""
    ids = _chosen(session, study, form)
    if form.act == "withdraw" and ids and not form.confirmed:
        return show_list(request, session, user, study.slug, form, to_confirm=ids)
    try:
        with session.begin_nested():
            changed = _change(session, study, user, form, ids)
    except (Invalid, Conflict, NotFound) as refusal:
        return show_list(request, session, user, study.slug, form, refusal=refusal)
    url = f"{work_url(request, study.slug)}?state={form.state}&done={form.act}-{len(changed)}"
    if form.act == "withdraw":
        url += f"&undo={changed[0].id}"
    return RedirectResponse(url, status_code=303)


def _chosen(session: Session, study: Study, form: BulkForm) -> list[int]:
    """Return the selected assignments, all that match, or all that were withdrawn with one."""
    if form.act == "undo":
        return list(withdrawn_with(session, study.id, form.ids[0])) if form.ids else []
    if form.all:
        search = form.search.strip()
        found = matching_ids(session, study.id, search=search, tool=form.tool, state=form.state)
        return list(found)
    return list(form.ids)


def _change(
    session: Session, study: Study, user: User, form: BulkForm, ids: list[int]
) -> list[Assignment]:
    if form.act == "void":
        return voiding.void(session, study, ids, reason=form.reason, actor_id=user.id)
    if form.act in ("restore", "undo"):
        return voiding.restore(session, study, ids, actor_id=user.id)
    if form.act == "reassign":
        return bulk.reassign(session, study, ids, form.email, actor_id=user.id)
    return bulk.withdraw(session, study, ids, actor_id=user.id)
