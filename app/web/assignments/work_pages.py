"""The assignments of a study: find, withdraw, reassign, void, restore, one or many."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Assignment, Study, User
from topkapi.app.db.queries.assignments import manual_assignment as queries
from topkapi.app.db.queries.assignments.manual_assignment import matching_ids, withdrawn_with
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError, Conflict, Invalid, NotFound
from topkapi.app.services.assignments import bulk, manual_assignment, voiding
from topkapi.app.services.studies import lifecycle
from topkapi.app.web.access.deps import AdminUser, SessionDep, Slug, StudyDep
from topkapi.app.web.assignments.forms import BulkForm, ReassignForm
from topkapi.app.web.assignments.views import AssignmentRow, WorkListView
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.formats import counted
from topkapi.app.web.common.links import local_path
from topkapi.app.web.common.paging import LARGEST_PAGE, Choices, Paging, offset_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.pages import study_head

router = APIRouter(prefix="/studies/{slug}/work", include_in_schema=False)
SIZE = 50
AssignmentId = Annotated[int, Path(ge=1, le=2**31 - 1)]
Next = Annotated[str, Form(max_length=1000)]
_DONE = {
    "withdraw": "withdrawn",
    "reassign": "reassigned",
    "void": "voided: kept, and out of consensus and report",
    "restore": "restored",
    "undo": "given back",
}
_REFUSALS = (Invalid, Conflict, NotFound)


@router.get("")
def get_study_work(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    slug: Slug,
    search: Annotated[str, Query(max_length=200)] = "",
    tool: Annotated[str, Query(pattern="^(pairs|grades|lists)?$")] = "",
    state: Annotated[
        str, Query(pattern="^(open|waiting|begun|finished|withdrawn|void)?$")
    ] = "open",
    page: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 1,
    done: Annotated[str, Query(pattern=r"^([a-z]+-\d{1,9})?$")] = "",
    undo: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> Response:
    """List assignments with their assessors and progress."""
    values = {"search": search.strip(), "tool": tool, "state": state}
    return _page(request, session, user, slug, values, page, done=_sentence(done), undo=undo)


@router.post("/{assignment_id}/withdraw")
def post_withdraw(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    assignment_id: AssignmentId,
    next: Next = "",
) -> Response:
    """Withdraw an unfinished assignment; its log is kept."""
    try:
        with session.begin_nested():
            manual_assignment.withdraw(session, study, assignment_id, actor_id=user.id)
    except _REFUSALS as refusal:
        return _refuse(request, session, user, study.slug, refusal)
    return _back(request, study.slug, next)


@router.post("/{assignment_id}/reassign")
def post_reassign(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    assignment_id: AssignmentId,
    form: Annotated[ReassignForm, Form()],
) -> Response:
    """Reassign an unfinished assignment to someone else."""
    try:
        with session.begin_nested():
            manual_assignment.reassign(session, study, assignment_id, form.email, actor_id=user.id)
    except _REFUSALS as refusal:
        return _refuse(request, session, user, study.slug, refusal)
    return _back(request, study.slug, form.next)


def _refuse(
    request: Request, session: Session, user: User, slug: str, refusal: AppError
) -> Response:
    values = {"search": "", "tool": "", "state": "open"}
    return _page(request, session, user, slug, values, 1, refusal)


def show_list(
    request: Request,
    session: Session,
    user: User,
    slug: str,
    form: BulkForm,
    *,
    refusal: AppError | None = None,
    to_confirm: Sequence[int] = (),
) -> Response:
    """Show the list with the filters of a form, and why it was refused or what to confirm."""
    tool = form.tool.value if form.tool else ""
    state = form.state if form.state in queries.STATES else ""
    values = {"search": form.search.strip(), "tool": tool, "state": state}
    return _page(
        *(request, session, user, slug, values, 1, refusal),
        to_confirm=to_confirm,
        confirm_all=form.all,
    )


def _sentence(done: str) -> str:
    """Return what a bulk action did, from its name and number."""
    act, _, number = done.partition("-")
    return f"{counted(int(number), 'assignment')} {_DONE[act]}." if act in _DONE else ""


def _page(
    request: Request,
    session: Session,
    user: User,
    slug: str,
    values: dict[str, str],
    page: int,
    refusal: AppError | None = None,
    done: str = "",
    undo: int = 0,
    to_confirm: Sequence[int] = (),
    confirm_all: bool = False,
) -> Response:
    study = lifecycle.required_study(session, slug)
    rows, total = queries.work_page(
        session,
        study.id,
        search=values["search"],
        tool=Tool(values["tool"]) if values["tool"] else None,
        state=values["state"],
        limit=SIZE,
        offset=offset_of(page, SIZE),
    )
    view = WorkListView(
        head=study_head(session, study, user, "work"),
        rows=[AssignmentRow.of(row) for row in rows],
        people=[(each.email, each.name) for each in queries.active_assessors(session)],
        states=queries.STATES,
        paging=Paging(page, SIZE, total),
        choices=Choices(work_url(request, slug), values),
        values=values,
        refusal=Refusal.of(refusal) if refusal else None,
        done=done,
        undo=undo,
        to_confirm=to_confirm,
        confirm_all=confirm_all,
        begun=sum(
            row.last_entry_at is not None
            for row in queries.assignments_of_ids(session, study.id, to_confirm)
        ),
    )
    status = status_of(refusal) if refusal else 200
    return render(request, "assignments/work.html", view, status=status)


def work_url(request: Request, slug: str) -> str:
    """Return the address of the list."""
    return str(request.app.url_path_for("get_study_work", slug=slug))


def _back(request: Request, slug: str, next: str) -> Response:
    wanted = local_path(next)
    url = wanted if wanted != "/" else work_url(request, slug)
    return RedirectResponse(url, status_code=303)


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
