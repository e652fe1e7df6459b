"""API of exports: the formats, and their files."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse

from topkapi.app.services.results.exports import (
    EXPORTS,
    ExportOptions,
    StudySource,
    completeness,
    offered_exports,
    open_export,
)
from topkapi.app.web.access.deps import ApiResearcher, SessionDep, Slug
from topkapi.app.web.access.downloads import ExportSession, SpooledResponse, download, note_download
from topkapi.app.web.access.early_auth import EarlyApiResearcher
from topkapi.app.web.studies.api_models import ExportOut

router = APIRouter(prefix="/api/v1/studies/{slug}/exports", tags=["exports"])
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The export; `X-Topkapi-Assigned` and `X-Topkapi-Finished` count sessions.",
        "content": {
            media_type: {"schema": {"type": "string"}}
            for media_type in sorted({each.media_type for each in EXPORTS.values()})
        },
    }
}


@router.get("")
def list_exports(session: SessionDep, _user: ApiResearcher, slug: Slug) -> list[ExportOut]:
    """List the formats, and how complete each would be now."""
    source = StudySource(session, slug)
    whole = completeness(source)
    found = []
    for each in offered_exports(source):
        state = whole.of(each.tools)
        found.append(
            ExportOut(
                format=each.name,
                description=each.description,
                media_type=each.media_type,
                filename=f"{slug}.{each.name}{each.suffix}",
                assigned=state.assigned,
                finished=state.finished,
                complete=state.complete,
            )
        )
    return found


@router.get("/{format}", response_class=StreamingResponse, responses=_BYTES)
def get_export_file(
    request: Request,
    user: EarlyApiResearcher,
    session: ExportSession,
    slug: Slug,
    format: Annotated[str, Path(max_length=100, description="Such as `topk.jsonl`.")],
    assessor: Annotated[
        str | None, Query(max_length=300, description="E-mail, full name or pseudonym.")
    ] = None,
    pseudonyms: Annotated[bool, Query(description="`assessor-01` instead of e-mails.")] = False,
) -> SpooledResponse:
    """Download an export, the same bytes as `topkapi export` writes."""
    found = open_export(session, slug, format, ExportOptions(assessor, pseudonyms))
    note_download(request, user, slug, format)
    return download(found)
