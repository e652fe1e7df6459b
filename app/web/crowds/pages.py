"""The page of an entry link: consent, then an account and work for one worker.

Strangers open these pages. A link is looked up in a short read of its own, entering is throttled
like signing in, and only a POST of somebody who agreed takes a slot for writing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.orm import Session
from starlette.responses import Response

from topkapi.app.db.base import now
from topkapi.app.db.models import EntryLink
from topkapi.app.domain.crowds import PARAMETERS, Arrival, Platform, arrival_of, is_preview
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.services.accounts.sign_in import refuse_unusable
from topkapi.app.services.accounts.throttling import Attempt, Throttle, source_of
from topkapi.app.services.assignments.rotation import rotated_tools
from topkapi.app.services.crowds import entering, links
from topkapi.app.web.access.admission import admit_visitor, read_apart
from topkapi.app.web.access.bodies import VISITOR, limit_body
from topkapi.app.web.access.deps import RowId, SessionDep, check_visitor_form
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.accounts.devices import signed_in
from topkapi.app.web.common.cookies import cookies_of
from topkapi.app.web.common.formats import to_html
from topkapi.app.web.common.links import visitor_of
from topkapi.app.web.common.refusals import show_form, try_change
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.crowds.views import (
    ConsentView,
    CrowdView,
    LinkForm,
    link_address,
)
from topkapi.app.web.studies.visit import AdminVisit, Visit

router = APIRouter(include_in_schema=False)
Token = Annotated[str, Path(max_length=100)]
# The same for everybody: a page that knows who began would tell strangers who takes part.
_FULL = (
    "This study does not accept any more people. Please return your submission on the platform's "
    "page, unless you have already started: then you can continue."
)


@dataclass(frozen=True, slots=True)
class Door:
    """An entry link as strangers see it, and who stands before it; ``refusal``: why they wait."""

    token: str
    link_id: int
    platform: Platform
    study: str
    consent: str
    arrival: Arrival | None
    preview: bool = False
    refusal: AppError | None = None
    full: bool = False
    replaces: bool = False  # the session of somebody else


async def _shown_door(request: Request, token: Token) -> Door:
    """Look up the link in a short read of its own, because strangers may try many."""
    sent = request.query_params if request.method == "GET" else await request.form()
    values = {name: value for name, value in sent.items() if isinstance(value, str)}

    def look(session: Session) -> Door:
        link = links.link_of_token(session, token)
        preview = is_preview(link.platform, values)
        arrival, refusal = _arrival(link.platform, values)
        assert link.study is not None
        full = arrival is not None and entering.is_full(session, link, link.study)
        facts = (token, link.id, link.platform, link.study.name, link.consent)
        claim = cookies_of(request).claim_of(request)
        same = arrival and claim and entering.is_worker(session, link, arrival, claim.user_id)
        return Door(*facts, arrival, preview, refusal, full, claim is not None and not same)

    lane, address = limits_of(request).strangers, visitor_of(request).address
    return await read_apart(request, lane, address, look)


def _arrival(
    platform: Platform, values: Mapping[str, str]
) -> tuple[Arrival | None, AppError | None]:
    try:
        return arrival_of(platform, values), None
    except Invalid as refusal:
        return None, refusal


ShownDoor = Annotated[Door, Depends(_shown_door)]


@router.get("/enter/{token}")
def get_consent(request: Request, door: ShownDoor) -> Response:
    """Show the consent text; nothing is stored."""
    return _page(request, door)


@router.get("/enter/{token}/declined")
def get_declined(request: Request, door: ShownDoor) -> Response:
    """Say that nothing was stored."""
    return _private(render(request, "crowds/declined.html", _view(door)))


@dataclass(frozen=True, slots=True)
class Admitted:
    """Somebody who agreed and may enter; ``attempt`` is counted by throttling."""

    arrival: Arrival
    attempt: Attempt


async def _admitted(request: Request, door: ShownDoor) -> Admitted:
    """Count the attempt and admit the visitor to the database, or raise the refusal."""
    if door.arrival is None or door.preview or door.refusal is not None:
        raise door.refusal or Invalid("Accept the task on the platform's page first.")
    throttle: Throttle = request.app.state.entry_throttle
    source = "enter:" + source_of(visitor_of(request).address, None)
    who = f"enter:{door.link_id}:{door.arrival.worker}"
    async with limits_of(request).strangers.hold(key=visitor_of(request).address):
        counted = await run_in_threadpool(throttle.count, who, source, now())
    admit_visitor(request)
    return Admitted(door.arrival, counted.attempt)


@router.post("/enter/{token}", dependencies=[Depends(check_visitor_form)])
@limit_body(VISITOR)
def post_consent(
    request: Request,
    token: Token,
    admitted: Annotated[Admitted, Depends(_admitted)],
    session: SessionDep,
) -> Response:
    """Enter the study: create or find the account, sign it in, and begin its work."""
    link = links.link_of_token(session, token)
    assert link.study is not None
    device = request.app.state.devices.device_of(request)
    known = device.user_ids if device else ()
    entered = entering.enter(session, link, link.study, admitted.arrival, devices=known)
    user = entered.user
    refuse_unusable(user, visitor_of(request))
    if not entered.is_new:  # new accounts stay counted: one address may create few at a time
        request.app.state.entry_throttle.forget(admitted.attempt)
    url = _beginning(request, entering.open_work(session, user.id))
    return _private(signed_in(request, user, url))


def _beginning(request: Request, assignment_id: int | None) -> str:
    if assignment_id is None:
        return str(request.app.url_path_for("get_queue"))
    return str(request.app.url_path_for("get_work", assignment_id=assignment_id))


def _page(request: Request, door: Door) -> Response:
    refusal = door.refusal or (Conflict(_FULL) if door.full else None)
    shown = None if door.preview else refusal
    return _private(show_form(request, "crowds/consent.html", _view(door), shown))


def _view(door: Door) -> ConsentView:
    arrival, names = door.arrival, PARAMETERS[door.platform]
    may_agree = arrival is not None and not door.preview and door.refusal is None
    values = (arrival.worker, arrival.session, arrival.study) if arrival and may_agree else ()
    problem = str(door.refusal) if door.refusal else _FULL if door.full else ""
    return ConsentView(
        token=door.token,
        study=door.study,
        html=to_html(door.consent),
        fields=dict(zip((names.worker, names.session, names.study), values, strict=False)),
        preview=door.preview,
        signed_in=door.replaces,
        problem="" if door.preview else problem,
        full=door.full and not door.preview and door.refusal is None,
    )


def _private(response: Response) -> Response:
    """Send no referrer: the address names the link and the worker."""
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@router.get("/studies/{slug}/crowd")
def get_crowd(visit: AdminVisit) -> Response:
    """Show the entry links of a study."""
    return _show(visit, LinkForm())


@router.post("/studies/{slug}/crowd")
def post_entry_link(visit: AdminVisit, form: Annotated[LinkForm, Form()]) -> Response:
    """Create an entry link and show it once."""
    with try_change(visit.session) as tried:
        link = EntryLink(**form.model_dump())
        token = links.create_link(visit.session, visit.study, link, actor_id=visit.user.id)
    if tried.refusal:
        return _show(visit, form, refusal=tried.refusal)
    url = link_address(visit.request, token, form.platform)
    return _show(visit, LinkForm(platform=form.platform), url=url)


@router.post("/studies/{slug}/crowd/{link_id}/close")
def post_close_link(visit: AdminVisit, link_id: RowId) -> Response:
    """Close an entry link to new people."""
    links.set_closed(visit.session, visit.study, link_id, closed=True, actor_id=visit.user.id)
    return visit.to("get_crowd")


@router.post("/studies/{slug}/crowd/{link_id}/open")
def post_open_link(visit: AdminVisit, link_id: RowId) -> Response:
    """Open a closed entry link again."""
    links.set_closed(visit.session, visit.study, link_id, closed=False, actor_id=visit.user.id)
    return visit.to("get_crowd")


def _show(
    visit: Visit, form: LinkForm, *, url: str = "", refusal: AppError | None = None
) -> Response:
    view = CrowdView(
        head=visit.head("crowd"),
        tools=rotated_tools(visit.study),
        links=links.links_of(visit.session, visit.study),
        form=form,
        url=url,
        refusal=Refusal.of(refusal),
    )
    return visit.show("crowds/page.html", view, refusal, status=201 if url else 200)
