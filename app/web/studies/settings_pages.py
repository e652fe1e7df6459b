"""Settings and guidelines of a study, its full copy, and its deletion."""

import tempfile
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, RedirectResponse, Response

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.domain.settings import Part
from topkapi.app.domain.study import SETTINGS
from topkapi.app.services import guideline_history
from topkapi.app.services.studies import edit_study, full_copy, lifecycle
from topkapi.app.web.access.deps import AdminUser, SessionDep, Slug, StudyDep
from topkapi.app.web.access.downloads import ExportPlace
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render
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
from topkapi.app.web.studies.pages import study_head, to_study
from topkapi.app.web.studies.views import DeleteView, GuidelinesFormView, SettingsView

Version = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
_PARTS: tuple[Part, ...] = ("study", "pairs", "lists")
router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)


@router.get("/settings")
def get_settings(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep
) -> Response:
    """Show the settings form; settings that existing assignments depend on are read-only."""
    form = form_of(study)
    return _settings_page(request, session, user, study.slug, form)


@router.post("/settings")
def post_settings(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: SentSettings,
) -> Response:
    """Change the settings, or show why not."""
    try:
        with session.begin_nested():
            edit_study.change_study(
                session,
                study,
                name=form.name,
                settings=settings_in(form, settings_in_parts(*_PARTS)),
                seen=form.seen,
                actor_id=user.id,
            )
    except (Invalid, Conflict) as refusal:
        return _settings_page(request, session, user, study.slug, form, refusal)
    return to_study(request, study.slug)


@router.get("/guidelines/edit")
def get_guidelines_form(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep, version: Version = None
) -> Response:
    """Show the guidelines' Markdown in a form: the present text, or that of an old version."""
    text = study.guidelines
    if version is not None:
        text = guideline_history.text_of_version(session, study, version)
    form = GuidelinesForm(seen=edit_study.version_of(study), guidelines=text)
    return _guidelines_page(request, session, user, study.slug, form)


@router.post("/guidelines")
def post_guidelines(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[GuidelinesForm, Form()],
) -> Response:
    """Change the guidelines; assessors read the new ones from then on."""
    try:
        with session.begin_nested():
            edit_study.change_study(
                session, study, guidelines=form.guidelines, seen=form.seen, actor_id=user.id
            )
    except (Invalid, Conflict) as refusal:
        return _guidelines_page(request, session, user, study.slug, form, refusal)
    url = request.app.url_path_for("get_study_guidelines", slug=study.slug)
    return RedirectResponse(str(url), status_code=303)


def _settings_page(
    request: Request,
    session: Session,
    user: User,
    slug: str,
    form: SettingsForm,
    refusal: AppError | None = None,
) -> Response:
    study = lifecycle.required_study(session, slug)
    fixed = edit_study.is_fixed(session, study)
    if fixed and not form.whole:  # fixed settings are shown as they are
        now = form_of(study).typed
        free = {name: form.typed.get(name, []) for name in now if not SETTINGS[name].frozen}
        form = form.model_copy(update={"typed": now | free})
    view = SettingsView(
        head=study_head(session, study, user, "study"),
        form=form,
        parts={part: settings_in_parts(part) for part in _PARTS},
        fixed=fixed,
        refusal=None if refusal is None else Refusal.of(refusal),
    )
    status = 200 if refusal is None else status_of(refusal)
    return render(request, "studies/settings.html", view, status=status)


def _guidelines_page(
    request: Request,
    session: Session,
    user: User,
    slug: str,
    form: GuidelinesForm,
    refusal: AppError | None = None,
) -> Response:
    study = lifecycle.required_study(session, slug)
    head = study_head(session, study, user, "guidelines")
    view = GuidelinesFormView(
        head=head,
        form=form,
        begun=head.state in {"running", "finished"},
        refusal=None if refusal is None else Refusal.of(refusal),
    )
    status = 200 if refusal is None else status_of(refusal)
    return render(request, "studies/guidelines_form.html", view, status=status)


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
