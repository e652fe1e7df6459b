"""Contents as they are stored, once each, keyed by their hash, and their plain texts."""

import re
from typing import Any

from turbohtml import Token, TokenType

from topkapi.app.services.importing.records.types import HTML, MARKDOWN, PLAIN
from topkapi.app.services.pages.cleaning import page_tokens

_BLOCK_NAMES = """
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav
    ol option p pre section summary table tbody tfoot thead tr ul
"""
_PARAGRAPH_NAMES = "article blockquote dl figure h1 h2 h3 h4 h5 h6 ol p pre section table ul"
_SPACES = {
    **dict.fromkeys(_BLOCK_NAMES.split(), "\n"),
    **dict.fromkeys(_PARAGRAPH_NAMES.split(), "\n\n"),
    **dict.fromkeys(("td", "th"), "  "),
}
_UNSEEN = frozenset(("script", "style", "iframe", "title"))
_BLANKS = re.compile(r"[^\S\xa0]+")
_STEPS = {TokenType.START_TAG: 1, TokenType.END_TAG: -1}


def plain_text(page: str) -> str:
    """Return the text that ``page`` shows: a line per block, an empty one between paragraphs."""
    text = "".join(_parts(page)).replace("\0", "").replace("\xa0", " ")
    text = "\n".join(line.strip() for line in text.split("\n"))
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()


def _parts(page: str) -> list[str]:
    """Return texts and the separators of their tags; collapse blanks except in `pre`."""
    parts: list[str] = []
    depths = {"pre": 0, "template": 0}
    for token, raw in page_tokens(page):
        _count(depths, token)
        if depths["template"] or raw in _UNSEEN:
            continue
        if token.type is TokenType.TEXT:
            text = token.data or ""
            parts.append(text if depths["pre"] else _BLANKS.sub(" ", text))
        parts.append(_SPACES.get(token.tag or "", ""))
    return parts


def _count(depths: dict[str, int], token: Token) -> None:
    name = token.tag or ""
    if name in depths:
        depths[name] = max(0, depths[name] + _STEPS[token.type])


def content_row(
    media_type: str, data: bytes, digest: str, text: str | None = None
) -> dict[str, Any]:
    """Return a content as a row of its table, with its plain text if it is a page."""
    return {
        "hash": digest,
        "media_type": media_type,
        "data": data,
        "size": len(data),
        "text": _text(media_type, data) if text is None else text,
    }


def _text(media_type: str, data: bytes) -> str | None:
    if media_type == HTML:
        return plain_text(data.decode("utf-8", "replace"))
    if media_type in (PLAIN, MARKDOWN):
        return data.decode("utf-8", "replace").replace("\0", "")
    return None
