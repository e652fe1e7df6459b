"""Entry links of a study for administrators: create, close and open again."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import EntryLink, Study, User
from topkapi.app.db.queries import crowds as queries
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.services.crowds import links
from topkapi.app.web.access.deps import AdminUser, RowId, SessionDep, StudyDep
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.links import public_url
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.crowds.views import CrowdView, LinkForm, LinkRow, link_address
from topkapi.app.web.studies.pages import study_head

router = APIRouter(prefix="/studies/{slug}/crowd", include_in_schema=False)


@router.get("")
def get_crowd(request: Request, session: SessionDep, user: AdminUser, study: StudyDep) -> Response:
    """Show the entry links of a study."""
    return _show(request, session, user, study, LinkForm())


@router.post("")
def post_entry_link(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[LinkForm, Form()],
) -> Response:
    """Create an entry link and show it once."""
    try:
        link = EntryLink(**form.model_dump())
        token = links.create_link(session, study, link, actor_id=user.id)
    except (Invalid, Conflict) as refusal:
        return _show(request, session, user, study, form, refusal=refusal)
    path = str(request.app.url_path_for("get_consent", token=token))
    url = link_address(public_url(request, path), form.platform)
    return _show(request, session, user, study, LinkForm(platform=form.platform), url=url)


@router.post("/{link_id}/close")
def post_close_link(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep, link_id: RowId
) -> Response:
    """Close an entry link to new people."""
    return _steer(request, session, user, study, link_id, links.close_link)


@router.post("/{link_id}/open")
def post_open_link(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep, link_id: RowId
) -> Response:
    """Open a closed entry link again."""
    return _steer(request, session, user, study, link_id, links.open_link)


def _steer(
    request: Request,
    session: Session,
    user: User,
    study: Study,
    link_id: int,
    act: Callable[..., EntryLink],
) -> Response:
    act(session, study, link_id, actor_id=user.id)
    url = str(request.app.url_path_for("get_crowd", slug=study.slug))
    return RedirectResponse(url, status_code=303)


def _show(
    request: Request,
    session: Session,
    user: User,
    study: Study,
    form: LinkForm,
    *,
    url: str = "",
    refusal: AppError | None = None,
) -> Response:
    people = queries.people_of_links(session, study.id)
    view = CrowdView(
        head=study_head(session, study, user, "crowd"),
        links=[
            LinkRow.of(link, people.get(link.id, 0))
            for link in queries.links_of_study(session, study.id)
        ],
        form=form,
        url=url,
        refusal=Refusal.of(refusal) if refusal else None,
    )
    status = status_of(refusal) if refusal else 201 if url else 200
    return render(request, "crowds/page.html", view, status=status)
