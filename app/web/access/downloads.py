"""Downloads: written to a temporary file first, then sent without a database connection.

Few are created at a time, and a few more may be in transfer to slow clients. The file has no name,
so it disappears when the response or the process ends.
"""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import IO, Annotated

from anyio import to_thread
from fastapi import Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from topkapi.app.db.models import User
from topkapi.app.services import audit
from topkapi.app.services.results.exports import Export, export_session
from topkapi.app.web.access.early_auth import EarlyPerson, EarlyResearcher
from topkapi.app.web.access.slots import limits_of
from topkapi.app.web.common.views import PersonView

_BLOCK = 64 * 1024


async def get_download_slot(request: Request, _user: EarlyResearcher) -> AsyncIterator[None]:
    """Hold one of the slots for downloads until the response is sent."""
    async with limits_of(request).download.hold():
        yield


async def get_own_download_slot(request: Request, _user: EarlyPerson) -> AsyncIterator[None]:
    """Hold a slot for the download of a person's own data until the response is sent."""
    async with limits_of(request).download.hold():
        yield


async def get_own_export_slot(
    request: Request, _download: Annotated[None, Depends(get_own_download_slot)]
) -> AsyncIterator[None]:
    """Hold a slot for large reads until the route has returned."""
    async with limits_of(request).export.hold():
        yield


async def get_export_slot(
    request: Request, _download: Annotated[None, Depends(get_download_slot)]
) -> AsyncIterator[None]:
    """Hold one of the slots for large reads until the route has returned."""
    async with limits_of(request).export.hold():
        yield


ExportPlace = Annotated[None, Depends(get_export_slot, scope="function")]


def _snapshot_with(slot: Callable[..., AsyncIterator[None]]) -> Callable[..., Iterator[Session]]:
    """Return what yields a session on a snapshot until the route has returned, with a slot."""

    def get_session(
        request: Request, _slot: Annotated[None, Depends(slot, scope="function")]
    ) -> Iterator[Session]:
        with export_session(request.app.state.sessions) as session:
            yield session

    return get_session


get_export_session = _snapshot_with(get_export_slot)
OwnSession = Annotated[Session, Depends(_snapshot_with(get_own_export_slot), scope="function")]
ExportSession = Annotated[Session, Depends(get_export_session, scope="function")]


async def get_flight(request: Request, _user: EarlyResearcher) -> AsyncIterator[None]:
    """Wait while another request computes the same page, before any other slot is taken."""
    async with limits_of(request).flights.of(request.scope["path"]).hold():
        yield


def get_shared_session(
    _flight: Annotated[None, Depends(get_flight, scope="function")], session: ExportSession
) -> Session:
    """Return the session of a page that is computed once and cached for its other viewers."""
    return session


SharedSession = Annotated[Session, Depends(get_shared_session, scope="function")]


async def get_results_slot(
    request: Request, _flight: Annotated[None, Depends(get_flight, scope="function")]
) -> AsyncIterator[None]:
    """Hold a slot of its own for a page of results: it waits for no download or computation."""
    async with limits_of(request).results.hold():
        yield


ResultsSession = Annotated[Session, Depends(_snapshot_with(get_results_slot), scope="function")]


class SpooledResponse(StreamingResponse):
    """A temporary file, sent from its start and closed even if the transfer fails."""

    def __init__(self, file: IO[bytes], media_type: str, headers: dict[str, str]) -> None:
        size = file.tell()
        file.seek(0)
        self._file = file
        length = {"Content-Length": str(size)}
        super().__init__(_blocks(file), media_type=media_type, headers={**headers, **length})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


async def _blocks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while block := await to_thread.run_sync(file.read, _BLOCK):
        yield block


def note_download(request: Request, user: PersonView | User, slug: str, file: str) -> None:
    """Record in the audit log who downloads which data of a study."""
    audit.record_late(request.app.state.late, user.id, "study.download", slug, file=file)


def download(export: Export) -> SpooledResponse:
    """Return the export as a response with its file name, media type and completeness."""
    headers = {
        "Content-Disposition": f'attachment; filename="{export.filename}"',
        "X-Topkapi-Assigned": str(export.completeness.assigned),
        "X-Topkapi-Finished": str(export.completeness.finished),
    }
    return spooled(export.chunks, export.format.media_type, headers)


def attachment(content: str | bytes, media_type: str, filename: str) -> Response:
    """Return a small file as a response."""
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return Response(content, media_type=media_type, headers=headers)


def spooled(chunks: Iterable[bytes], media_type: str, headers: dict[str, str]) -> SpooledResponse:
    """Write the chunks to a temporary file and return it as a response."""
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile(prefix="topkapi-"))
        file.writelines(chunks)
        response = SpooledResponse(file, media_type, headers)
        stack.pop_all()  # the response closes it
    return response
