"""Markdown as HTML: guidelines, and pages stored as Markdown."""

from functools import cache

from markdown_it import MarkdownIt


@cache
def _renderer() -> MarkdownIt:
    # HTML inside Markdown is escaped; links with dangerous schemes are not rendered as links.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def to_html(source: str) -> str:
    """Return safe HTML for a Markdown text."""
    return str(_renderer().render(source))
