"""The assignments of a study: find, withdraw, reassign, void, restore, one or many."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Assignment
from topkapi.app.db.queries.assignments import manual_assignment as queries
from topkapi.app.db.queries.assignments.manual_assignment import matching_ids
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError
from topkapi.app.services.assignments import bulk, manual_assignment
from topkapi.app.services.assignments.bulk import withdrawn_with
from topkapi.app.services.assignments.records import listed
from topkapi.app.web.access.deps import RowId
from topkapi.app.web.assignments.views import BulkForm, ReassignForm, WorkListView
from topkapi.app.web.common.formats import counted
from topkapi.app.web.common.links import local_path
from topkapi.app.web.common.paging import Choices, PageNumber, Search, paged
from topkapi.app.web.common.refusals import try_change
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.visit import AdminVisit, Visit

router = APIRouter(prefix="/studies/{slug}/work", include_in_schema=False)
SIZE = 50
Next = Annotated[str, Form(max_length=1000)]
_DONE = {
    "withdraw": "withdrawn",
    "reassign": "reassigned",
    "void": "voided: kept, but excluded from consensus and report",
    "restore": "restored",
    "undo": "given back",
}
_OPEN = MappingProxyType({"search": "", "tool": "", "state": "open"})


@router.get("")
def get_study_work(
    visit: AdminVisit,
    search: Search = "",
    tool: Annotated[str, Query(pattern="^(pairs|grades|lists)?$")] = "",
    state: Annotated[
        str, Query(pattern="^(open|waiting|begun|finished|withdrawn|void)?$")
    ] = "open",
    page: PageNumber = 1,
    done: Annotated[str, Query(pattern=r"^([a-z]+-\d{1,9})?$")] = "",
    undo: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> Response:
    """List assignments with their assessors and progress."""
    values = {"search": search.strip(), "tool": tool, "state": state}
    return _page(visit, values, page, done=_sentence(done), undo=undo)


@router.post("/{assignment_id}/withdraw")
def post_withdraw(visit: AdminVisit, assignment_id: RowId, next: Next = "") -> Response:
    """Withdraw an unfinished assignment; its log is kept."""
    session, study = visit.session, visit.study
    with try_change(session) as tried:
        manual_assignment.withdraw(session, study, assignment_id, actor_id=visit.user.id)
    return _page(visit, refusal=tried.refusal) if tried.refusal else _back(visit, next)


@router.post("/{assignment_id}/reassign")
def post_reassign(
    visit: AdminVisit, assignment_id: RowId, form: Annotated[ReassignForm, Form()]
) -> Response:
    """Reassign an unfinished assignment to someone else."""
    session, study, actor_id = visit.session, visit.study, visit.user.id
    with try_change(session) as tried:
        manual_assignment.reassign(session, study, assignment_id, form.email, actor_id=actor_id)
    return _page(visit, refusal=tried.refusal) if tried.refusal else _back(visit, form.next)


def _sentence(done: str) -> str:
    """Return what a bulk action did, from its name and number."""
    act, _, number = done.partition("-")
    return f"{counted(int(number), 'assignment')} {_DONE[act]}." if act in _DONE else ""


def _page(
    visit: Visit,
    values: Mapping[str, str] = _OPEN,
    page: int = 1,
    refusal: AppError | None = None,
    done: str = "",
    undo: int = 0,
    to_confirm: Sequence[int] = (),
    confirm_all: bool = False,
) -> Response:
    session, study = visit.session, visit.study
    rows, paging = paged(
        page,
        SIZE,
        lambda offset: queries.work_page(
            session,
            study.id,
            search=values["search"],
            tool=Tool(values["tool"]) if values["tool"] else None,
            state=values["state"],
            limit=SIZE,
            offset=offset,
        ),
    )
    confirmed = queries.assignments_of_ids(session, study.id, to_confirm)
    view = WorkListView(
        head=visit.head("work"),
        rows=[*map(listed, rows)],
        people=[(each.email, each.name) for each in queries.active_assessors(session)],
        states=queries.STATES,
        paging=paging,
        choices=Choices(visit.url("get_study_work"), values),
        values=values,
        refusal=Refusal.of(refusal),
        done=done,
        undo=undo,
        to_confirm=to_confirm,
        confirm_all=confirm_all,
        begun=sum(row.last_entry_at is not None for row in confirmed),
    )
    return visit.show("assignments/work.html", view, refusal)


def _back(visit: Visit, next: str) -> Response:
    wanted = local_path(next)
    url = wanted if wanted != "/" else visit.url("get_study_work")
    return RedirectResponse(url, status_code=303)


@router.post("/bulk")
def post_bulk(visit: AdminVisit, form: Annotated[BulkForm, Form()]) -> Response:
    """Withdraw, reassign, void or restore the selected work, all of it or nothing."""
    tool = form.tool.value if form.tool else ""
    state = form.state if form.state in queries.STATES else ""
    values = {"search": form.search.strip(), "tool": tool, "state": state}
    ids = _chosen(visit, form)
    if form.act == "withdraw" and ids and not form.confirmed:
        return _page(visit, values, to_confirm=ids, confirm_all=form.all)
    with try_change(visit.session) as tried:
        changed = _change(visit, form, ids)
    if tried.refusal:
        return _page(visit, values, refusal=tried.refusal, confirm_all=form.all)
    undo = f"&undo={changed[0].id}" if form.act == "withdraw" else ""
    done = f"?state={form.state}&done={form.act}-{len(changed)}"
    return visit.to("get_study_work", done + undo)


def _chosen(visit: Visit, form: BulkForm) -> list[int]:
    """Return the selected assignments, all that match, or all that were withdrawn with one."""
    session, study_id = visit.session, visit.study.id
    if form.act == "undo":
        return list(withdrawn_with(session, study_id, form.ids[0])) if form.ids else []
    if form.all:
        search = form.search.strip()
        found = matching_ids(session, study_id, search=search, tool=form.tool, state=form.state)
        return list(found)
    return list(form.ids)


def _change(visit: Visit, form: BulkForm, ids: list[int]) -> list[Assignment]:
    session, study, actor_id = visit.session, visit.study, visit.user.id
    if form.act == "void":
        return bulk.void(session, study, ids, reason=form.reason, actor_id=actor_id)
    if form.act in ("restore", "undo"):
        return bulk.restore(session, study, ids, actor_id=actor_id)
    if form.act == "reassign":
        return bulk.reassign(session, study, ids, form.email, actor_id=actor_id)
    return bulk.withdraw(session, study, ids, actor_id=actor_id)
