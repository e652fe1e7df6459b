"""Importing in the browser: upload a study, review what was read, confirm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.kinds import FIELD_NAMES
from topkapi.app.services.importing.layout.head import FILE_SETTINGS
from topkapi.app.services.importing.uploads import Upload
from topkapi.app.web.access.deps import AdminUser
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.importing.uploads import RECEIVING, Runner, options_in, receive


@dataclass(frozen=True, slots=True)
class ImportsView:
    """The upload form of a study, with the accepted names of fields and the settings."""

    largest: str
    names: Mapping[str, Mapping[str, Sequence[str]]]
    settings: Sequence[str]
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class ImportView:
    """The state of an upload."""

    upload: Upload


router = APIRouter(prefix="/imports", include_in_schema=False)
CHOICE = "edit."  # before the name of an edited field
UploadId = Annotated[str, Path(max_length=64)]


@router.get("")
def get_imports(request: Request, _user: AdminUser) -> Response:
    """Show the upload form."""
    return _form(request)


@router.post("", dependencies=RECEIVING)
async def post_import(request: Request, user: EarlyAdmin, runner: Runner) -> Response:
    """Receive a study and start checking it; nothing is written before it is confirmed."""
    try:
        path, filename, size = await receive(request, runner.store)
        options = options_in(await request.form())
    except Invalid as refusal:
        return _form(request, Refusal.of(refusal))
    upload = runner.store.enter(
        path, filename=filename, size=size, user_id=user.id, options=options
    )
    return _to(request, runner.check(upload))


@router.get("/{upload_id}")
def get_import(request: Request, _user: AdminUser, runner: Runner, upload_id: UploadId) -> Response:
    """Show the progress of an upload."""
    return _show(request, runner.store.find(upload_id))


@router.post("/{upload_id}/confirm")
async def post_confirm(
    request: Request, user: EarlyAdmin, runner: Runner, upload_id: UploadId
) -> Response:
    """Import the checked study; the form says for which edited fields the files count."""
    form = await request.form(max_files=0, max_fields=100)
    replace = [
        name.removeprefix(CHOICE)
        for name, choice in form.items()
        if name.startswith(CHOICE) and choice == "replace"
    ]
    upload = await run_in_threadpool(runner.store.find, upload_id)
    begun = await run_in_threadpool(runner.confirm, upload, actor_id=user.id, replace=replace)
    return _to(request, begun)


@router.post("/{upload_id}/cancel")
def post_cancel(
    request: Request, _user: EarlyAdmin, runner: Runner, upload_id: UploadId
) -> Response:
    """Discard an upload."""
    runner.cancel(runner.store.find(upload_id))
    return RedirectResponse(str(request.app.url_path_for("get_imports")), status_code=303)


def _form(request: Request, refusal: Refusal | None = None) -> Response:
    view = ImportsView(format_size(limits.MAX_UNPACKED), FIELD_NAMES, FILE_SETTINGS, refusal)
    return render(request, "importing/page.html", view, status=422 if refusal else 200)


def _show(request: Request, upload: Upload) -> Response:
    return render(
        request, "importing/import.html", ImportView(upload), fragment="importing/_state.html"
    )


def _to(request: Request, upload: Upload) -> Response:
    url = request.app.url_path_for("get_import", upload_id=upload.id)
    return RedirectResponse(str(url), status_code=303)
