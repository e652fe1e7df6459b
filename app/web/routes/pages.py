"""Pages under judgment and their files: strangers' work, shown so that nothing in it can act."""

from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, Header, Request
from starlette.responses import HTMLResponse, Response

from app.db.queries import pages as queries
from app.web.admission import admit_visitor
from app.web.deps import SessionDep
from app.web.page_html import HTML, MARKDOWN, PLAIN, problem_page, shown_page
from app.web.page_links import LinkExpired, LinkWrong, PageLink, PageLinks

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
_CODE = ("javascript", "ecmascript", "wasm")


def add_link_errors(app: FastAPI) -> None:
    """Show links that do not work as pages that fit into a frame."""
    app.add_exception_handler(LinkWrong, _show_wrong_link)
    app.add_exception_handler(LinkExpired, _show_expired_link)


def _show_wrong_link(_request: Request, _error: Exception) -> Response:
    return _problem(403, "wrong", "This link is not valid", "Go back to your queue.")


def _show_expired_link(_request: Request, _error: Exception) -> Response:
    return _problem(410, "expired", "This link has expired", "Load the question again.")


async def _shown_link(request: Request, token: str) -> tuple[PageLink, int]:
    """Read the link by its signature, before the database is asked anything."""
    links: PageLinks = request.app.state.page_links
    found = links.read(token)
    admit_visitor(request)
    return found


@router.get("/pages/{token}/{path:path}")
def get_page(
    shown: Annotated[tuple[PageLink, int], Depends(_shown_link)],
    session: SessionDep,
    path: str,
    sec_fetch_dest: Annotated[str, Header()] = "iframe",
) -> Response:
    """The page a token names, or a file that stood beside it. No cookie is looked at."""
    link, seconds = shown
    document = queries.document_with_content(session, link.study_id, link.document_id)
    if document is None:
        return _missing(link)
    if path == document.path:
        content = document.content
        if content.media_type in (HTML, MARKDOWN, PLAIN):
            in_frame = sec_fetch_dest != "document"
            page = shown_page(
                content.media_type, content.data, title=document.title, link=link, in_frame=in_frame
            )
            return _kept(HTMLResponse(page), seconds)
    else:
        found = queries.content_of_file(session, link.study_id, path)
        if found is None:
            return _missing(link)
        content = found
    return _kept(Response(content.data, media_type=_served_as(content.media_type)), seconds)


def _served_as(media_type: str) -> str:
    """The stored type; nothing is served as a program."""
    return PLAIN if any(code in media_type for code in _CODE) else media_type


def _kept(response: Response, seconds: int) -> Response:
    """Let the browser keep the page for as long as its link works: it cannot change."""
    response.headers.update(_HEADERS)
    response.headers["Cache-Control"] = f"private, max-age={seconds}, immutable"
    return response


def _missing(link: PageLink) -> Response:
    return _problem(
        404,
        "missing",
        "This page is missing",
        "The study has no such page. Choose “Cannot judge” for it; your other answers are safe.",
        link,
    )


def _problem(
    status: int, kind: str, title: str, message: str, link: PageLink | None = None
) -> Response:
    page = problem_page(kind, title, message, link)
    return HTMLResponse(page, status, headers={**_HEADERS, "Cache-Control": "no-store"})
