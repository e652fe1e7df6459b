"""Marks in stored HTML: terms are wrapped where they are text, and nothing else is touched.

This is no parser and no guard: what makes a stranger's page safe are its frame and its headers. It
walks over the source once and leaves tags, comments, scripts and styles as they are. It only turns
off what would open a connection although it may not load, and, for a page opened by itself, links.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import unescape

from app.domain.terms import colour_of

_TOKEN = re.compile(
    r"(?P<comment><!--(?:-?>|.*?(?:--!?>|\Z))|<[!?][^>]*(?:>|\Z)|</(?![a-z])[^>]*(?:>|\Z))"
    r"""|(?P<tag><(?P<slash>/?)(?P<name>[a-z][^\s/>]*+)"""
    r"""(?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+>)"""
    r"|(?P<broken></?[a-z].*)"
    r"|(?P<text>[^<]+|<)",
    re.IGNORECASE | re.DOTALL,
)
_RAW = frozenset(
    ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")
)
_FOREIGN = frozenset(("svg", "math", "select"))  # a mark inside would not be seen
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
_HINTS = "(?:preconnect|dns-prefetch|prefetch|preload|modulepreload|prerender)"
_HINT = re.compile(
    rf"""\brel\s*=\s*(?:"[^">]*{_HINTS}|'[^'>]*{_HINTS}|[^\s"'>]*{_HINTS})""", re.IGNORECASE
)
_INNER = frozenset(("iframe", "frame", "object", "embed"))  # never loaded, but connected to
_SOURCE = re.compile(r"(?<=[\s\"'/])(?=(?:src|data)\s*=)", re.IGNORECASE)
_HREF = re.compile(r"(?<=[\s\"'/])(?=(?:xlink:)?href\s*=\s*[\"']?(?![\"'#\s]))", re.IGNORECASE)


def marked(html: str, terms: Sequence[str], *, links: bool = True) -> str:
    """The page with every term marked; without ``links`` they lead nowhere."""
    pattern = term_pattern(terms)
    parts: list[str] = []
    foreign = ""
    for kind, source, name in _tokens(html):
        if kind == "tag":
            if name in _FOREIGN and not foreign:
                foreign = name
            source = _tame(name, source, links=links)
        elif kind == "end" and name == foreign:
            foreign = ""
        elif kind == "text" and pattern and not foreign:
            source = _mark_text(source, pattern)
        parts.append(source)
    return "".join(parts)


def _tokens(html: str) -> Iterator[tuple[str, str, str]]:
    """Kind, source and name of every part; together the sources are the page."""
    place = 0
    while place < len(html):
        found = _TOKEN.match(html, place)
        assert found is not None, "some alternative takes every character"
        place = found.end()
        kind = found.lastgroup or ""
        if kind != "tag":
            yield kind, found.group(), ""
            continue
        name, ends = found["name"].lower(), bool(found["slash"])
        yield "end" if ends else "tag", found.group(), name
        if name in _RAW and not ends:
            close = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, place)
            stop = close.start() if close and name != "plaintext" else len(html)
            yield "raw", html[place:stop], ""
            place = stop


def _tame(name: str, tag: str, *, links: bool) -> str:
    if name == "link" and _HINT.search(tag):
        return ""
    if name in _INNER:
        return _SOURCE.sub("data-", tag)
    return _HREF.sub("data-", tag) if name in ("a", "area") and not links else tag


def term_pattern(terms: Sequence[str]) -> re.Pattern[str] | None:
    """One group a term, longer ones first; a match begins where a word does."""
    if not terms:
        return None
    spaced: list[str] = []
    unspaced: list[str] = []
    for place in sorted(range(len(terms)), key=lambda place: -len(terms[place])):
        words = r"\s+".join(re.escape(word) for word in terms[place].split())
        # Scripts without letter case, such as Chinese or Thai, often have no spaces between words.
        is_spaced = unicodedata.category(terms[place][0]) != "Lo"
        (spaced if is_spaced else unspaced).append(f"(?P<t{place}>{words})")
    starts = [rf"(?<!\w)(?:{'|'.join(spaced)})"] if spaced else []
    return re.compile("|".join([*starts, *unspaced]), re.IGNORECASE)


def _mark_text(source: str, pattern: re.Pattern[str]) -> str:
    text, offsets = _decoded(source)
    parts: list[str] = []
    done = 0
    for found in pattern.finditer(text):
        start, end = offsets[found.start()], offsets[found.end()]
        colour = colour_of(int((found.lastgroup or "t0")[1:]))
        parts += [source[done:start], f'<mark data-mark="{colour}">', source[start:end], "</mark>"]
        done = end
    return "".join([*parts, source[done:]])


def _decoded(source: str) -> tuple[str, Sequence[int]]:
    """The text that ``source`` shows, and for each of its characters where it stands there."""
    if "&" not in source:
        return source, range(len(source) + 1)
    text: list[str] = []
    offsets: list[int] = []
    place = 0
    while place < len(source):
        found = _REFERENCE.match(source, place) if source[place] == "&" else None
        shown = unescape(found.group()) if found else source[place]
        text.append(shown)
        offsets.extend([place] * len(shown))
        place = found.end() if found else place + 1
    return "".join(text), [*offsets, len(source)]
