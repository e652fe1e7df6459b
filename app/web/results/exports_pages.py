"""The exports of a study in the browser: the formats, their completeness, and the files."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from topkapi.app.services.results.exports import (
    ExportOptions,
    StudySource,
    completeness,
    offered_exports,
    open_export,
)
from topkapi.app.web.access.deps import Slug
from topkapi.app.web.access.downloads import ExportSession, download, note_download
from topkapi.app.web.access.early_auth import EarlyResearcher
from topkapi.app.web.results.views import ExportLine, ExportsView
from topkapi.app.web.studies.visit import ReaderVisit

router = APIRouter(prefix="/studies/{slug}/exports", include_in_schema=False)
Assessor = Annotated[str, Query(max_length=300)]


@router.get("")
def get_exports(visit: ReaderVisit, assessor: Assessor = "", pseudonyms: bool = False) -> Response:
    """List the formats with their links, filtered by assessor and with or without pseudonyms."""
    options = ExportOptions(assessor or None, pseudonyms)
    source = StudySource(visit.session, visit.study.slug, options)
    shown = "" if source.only is None else source.assessors.name(source.only)
    chosen = {"assessor": shown} if shown else {}
    chosen |= {"pseudonyms": "true"} if pseudonyms else {}
    query = f"?{urlencode(chosen)}" if chosen else ""
    state = completeness(source)
    lines = [
        ExportLine(
            format=each,
            completeness=state.of(each.tools),
            url=visit.url("get_export", format=each.name) + query,
        )
        for each in offered_exports(source)
    ]
    view = ExportsView(
        head=visit.head("exports"),
        lines=lines,
        assessors=source.assessors.names,
        assessor=shown,
        pseudonyms=pseudonyms,
    )
    return visit.show("results/exports.html", view)


@router.get("/{format}")
def get_export(
    request: Request,
    user: EarlyResearcher,
    session: ExportSession,
    slug: Slug,
    format: Annotated[str, Path(max_length=100)],
    assessor: Assessor = "",
    pseudonyms: bool = False,
) -> Response:
    """Download an export, the same bytes as the API and the command line write."""
    options = ExportOptions(assessor or None, pseudonyms)
    found = open_export(session, slug, format, options)
    note_download(request, user, slug, format)
    return download(found)
