"""Downloads that read the database while they are sent.

They hold a connection for as long as the other side takes to read, so only a few run at a time,
and the rest of the program always finds connections free.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from anyio import CapacityLimiter, fail_after
from fastapi import Depends, Request
from sqlalchemy.orm import Session
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from app.services.exports import Export, export_session

MOST = 2
PATIENCE_SECONDS = 10.0


def make_limiter() -> CapacityLimiter:
    """Places for downloads in this process."""
    return CapacityLimiter(MOST)


async def get_download_place(request: Request) -> AsyncIterator[None]:
    """Hold one of the places until the response is sent."""
    places: CapacityLimiter = request.app.state.downloads
    try:
        with fail_after(PATIENCE_SECONDS):
            await places.acquire_on_behalf_of(request)
    except TimeoutError:
        raise HTTPException(
            503, "Other exports are being sent. Try again in a minute.", {"Retry-After": "60"}
        ) from None
    try:
        yield
    finally:
        places.release_on_behalf_of(request)


def get_export_session(
    request: Request, _place: Annotated[None, Depends(get_download_place)]
) -> Iterator[Session]:
    """A session that stays open until the response is sent."""
    with export_session(request.app.state.sessions) as session:
        yield session


ExportSession = Annotated[Session, Depends(get_export_session)]


def download(found: Export) -> StreamingResponse:
    """The export as a response: its file name, its kind, and how complete it is."""
    return StreamingResponse(
        found.chunks,
        media_type=found.format.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{found.filename}"',
            "X-Topkapi-Assigned": str(found.completeness.assigned),
            "X-Topkapi-Finished": str(found.completeness.finished),
        },
    )
