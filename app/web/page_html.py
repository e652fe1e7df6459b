"""From what a study stores to what a page frame shows.

Stored HTML keeps its own looks and is only followed by a style for marks and text size. Plain text
and Markdown are set in the reading style, which follows theme and size.
"""

from html import escape

from app.domain.marking import marked
from app.web.markdown import to_html
from app.web.page_links import PageLink
from app.web.pages import static_url

HTML, MARKDOWN, PLAIN = "text/html", "text/markdown", "text/plain"
_ZOOM = {1: ".82", 2: ".91", 4: "1.12", 5: "1.3"}
_MARK_COLOURS = ("#ffe591", "#c3ebcd", "#ffd3bd", "#dcd6fb")  # --mark-1 to --mark-4, on light


def shown_page(
    media_type: str, data: bytes, *, title: str, link: PageLink, in_frame: bool = True
) -> str:
    """The page with its terms marked; opened outside a frame its links lead nowhere."""
    text = data.decode("utf-8", "replace")
    if media_type == HTML:
        return marked(text, link.terms, links=in_frame) + _style_after(link)
    body = to_html(text) if media_type == MARKDOWN else f'<div class="plain">{escape(text)}</div>'
    return _document(title, marked(body, link.terms, links=in_frame), link)


def problem_page(kind: str, title: str, message: str, link: PageLink | None = None) -> str:
    """What a frame shows instead of a page; the work page reads ``kind``."""
    body = f"<h1>{escape(title)}</h1><p>{escape(message)}</p>"
    return _document(title, body, link or PageLink(0, 0), problem=kind)


def _document(title: str, body: str, link: PageLink, problem: str = "") -> str:
    theme = "" if link.theme == "auto" else f' data-theme="{link.theme}"'
    wrong = f' data-problem="{problem}"' if problem else ""
    styles = "".join(
        f'<link rel="stylesheet" href="{static_url(f"css/{name}.css")}">'
        for name in ("tokens", "page")
    )
    return (
        f'<!doctype html><html data-size="{link.size}"{theme}{wrong}><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>{styles}</head><body>{body}</body></html>"
    )


def _style_after(link: PageLink) -> str:
    """Behind the page, where it changes neither its mode nor its order of styles."""
    sizes = [f'html[data-size="{size}"]{{zoom:{zoom}}}' for size, zoom in _ZOOM.items()]
    if link.size in _ZOOM:
        sizes.insert(0, f"html:not([data-size]){{zoom:{_ZOOM[link.size]}}}")
    marks = [
        f'mark[data-mark="{number}"]{{background:{colour}!important}}'
        for number, colour in enumerate(_MARK_COLOURS, 1)
    ]
    common = "mark[data-mark]{color:#1e1c19!important;border-radius:3px;padding:0 .1em}"
    return f"\n<style>{''.join([common, *marks, *sizes])}</style>"
