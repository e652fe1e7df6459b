"""Pages under judgment and their files: untrusted content, served so that nothing in it can run."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Annotated, Literal
from urllib.parse import quote

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Header, Request
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse, Response

from topkapi.app.db.queries.judging import pages as queries
from topkapi.app.services.pages.cleaning import without_has
from topkapi.app.services.pages.pdf import INDEX, PDF, rendered_folder
from topkapi.app.services.pages.shown import BodyKey, PageBody, PageHead, ShownPages
from topkapi.app.web.access.admission import admit_visitor
from topkapi.app.web.access.deps import in_transaction
from topkapi.app.web.pages.page_html import (
    HTML,
    MARKDOWN,
    PICTURE,
    PLAIN,
    around_body,
    page_body,
    picture_document,
    picture_page,
    problem_page,
)
from topkapi.app.web.pages.page_links import LinkExpired, LinkWrong, PageLink, PageLinks

router = APIRouter(include_in_schema=False)

CSP = "; ".join(
    (
        "sandbox allow-same-origin",
        "default-src 'none'",
        "img-src 'self' data:",
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self' data:",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    )
)
_HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Vary": "Sec-Fetch-Dest",
}
_LARGE = 500_000  # bytes of a page
_CODE = ("javascript", "ecmascript", "wasm")
_SVG, _CSS = "image/svg+xml", "text/css"
_OPENED = frozenset(("document", "iframe", "frame", "object", "embed"))  # values of Sec-Fetch-Dest

# Each page of a PDF holds hundreds of words: a browser lays out those near the window only.
_NEAR_THE_WINDOW = b".sheet{content-visibility:auto}"


def add_link_errors(app: FastAPI) -> None:
    """Register handlers that answer invalid links with a page that fits into a frame."""
    app.add_exception_handler(LinkWrong, _show_wrong_link)
    app.add_exception_handler(LinkExpired, _show_expired_link)


def _show_wrong_link(_request: Request, _error: Exception) -> Response:
    return _problem(
        403,
        "wrong",
        "This link is not valid",
        "Go back to your queue and open the query from there.",
    )


def _show_expired_link(_request: Request, _error: Exception) -> Response:
    return _problem(410, "expired", "This link has expired", "Reload the question.")


@router.get("/pages/{token}/{path:path}")
async def get_page(
    request: Request,
    token: str,
    path: str,
    sec_fetch_dest: Annotated[str, Header()] = "",
    raw: bool = False,
    view: Literal["page", "text"] = "page",
) -> Response:
    """Serve the page named by a token, or a file of the same study; cookies are ignored.

    A rendered page is served from the cache, without a thread or a transaction. A picture that is
    a document is shown by a page of its own; ``raw`` is the picture itself, for that page only.
    The ``view`` may be the plain text of the page instead.
    """
    links: PageLinks = request.app.state.page_links
    link, seconds = links.read(token)
    admit_visitor(request)
    in_frame = sec_fetch_dest != "document"
    found = await _find(request, link, path, in_frame=in_frame, as_text=view == "text")
    if found is None:
        return _missing(link)
    if path == found.head.path:
        raw = raw and sec_fetch_dest not in _OPENED
        response = await _page(request, link, found, raw=raw)
    else:
        response = await _file(request, link, path, sec_fetch_dest)
    return _missing(link) if response is None else _cacheable(response, seconds)


@dataclass(frozen=True, slots=True)
class _Found:
    """The metadata of a page with its rendered body, if cached, or else its stored bytes."""

    head: PageHead
    key: BodyKey
    body: PageBody | None
    data: bytes | None


async def _find(
    request: Request, link: PageLink, path: str, *, in_frame: bool, as_text: bool
) -> _Found | None:
    """Return the page of the link from the cache, or read what is missing in one transaction."""
    pages: ShownPages = request.app.state.pages

    def cached(head: PageHead) -> _Found:
        key = BodyKey(head.content_hash, link.terms, in_frame, as_text)
        shown = replace(head, media_type=PLAIN) if as_text else head
        return _Found(shown, key, pages.body(key), None)

    known = pages.head(link.study_id, link.document_id)
    stored = cached(known) if known else None
    if stored and (stored.body or path != stored.head.path):
        return stored

    def read(session: Session) -> _Found | None:
        head = known or _head(session, pages, link)
        if head is None:
            return None
        stored = cached(head)
        if stored.body or path != head.path or stored.head.media_type == PDF:
            return stored
        if as_text:
            data: bytes | None = queries.text_of(session, head.content_hash).encode()
        else:
            data = queries.data_of(session, head.content_hash)
        return replace(stored, data=data)

    return await in_transaction(request, read)


def _head(session: Session, pages: ShownPages, link: PageLink) -> PageHead | None:
    row = queries.document_head(session, link.study_id, link.document_id)
    if row is None:
        return None
    head = PageHead(*row)
    pages.keep_head(link.study_id, link.document_id, head)
    return head


async def _page(request: Request, link: PageLink, stored: _Found, *, raw: bool) -> Response | None:
    """Return the page as shown in a frame; a document that is not text is sent unchanged."""
    head, body, data = stored.head, stored.body, stored.data
    if head.media_type == PDF:
        return await _pdf(request, link, stored)
    if head.media_type.startswith(PICTURE) and not raw:
        name = quote(PurePosixPath(head.path).name)
        return HTMLResponse(picture_document(name, head.title, link))
    if body is None:
        if data is None or head.media_type not in (HTML, MARKDOWN, PLAIN):
            return None if data is None else _as_stored(data, head.media_type)
        body = await _rendered(request, head.media_type, data, stored.key)
    return _shown(request, body, head, link)


async def _pdf(request: Request, link: PageLink, stored: _Found) -> Response | None:
    """Return the page that was rendered from a PDF at import, with its terms marked."""
    head, body = stored.head, stored.body
    if body is None:
        found = await _stored_file(request, link, f"{rendered_folder(head.path)}/{INDEX}")
        if found is None:
            return None
        data = found[2].replace(b"</style>", _NEAR_THE_WINDOW + b"</style>", 1)
        body = await _rendered(request, HTML, data, stored.key)
    return _shown(request, body, replace(head, media_type=HTML), link)


async def _rendered(request: Request, media_type: str, data: bytes, key: BodyKey) -> PageBody:
    """Render the body, and cache it; what may take long has a lane of its own."""

    def render() -> PageBody:
        return PageBody.of(page_body(media_type, data, key.terms, in_frame=key.links))

    pages: ShownPages = request.app.state.pages
    state = request.app.state
    is_slow = media_type == MARKDOWN or len(data) > _LARGE
    lane = state.slow_renderings if is_slow else state.renderings
    body = await to_thread.run_sync(render, limiter=lane)
    pages.keep_body(key, body)
    return body


async def _stored_file(
    request: Request, link: PageLink, path: str
) -> tuple[str, str, bytes] | None:
    """Return hash, media type and bytes of a file of the study."""

    def read(session: Session) -> tuple[str, str, bytes] | None:
        content = queries.content_of_file(session, link.study_id, path)
        return None if content is None else (content.hash, content.media_type, content.data)

    return await in_transaction(request, read)


async def _file(request: Request, link: PageLink, path: str, dest: str) -> Response | None:
    """Return a file of the study; HTML is rendered, without marks."""
    found = await _stored_file(request, link, path)
    if found is None:
        return None
    content_hash, media_type, data = found
    if media_type == HTML:
        key = BodyKey(content_hash, (), dest != "document")
        body = request.app.state.pages.body(key)
        body = body or await _rendered(request, media_type, data, key)
        return _shown(request, body, PageHead(content_hash, media_type, path, ""), link)
    if media_type == _SVG and dest in _OPENED:
        return HTMLResponse(picture_page(quote(PurePosixPath(path).name)))
    return _as_stored(data, media_type)


def _shown(request: Request, body: PageBody, head: PageHead, link: PageLink) -> Response:
    before, after = around_body(head.media_type, title=head.title, link=link)
    tag = body.tag_between(before, after)
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={"ETag": tag})
    return HTMLResponse(before + body.data + after, headers={"ETag": tag})


def _as_stored(data: bytes, media_type: str) -> Response:
    """Return the stored bytes with their media type; scripts are served as plain text.

    Styles lose selectors that would hold the browser.
    """
    is_code = any(code in media_type for code in _CODE)
    if media_type == _CSS:
        encoding = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
        data = without_has(data.decode(encoding, "replace")).encode()
    return Response(data, media_type=PLAIN if is_code else media_type)


def _cacheable(response: Response, seconds: int) -> Response:
    """Let the browser cache the page until its link expires: the content never changes."""
    response.headers.update(_HEADERS)
    response.headers["Cache-Control"] = f"private, max-age={seconds}, immutable"
    return response


def _missing(link: PageLink) -> Response:
    return _problem(
        404,
        "missing",
        "This page is missing",
        "The study has no such page. Choose “Cannot judge” for it; your other answers are saved.",
        link,
    )


def _problem(
    status: int, kind: str, title: str, message: str, link: PageLink | None = None
) -> Response:
    page = problem_page(kind, title, message, link)
    return HTMLResponse(page, status, headers={**_HEADERS, "Cache-Control": "no-store"})
