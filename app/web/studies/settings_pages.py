"""Settings and guidelines of a study, its full copy, and its deletion."""

import tempfile
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, RedirectResponse, Response

from topkapi.app.db.engine import Sessions
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.domain.settings import Part
from topkapi.app.domain.study import SETTINGS
from topkapi.app.services import guideline_history
from topkapi.app.services.studies import edit_study, full_copy, lifecycle
from topkapi.app.web.access.deps import Slug
from topkapi.app.web.access.downloads import ExportPlace
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.forms import (
    ConfirmForm,
    GuidelinesForm,
    SentSettings,
    SettingsForm,
    form_of,
    settings_in,
    settings_in_parts,
)
from topkapi.app.web.studies.views import DeleteView, GuidelinesFormView, SettingsView
from topkapi.app.web.studies.visit import AdminVisit, Visit

Version = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
_PARTS: tuple[Part, ...] = ("study", "pairs", "lists")
router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)


@router.get("/settings")
def get_settings(visit: AdminVisit) -> Response:
    """Show the settings form; settings that existing assignments depend on are read-only."""
    return _settings_page(visit, form_of(visit.study))


@router.post("/settings")
def post_settings(visit: AdminVisit, form: SentSettings) -> Response:
    """Change the settings, or show why not."""
    try:
        with visit.session.begin_nested():
            edit_study.change_study(
                visit.session,
                visit.study,
                name=form.name,
                settings=settings_in(form, settings_in_parts(*_PARTS)),
                seen=form.seen,
                actor_id=visit.user.id,
            )
    except (Invalid, Conflict) as refusal:
        return _settings_page(visit, form, refusal)
    return visit.to("get_study_page")


@router.get("/guidelines/edit")
def get_guidelines_form(visit: AdminVisit, version: Version = None) -> Response:
    """Show the guidelines' Markdown in a form: the present text, or that of an old version."""
    text = visit.study.guidelines
    if version is not None:
        text = guideline_history.text_of_version(visit.session, visit.study, version)
    form = GuidelinesForm(seen=edit_study.version_of(visit.study), guidelines=text)
    return _guidelines_page(visit, form)


@router.post("/guidelines")
def post_guidelines(visit: AdminVisit, form: Annotated[GuidelinesForm, Form()]) -> Response:
    """Change the guidelines; assessors read the new ones from then on."""
    session, text, seen = visit.session, form.guidelines, form.seen
    try:
        with session.begin_nested():
            edit_study.change_study(
                session, visit.study, guidelines=text, seen=seen, actor_id=visit.user.id
            )
    except (Invalid, Conflict) as refusal:
        return _guidelines_page(visit, form, refusal)
    return visit.to("get_study_guidelines")


def _settings_page(visit: Visit, form: SettingsForm, refusal: AppError | None = None) -> Response:
    fixed = edit_study.is_fixed(visit.session, visit.study)
    if fixed and not form.whole:  # fixed settings are shown as they are
        now = form_of(visit.study).typed
        free = {name: form.typed.get(name, []) for name in now if not SETTINGS[name].frozen}
        form = form.model_copy(update={"typed": now | free})
    view = SettingsView(
        head=visit.head("study"),
        form=form,
        parts={part: settings_in_parts(part) for part in _PARTS},
        fixed=fixed,
        refusal=Refusal.of(refusal),
    )
    return visit.show("studies/settings.html", view, refusal)


def _guidelines_page(
    visit: Visit, form: GuidelinesForm, refusal: AppError | None = None
) -> Response:
    head = visit.head("guidelines")
    begun = head.state in {"running", "finished"}
    view = GuidelinesFormView(head, form, begun, Refusal.of(refusal))
    return visit.show("studies/guidelines_form.html", view, refusal)


@router.get("/delete")
def get_delete(visit: AdminVisit) -> Response:
    """Show what a deletion would remove, and what must be done first."""
    return _delete_page(visit)


@router.post("/copy")
def post_copy(request: Request, user: EarlyAdmin, _place: ExportPlace, slug: Slug) -> Response:
    """Download a full copy of the study; the audit log records its name and content."""
    return copy_response(request.app.state.sessions, slug, user.id)


@router.post("/delete")
def post_delete(visit: AdminVisit, form: Annotated[ConfirmForm, Form()]) -> Response:
    """Delete the study, if its slug was typed and a copy contains the judgments."""
    session = visit.session
    try:
        with session.begin_nested():
            lifecycle.delete_study(
                session, visit.study, confirm=form.confirm, actor_id=visit.user.id
            )
    except (Invalid, Conflict) as refusal:
        return _delete_page(visit, refusal)
    url = str(visit.request.app.url_path_for("get_studies_page"))
    return RedirectResponse(url, status_code=303)


def _delete_page(visit: Visit, refusal: AppError | None = None) -> Response:
    seen = lifecycle.look_at_deletion(visit.session, visit.study)
    view = DeleteView(visit.head("delete"), seen, Refusal.of(refusal))
    return visit.show("studies/delete.html", view, refusal)


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
