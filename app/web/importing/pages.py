"""Importing in the browser: upload a study, review what was read, confirm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.queries.assignments.manual_assignment import active_assessors
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.services.fence import limits
from topkapi.app.services.importing.bundle import WHOLE
from topkapi.app.services.importing.kinds import FIELD_NAMES, SIDE_FILES
from topkapi.app.services.importing.kinds.base import SideFile
from topkapi.app.services.importing.layout.head import FILE_SETTINGS
from topkapi.app.services.importing.uploads import Upload
from topkapi.app.services.studies.starter import starter_zip
from topkapi.app.web.access.bodies import DEFAULT, limit_body
from topkapi.app.web.access.deps import AdminUser, SessionDep
from topkapi.app.web.access.downloads import attachment
from topkapi.app.web.access.early_auth import EarlyAdmin
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.importing.uploads import RECEIVING, STUDY, Runner, options_in, receive

CHOICE = "edit."  # before the name of an edited field
UploadId = Annotated[str, Path(max_length=64)]


@dataclass(frozen=True, slots=True)
class ImportsView:
    """The upload form of a study, with the accepted names of fields and the settings.

    The files ``beside`` it may be sent with it.
    """

    largest: str
    names: Mapping[str, Mapping[str, Sequence[str]]]
    settings: Sequence[str]
    beside: Sequence[SideFile]
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class ImportView:
    """The state of an upload; ``invites`` if nobody can be assigned what was imported."""

    upload: Upload
    invites: bool


router = APIRouter(prefix="/imports", include_in_schema=False)


@router.get("")
def get_imports(request: Request, _user: AdminUser) -> Response:
    """Show the upload form."""
    return _form(request)


@router.post("", dependencies=RECEIVING)
@limit_body(STUDY)
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


@router.get("/example.zip")
def get_example(_user: AdminUser) -> Response:
    """Download a small study to edit and upload."""
    return attachment(starter_zip(), "application/zip", "small-example.zip")


@router.post("/example")
def post_example(request: Request, user: EarlyAdmin, runner: Runner) -> Response:
    """Start to import the small study, as if it had been uploaded."""
    path = runner.store.new_file()
    size = runner.store.keep(BytesIO(starter_zip()), path)
    upload = runner.store.enter(
        path, filename="small-example.zip", size=size, user_id=user.id, options=WHOLE
    )
    return _to(request, runner.check(upload))


@router.get("/{upload_id}")
def get_import(
    request: Request, session: SessionDep, _user: AdminUser, runner: Runner, upload_id: UploadId
) -> Response:
    """Show the progress of an upload."""
    view = ImportView(runner.store.find(upload_id), not active_assessors(session))
    return render(request, "importing/import.html", view, fragment="importing/_state.html")


@router.post("/{upload_id}/confirm")
@limit_body(DEFAULT)
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
    largest = format_size(limits.MAX_UNPACKED)
    view = ImportsView(largest, FIELD_NAMES, FILE_SETTINGS, SIDE_FILES, refusal)
    return render(request, "importing/page.html", view, status=422 if refusal else 200)


def _to(request: Request, upload: Upload) -> Response:
    url = request.app.url_path_for("get_import", upload_id=upload.id)
    return RedirectResponse(str(url), status_code=303)
