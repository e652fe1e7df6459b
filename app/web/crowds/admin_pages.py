"""Entry links of a study for administrators: create, close and open again."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from topkapi.app.db.models import EntryLink
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.services.crowds import links
from topkapi.app.web.access.deps import RowId
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.crowds.views import CrowdView, LinkForm, link_address, links_of
from topkapi.app.web.studies.visit import AdminVisit, Visit

router = APIRouter(prefix="/studies/{slug}/crowd", include_in_schema=False)


@router.get("")
def get_crowd(visit: AdminVisit) -> Response:
    """Show the entry links of a study."""
    return _show(visit, LinkForm())


@router.post("")
def post_entry_link(visit: AdminVisit, form: Annotated[LinkForm, Form()]) -> Response:
    """Create an entry link and show it once."""
    try:
        link = EntryLink(**form.model_dump())
        token = links.create_link(visit.session, visit.study, link, actor_id=visit.user.id)
    except (Invalid, Conflict) as refusal:
        return _show(visit, form, refusal=refusal)
    url = link_address(visit.request, token, form.platform)
    return _show(visit, LinkForm(platform=form.platform), url=url)


@router.post("/{link_id}/close")
def post_close_link(visit: AdminVisit, link_id: RowId) -> Response:
    """Close an entry link to new people."""
    links.close_link(visit.session, visit.study, link_id, actor_id=visit.user.id)
    return visit.to("get_crowd")


@router.post("/{link_id}/open")
def post_open_link(visit: AdminVisit, link_id: RowId) -> Response:
    """Open a closed entry link again."""
    links.open_link(visit.session, visit.study, link_id, actor_id=visit.user.id)
    return visit.to("get_crowd")


def _show(
    visit: Visit, form: LinkForm, *, url: str = "", refusal: AppError | None = None
) -> Response:
    view = CrowdView(
        head=visit.head("crowd"),
        links=links_of(visit.session, visit.study),
        form=form,
        url=url,
        refusal=Refusal.of(refusal),
    )
    return visit.show("crowds/page.html", view, refusal, status=201 if url else 200)
