"""What lists show of a page: its title, and the passage with the most query terms."""

import re
from collections.abc import Sequence
from itertools import islice

from topkapi.app.domain.text.highlighting import split_at_terms, term_pattern

LENGTH = 220
_LEAD = 60  # characters of context before the first term
LOOK = 20_000  # characters of a page that are searched
_MATCHES = 200  # matches of terms that are considered

# Each part stops at the next bracket, where another link may start: no character is read twice.
_LINK = re.compile(r"!?\[([^\[\]\n]*+)\]\([^)\s\[]*+(?:\s[^)\[]*+)?\)")
_SIGNS = re.compile(
    r"^[ \t]*(?:#{1,6}|>|[-*+]|\|[-: |]+\|)(?=\s|$)"
    r"|[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)",
    re.MULTILINE,
)

_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)

Parts = tuple[tuple[str, int | None], ...]
FIRST_WORDS = 80  # characters of the text that stand for a missing title


def snippet(text: str, terms: Sequence[str], length: int = LENGTH) -> Parts:
    """Return the passage with the most terms, as parts of text with their highlight colours.

    >>> snippet("Cut the stems. Wrap tulips.", ["tulips"])
    (('Cut the stems. Wrap ', None), ('tulips', 1), ('.', None))
    """
    clean = " ".join(text[:LOOK].split())
    pattern = term_pattern(terms)
    matches = pattern.finditer(clean) if pattern else iter(())
    found = [(match.start(), match.lastgroup) for match in islice(matches, _MATCHES)]
    passage = _cut(clean, _best_start(found, length), length)
    return _marked(passage, terms)


def without_markdown(text: str) -> str:
    """Remove the Markdown syntax of headings, lists, links, emphasis and tables.

    >>> without_markdown("# Tulips\\n\\n- Leave it **on**, see [here](https://a.example)")
    ' Tulips\\n\\n Leave it on, see here'
    """
    prose = _SIGNS.sub("", _LINK.sub(r"\1", text))
    return _ROW.sub(lambda row: row.group().replace("|", " "), prose)


def _best_start(found: Sequence[tuple[int, str | None]], length: int) -> int:
    """Return the start of the passage with the most distinct terms; the first one on a tie."""
    best, most = 0, len({name for at, name in found if at < length})
    for number, (start, _) in enumerate(found):
        within = {name for at, name in found[number:] if at < start + length - _LEAD}
        if len(within) > most:
            best, most = max(0, start - _LEAD), len(within)
    return best


def _cut(text: str, start: int, length: int) -> str:
    """Return whole words from ``start``, with an ellipsis where text is omitted."""
    if start:
        start = text.find(" ", start) + 1
    end = start + length
    if end >= len(text):
        rest = text[start:]
        return f"… {rest}" if start else rest
    stop = text.rfind(" ", start, end)
    return f"{'… ' if start else ''}{text[start : stop if stop > start else end]} …"


def _marked(passage: str, terms: Sequence[str]) -> Parts:
    pattern = term_pattern(terms)
    if pattern is None or not passage:
        return ((passage, None),) if passage else ()
    return tuple(split_at_terms(passage, pattern))


def shown_title(title: str, text: str | None, name: str) -> str:
    """Return the title, or else the first words of the text, or else the name.

    >>> shown_title("", "  Keep tulips \\n in cold water. ", "d7")
    'Keep tulips in cold water.'
    """
    return title or " ".join((text or "")[:FIRST_WORDS].split()) or name
