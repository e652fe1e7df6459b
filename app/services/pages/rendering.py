"""Rendering of HTML pages for the frame: sanitized, with the terms marked in visible text."""

import re
from collections.abc import Sequence

from turbohtml import Token, TokenType

from topkapi.app.domain.text.highlighting import colour_of_match, split_at_terms, term_pattern
from topkapi.app.services.pages.cleaning import (
    DROPPED,
    RENAMED,
    PageToken,
    end_tag,
    escaped,
    page_tokens,
    start_tag,
    style_text,
)

MAX_TOKENS = 400_000
MAX_MARKS = 20_000
MAX_MARKED = 1_000_000  # characters that are searched for terms
_UNMARKED = frozenset(("svg", "math", "select", "template"))  # a mark inside would not be visible
_HIDDEN = DROPPED | {"iframe"}
_CLOSED_BY_END_TAG = frozenset(("style", "title", "textarea", "iframe"))
_ESCAPED = re.compile(r"[&<>\0\r]")  # what `escaped` changes
_DOCTYPE_ID = re.compile(r"[^\"<>&\0\r]*")
_CUT = "<p>This page is too long to be shown completely. The rest is left out.</p>"


def rendered_html(html: str, terms: Sequence[str], *, links: bool = True) -> str:
    """Return the sanitized page with every term marked; without ``links`` links are disabled.

    Work is bounded: a page is cut after ``MAX_TOKENS`` tokens, and terms are marked ``MAX_MARKS``
    times within the first ``MAX_MARKED`` characters of text.
    """
    writer = _Writer(terms, links=links)
    for number, token in enumerate(page_tokens(html)):
        if number == MAX_TOKENS:
            return writer.finished() + _CUT
        writer.write(token)
    return writer.finished()


class _Writer:
    """Writes the sanitized page, token by token."""

    def __init__(self, terms: Sequence[str], *, links: bool) -> None:
        self._pattern = term_pattern(terms)
        self._links = links
        self._parts: list[str] = []
        self._begun = False
        self._marks, self._unsearched = MAX_MARKS, MAX_MARKED  # remaining limits
        self._raw = ""  # the open element that only its own end tag closes
        self._unmarked, self._depth = "", 0

    def write(self, page_token: PageToken) -> None:
        token, raw = page_token
        kind = token.type
        if kind is TokenType.TEXT:
            self._text(token.data or "", raw)
        elif kind is TokenType.START_TAG:
            self._start(token, token.tag or "")
        elif kind is TokenType.END_TAG:
            self._end(token.tag or "")
        elif kind is TokenType.DOCTYPE and not self._begun:
            self._parts.append(_doctype(token))
            self._begun = True

    def finished(self) -> str:
        """Return the page; close elements that would swallow a style appended to it."""
        self._close_raw()
        return "".join([*self._parts, *[end_tag(self._unmarked)] * self._depth])

    def _start(self, token: Token, name: str) -> None:
        closes = token.self_closing
        self._close_raw()
        self._parts.append(start_tag(name, token.attrs or (), closes=closes, links=self._links))
        self._begun = True
        if name in _CLOSED_BY_END_TAG:
            self._raw = name
        if name in _UNMARKED and not closes and self._unmarked in ("", name):
            self._unmarked, self._depth = name, self._depth + 1

    def _end(self, name: str) -> None:
        if name != self._raw:
            self._close_raw()
        self._raw = ""
        self._parts.append(end_tag(name))
        self._begun = True
        if name == self._unmarked:
            self._depth -= 1
            self._unmarked = name if self._depth else ""

    def _close_raw(self) -> None:
        if self._raw:
            self._parts.append(end_tag(self._raw))
        self._raw = ""

    def _text(self, text: str, raw: str) -> None:
        self._begun = self._begun or not text.isspace()
        if raw in _HIDDEN:
            return
        if raw in RENAMED and text.startswith("\n"):
            text = "\n" + text  # `pre` drops a line break after its tag
        if raw == "style":
            self._parts.append(style_text(text))
        elif self._pattern is None or self._unmarked or raw in _CLOSED_BY_END_TAG:
            self._parts.append(escaped(text))
        else:
            self._marked_text(text, self._pattern)

    def _marked_text(self, text: str, pattern: re.Pattern[str]) -> None:
        if len(text) <= self._unsearched and self._marks > 0 and not _ESCAPED.search(text):
            shown, marks = pattern.subn(self._mark, text, count=self._marks)
            self._parts.append(shown)
            self._marks -= marks
            self._unsearched -= len(text)
            return
        for part, colour in split_at_terms(text[: self._unsearched], pattern):
            is_marked = colour is not None and self._marks > 0
            self._marks -= is_marked
            shown = escaped(part)
            self._parts.append(f'<mark data-mark="{colour}">{shown}</mark>' if is_marked else shown)
        self._parts.append(escaped(text[self._unsearched :]))
        self._unsearched = max(0, self._unsearched - len(text))

    def _mark(self, found: re.Match[str]) -> str:
        return f'<mark data-mark="{colour_of_match(found)}">{found[0]}</mark>'


def _doctype(token: Token) -> str:
    """Return the doctype, which selects the browser's rendering mode (none: quirks mode)."""
    ids = [each for each in (token.public_id, token.system_id) if each is not None]
    if token.force_quirks or token.name != "html" or not all(map(_DOCTYPE_ID.fullmatch, ids)):
        return ""
    keyword = " SYSTEM" if token.public_id is None else " PUBLIC"
    quoted = "".join(f' "{each}"' for each in ids)
    return f"<!DOCTYPE html{keyword + quoted if ids else ''}>"
