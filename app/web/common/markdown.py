"""Markdown as HTML: guidelines, and pages stored as Markdown."""

from functools import cache

from markdown_it import MarkdownIt


@cache
def _renderer() -> MarkdownIt:
    # Markup inside Markdown is shown as text; links with dangerous schemes are not made.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def to_html(source: str) -> str:
    """Safe HTML of a Markdown text."""
    return str(_renderer().render(source))
