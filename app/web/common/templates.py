"""Rendering of pages and fragments: the context of all templates, and the visitor cookie."""

import hashlib
import secrets
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.sessions import answer_name
from topkapi.app.installation.assets import asset_dir
from topkapi.app.web.common import htmx
from topkapi.app.web.common.cookies import CSRF_FIELD, CSRF_HEADER, VISITOR_COOKIE, cookies_of
from topkapi.app.web.common.formats import FILTERS
from topkapi.app.web.common.prefix import prefix, route_path

START_TEMPLATES = (  # of the pages that people meet first
    *("base.html", "_bar.html", "_macros.html", "_admin.html", "accounts/sign_in.html"),
    *("judging/queue.html", "progress/dashboard.html", "progress/results.html"),
    *("progress/_state.html", "progress/_first_run.html"),
)


@cache
def make_templates() -> Environment:
    """Return the process's template environment; an undefined name is an error, not an empty
    string.
    """
    environment = Environment(
        loader=FileSystemLoader(asset_dir("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # templates are read once per process
    )
    environment.filters.update(FILTERS)
    environment.globals["static_url"] = static_url
    environment.globals["PAIR_ANSWERS"] = {answer.value: answer for answer in Answer}
    environment.globals["LIST_ANSWERS"] = tuple(ListAnswer)
    environment.globals["TOOL_NAMES"] = {tool.value: tool.label for tool in Tool}
    environment.globals["answer_name"] = answer_name
    environment.globals["htmx_config"] = htmx.CONFIG
    # Questions and prefetched questions share these fragments, so they are cached.
    environment.globals["progress_bar"] = _cached(environment, "judging/_progress.html", "bar")
    environment.globals["pane_parts"] = _cached(environment, "judging/_pane.html", "parts")
    return environment


def _cached(environment: Environment, template: str, macro: str) -> Callable[[object], str]:
    """Return a macro over frozen views with an LRU cache, about a kilobyte per entry."""
    return lru_cache(maxsize=1024)(macro_of(environment, template, macro))


def macro_of(environment: Environment, template: str, macro: str) -> Callable[[object], str]:
    """Return a macro of a template as a function that gives markup."""
    draw: Callable[[object], str] = getattr(environment.get_template(template).module, macro)
    return draw


def render(
    request: Request, page: str, view: object, *, fragment: str | None = None, status: int = 200
) -> Response:
    """Render ``page``, or ``fragment`` if htmx asks for one; templates read ``view``."""
    name = fragment if fragment and htmx.wants_fragment(request) else page
    nonce, is_new = _nonce(request)
    response = HTMLResponse(_text(request, name, view, nonce), status_code=status)
    if is_new:
        cookies_of(request).set_visitor(response, nonce)
    return response


def to_text(request: Request, name: str, view: object) -> str:
    """Render a template to text, for pages that are assembled from parts."""
    nonce, _ = _nonce(request)
    return _text(request, name, view, nonce)


def _text(request: Request, name: str, view: object, nonce: str) -> str:
    templates: Environment = request.app.state.templates
    token = cookies_of(request).csrf_token(nonce)
    context: dict[str, Any] = {
        "view": view,
        "user": getattr(request.state, "user", None),
        "path": route_path(request.scope),
        "url_for": lambda name, **values: str(request.app.url_path_for(name, **values)),
        "csrf_field": CSRF_FIELD,
        "csrf_token": token,
        "htmx_headers": htmx.headers_attribute(CSRF_HEADER, token),
    }
    return templates.get_template(name).render(context)


def _nonce(request: Request) -> tuple[str, bool]:
    """Return the nonce that the visitor's CSRF tokens are bound to, and whether it is new."""
    claim = cookies_of(request).claim_of(request)
    if claim is not None:
        return claim.nonce, False
    known = request.cookies.get(VISITOR_COOKIE)
    return (known, False) if known else (secrets.token_urlsafe(16), True)


def static_url(path: str) -> str:
    """Return the address of a static file with a digest of its content, for caching."""
    file = asset_dir("static") / path
    return f"{prefix()}/static/{path}?v={_digest(file, file.stat().st_mtime_ns)}"


@cache
def _digest(file: Path, _changed: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


class Static(StaticFiles):
    """Static files; an address with a digest is immutable."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file, cacheable for a year if the address has a digest."""
        response = await super().get_response(path, scope)
        has_digest = b"v=" in scope.get("query_string", b"")
        response.headers["Cache-Control"] = (
            "public, max-age=31536000, immutable" if has_digest else "no-cache"
        )
        return response
