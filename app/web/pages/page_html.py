"""Conversion of stored documents to the HTML shown in a page frame.

Stored HTML keeps its own style; only a style for marks and text size is appended. Plain text and
Markdown use the reading style, which depends on theme and size.
"""

import re
from collections.abc import Sequence
from html import escape

from turbohtml import Token, TokenType

from topkapi.app.services.pages.cleaning import page_tokens
from topkapi.app.services.pages.rendering import rendered_html
from topkapi.app.web.common.formats import is_bounded, to_html
from topkapi.app.web.common.templates import static_url
from topkapi.app.web.pages.page_links import PageLink

_PART = re.compile(r".{4000,8000}?\n\n+|.{4000,}?\n+|.+", re.DOTALL)
HTML, MARKDOWN, PLAIN = "text/html", "text/markdown", "text/plain"
PICTURE = "image/"
_BLANK_LIMIT = 50_000  # characters
_EMPTY = (
    '<p style="max-width:36em;margin:2em auto;padding:1em;border:1px dashed;'
    'font-family:sans-serif">'
    "This page is empty: the study has stored no text for it. If it cannot be judged, choose "
    "“Cannot judge”.</p>"
)
# What gives a page looks of its own. Any other HTML is set like Markdown (page.css), on light.
_STYLED = re.compile(
    r"<style\b|\bstylesheet\b|<(?:font|center|frameset)\b|\s(?:style|bgcolor|background)\s*=", re.I
)
_READING = (
    "<style>html{font:1.0625rem/1.62 Charter,'Bitstream Charter','Iowan Old Style','Sitka Text',"
    "'Source Serif 4','Noto Serif',Cambria,Georgia,'Liberation Serif',serif;color:#1e1c19;"
    "overflow-wrap:break-word}body{max-width:68ch;margin:0 auto;padding:24px;text-wrap:pretty}"
    "h1{margin:0 0 .5em;font-size:1.6em;line-height:1.2}h2{margin:1.6em 0 .4em;font-size:1.18em}"
    "p,ul,ol,pre,blockquote,table{margin:0 0 .9em}ul,ol{padding-inline-start:1.3em}"
    "a{color:#1d478f}img{max-width:100%;height:auto}pre{overflow-x:auto}"
    "table{border-collapse:collapse}th,td{padding:.35em .9em .35em 0;text-align:start;"
    "border-bottom:1px solid #dcd8cf}</style>"
)
_SEEN = re.compile(r"<(?:img|svg|picture|video|audio|object|embed|canvas|input|button)\b", re.I)
_UNSEEN = frozenset(("style", "title"))
_ZOOM = {1: ".82", 2: ".91", 4: "1.12", 5: "1.3"}
# Embedded pages, films and pictures from elsewhere are not loaded: a hatched box marks the place.
_LABEL = (
    "%3Csvg xmlns='http://www.w3.org/2000/svg' width='92' height='18'%3E"
    "%3Crect width='92' height='18' rx='3' fill='%23fbf9f5'/%3E"
    "%3Ctext x='46' y='13' text-anchor='middle' font-family='sans-serif' font-size='11'"
    " fill='%235c564c'%3Enot shown here%3C/text%3E%3C/svg%3E"
)
WITHHELD = (
    "iframe,frame,embed,applet,portal,video,audio,"
    "img:is([src^='http:' i],[src^='https:' i],[src^='//'])"
    "{min-width:96px;min-height:22px;outline:1px dashed #8a8378;outline-offset:-1px;"
    f'background:url("data:image/svg+xml,{_LABEL}") center no-repeat,'
    "repeating-linear-gradient(45deg,#0000 0 6px,#8a837826 6px 7px)!important}"
)
# Many pages lock scrolling, or hide themselves until a script has run. Important styles of a layer
# win over all styles outside layers, also important ones. Both axes: next to a hidden one, a
# visible one counts as ``auto``, and in quirks mode the body would scroll instead of the page.
# The vertical scroll bar is always there, so that two pages side by side wrap alike; space kept for
# one would be a white strip beside a coloured page.
_READABLE = (
    "@layer topkapi{html{overflow:auto scroll!important}body{overflow:visible!important}"
    "html,body{opacity:1!important;visibility:visible!important}}"
)
# What scripts of the judging page paint without changing the page. Added later, the style of a long
# page would be computed again.
_PAINTED = (
    "::highlight(topkapi-passage){background:rgb(47 128 237/.26);"
    "text-decoration:underline 2px rgb(47 128 237)}"
    "::highlight(topkapi-difference){background:rgb(190 40 140/.18);"
    "text-decoration:underline 2px rgb(190 40 140)}"
    "::highlight(topkapi-find){background:#ffb224;color:#1e1c19}"
    "::highlight(topkapi-hit){background:#e5484d;color:#fff}"
)
_MARK_COLOURS = ("#ffe591", "#c3ebcd", "#ffd3bd", "#dcd6fb")  # --mark-1 to --mark-4, on light


def plain_html(text: str) -> str:
    """Return ``text`` as HTML; a long one in parts that end at blank lines or line breaks."""
    parts = [escape(part) for part in _PART.findall(text)]
    if len(parts) > 1:
        parts = [f"<div data-topkapi-part>{part}</div>" for part in parts]
    return f'<div class="plain" dir="auto">{"".join(parts)}</div>'


def page_body(media_type: str, data: bytes, terms: Sequence[str], *, in_frame: bool) -> bytes:
    """Return the page with its terms marked, independent of title, theme and size.

    Links are kept only in a frame; a page opened outside one has none that work.
    """
    text = data.decode("utf-8", "replace")
    if media_type == MARKDOWN and is_bounded(text):
        text = to_html(text)
    elif media_type != HTML:
        text = plain_html(text)
    page = rendered_html(text, terms, links=in_frame)
    if _is_blank(page):
        page += _EMPTY
    elif media_type == HTML and not _STYLED.search(text):
        page += _READING
    return page.encode()


def _is_blank(page: str) -> bool:
    """Return whether a page has neither text nor pictures; a long one is taken to have some."""
    if len(page) > _BLANK_LIMIT or _SEEN.search(page):
        return False
    return not any(_is_visible(token, raw) for token, raw in page_tokens(page))


def _is_visible(token: Token, raw: str) -> bool:
    is_text = token.type is TokenType.TEXT and raw not in _UNSEEN
    return is_text and bool((token.data or "").strip())


def around_body(media_type: str, *, title: str, link: PageLink) -> tuple[bytes, bytes]:
    """Return what is sent before and after the body of a page."""
    if media_type == HTML:
        return b"", _style_after(link).encode()
    before, after = _document(title, link)
    return before.encode(), after.encode()


def problem_page(kind: str, title: str, message: str, link: PageLink | None = None) -> str:
    """Return the error page for a frame; the scripts of the judging page read ``kind``."""
    before, after = _document(title, link or PageLink(0, 0), problem=kind)
    return f"{before}<h1>{escape(title)}</h1><p>{escape(message)}</p>{after}"


def keeps_colours(media_type: str) -> bool:
    """Return whether pages of this type have their own colours, on a light background."""
    return media_type not in (MARKDOWN, PLAIN)


def picture_document(name: str, title: str, link: PageLink) -> str:
    """Return a page that shows the picture ``name`` of the same folder, fitted to the width."""
    style = (
        "body{margin:0;background:#fff}img{display:block;max-width:100%;height:auto;margin:auto}"
    )
    return (
        f'<!doctype html><html data-size="{link.size}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        f'<img src="{escape(name)}?raw=1" alt="{escape(title)}">{_style_after(link)}</body></html>'
    )


def picture_page(name: str) -> str:
    """Return a page that embeds the image ``name`` from the same folder.

    An SVG file opened as a document could open connections; as an image it cannot.
    """
    return f'<!doctype html><title>{escape(name)}</title><img src="{escape(name)}" alt="">'


def _document(title: str, link: PageLink, problem: str = "") -> tuple[str, str]:
    """Return the HTML before and after the body of a page in the reading style."""
    theme = "" if link.theme == "auto" else f' data-theme="{link.theme}"'
    wrong = f' data-problem="{problem}"' if problem else ""
    styles = "".join(
        f'<link rel="stylesheet" href="{static_url(f"css/{name}.css")}">'
        for name in ("tokens", "page")
    )
    before = (
        f'<!doctype html><html data-size="{link.size}"{theme}{wrong}><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>{styles}<style>{WITHHELD}{_PAINTED}</style></head>"
        '<body dir="auto">'
    )
    return before, "</body></html>"


def _style_after(link: PageLink) -> str:
    """Return the style to append.

    At the end it changes neither the page's rendering mode nor the order of its own styles.
    """
    zooms = {size: f"{{zoom:{zoom};--topkapi-zoom:{zoom}}}" for size, zoom in _ZOOM.items()}
    sizes = [f'html[data-size="{size}"]{zoom}' for size, zoom in zooms.items()]
    if link.size in zooms:
        sizes.insert(0, f"html:not([data-size]){zooms[link.size]}")
    marks = [
        f'mark[data-mark="{number}"]{{background:{colour}!important}}'
        for number, colour in enumerate(_MARK_COLOURS, 1)
    ]
    common = "mark[data-mark]{color:#1e1c19!important;border-radius:3px;padding:0 .1em}"
    ours = (common, WITHHELD, _READABLE, _PAINTED, *marks, *sizes)
    return f"\n<style>{''.join(ours)}</style>"
