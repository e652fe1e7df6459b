"""Help: the pages of the documentation, as they were when this version was built."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from fastapi import APIRouter, Request
from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.responses import FileResponse, Response

from topkapi.app.domain.errors import NotFound
from topkapi.app.installation.assets import asset_dir
from topkapi.app.web.access.deps import CurrentUser
from topkapi.app.web.common.templates import render

router = APIRouter(prefix="/help", include_in_schema=False)
_PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class HelpView:
    """A page of the documentation as HTML."""

    title: str
    html: str


@router.get("/{path:path}")
def get_help(request: Request, _user: CurrentUser, path: str) -> Response:
    """Return a page of the documentation, the first if none is named, or a picture of one."""
    path = path or "README.md"
    file = _files().get(path)
    if file is None:
        raise NotFound("There is no such page in the help.")
    if file.suffix in _PICTURES:
        return FileResponse(file, media_type=_PICTURES[file.suffix])
    return render(request, "help/page.html", _page(path))


@cache
def _files() -> Mapping[str, Path]:
    """Return the files by their paths; nothing else can be asked for."""
    root = asset_dir("docs")
    found = (path for path in root.rglob("*") if path.suffix in {".md", *_PICTURES})
    return {path.relative_to(root).as_posix(): path for path in found}


@cache
def _page(path: str) -> HelpView:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")  # our own text
    text = _files()[path].read_text(encoding="utf-8")
    tokens = parser.parse(text)
    for opened, inside in pairwise(tokens):
        if opened.type == "heading_open":
            opened.attrSet("id", _anchor(inside.content))
        for each in inside.children or ():
            _keep_inside(each, path)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return HelpView(text.partition("\n")[0].removeprefix("# "), html)


def _anchor(heading: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _keep_inside(token: Token, path: str) -> None:
    """Make a link to a file that is not in the help plain text."""
    target = str(token.attrGet("href") or "")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(path), target.partition("#")[0]))
    if token.type == "link_open" and not target.startswith(("#", "http")) and file not in _files():
        del token.attrs["href"]
