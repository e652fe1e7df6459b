"""Markdown as HTML: guidelines, and pages stored as Markdown."""

from functools import cache

from markdown_it import MarkdownIt

from topkapi.app.services.fence import limits


@cache
def _renderer() -> MarkdownIt:
    # HTML inside Markdown is escaped; links with dangerous schemes are not rendered as links.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def is_bounded(source: str) -> bool:
    """Return whether a text is parsed in about a second; unclosed brackets take the longest."""
    return len(source) <= limits.MAX_MARKDOWN and source.count("[") <= limits.MAX_BRACKETS


def to_html(source: str) -> str:
    """Return safe HTML for a Markdown text."""
    return str(_renderer().render(source))
