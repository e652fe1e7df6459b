"""A full copy of a study, and its deletion."""

import tempfile
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, RedirectResponse, Response

from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services.studies import full_copy, lifecycle
from topkapi.app.web.access.deps import AdminUser, SessionDep, Slug, StudyDep
from topkapi.app.web.access.downloads import ExportPlace
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.forms import ConfirmForm
from topkapi.app.web.studies.pages import study_head
from topkapi.app.web.studies.views import DeleteView

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)


@router.get("/delete")
def get_delete(request: Request, session: SessionDep, user: AdminUser, study: StudyDep) -> Response:
    """Show what a deletion would remove, and what must be done first."""
    head = study_head(session, study, user, "delete")
    view = DeleteView(head, lifecycle.look_at_deletion(session, study))
    return render(request, "studies/delete.html", view)


@router.post("/copy")
def post_copy(request: Request, user: EarlyAdmin, _place: ExportPlace, slug: Slug) -> Response:
    """Download a full copy of the study; the audit log records its name and content."""
    return copy_response(request.app.state.sessions, slug, user.id)


@router.post("/delete")
def post_delete(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[ConfirmForm, Form()],
) -> Response:
    """Delete the study, if its slug was typed and a copy contains the judgments."""
    try:
        with session.begin_nested():
            lifecycle.delete_study(session, study, confirm=form.confirm, actor_id=user.id)
    except (Invalid, Conflict) as refusal:
        head = study_head(session, study, user, "delete")
        seen = lifecycle.look_at_deletion(session, study)
        view = DeleteView(head, seen, Refusal.of(refusal))
        return render(request, "studies/delete.html", view, status=status_of(refusal))
    return RedirectResponse(str(request.app.url_path_for("get_studies_page")), status_code=303)


def copy_response(sessions: Sessions, slug: str, actor_id: int) -> Response:
    """Write a copy from one snapshot of the database, record it, and send the file."""
    with tempfile.NamedTemporaryFile(suffix=".zip", delete=False) as file:
        path = FilePath(file.name)
    try:
        copy = full_copy.copy_study(sessions, slug, path, actor_id)
    except BaseException:
        path.unlink()
        raise
    return FileResponse(
        path,
        filename=copy.name,
        media_type="application/zip",
        background=BackgroundTask(path.unlink, missing_ok=True),
    )
