"""Sanitizing of untrusted pages: the tags and attributes that are written again.

The frame's sandbox and the response headers keep scripts from running and files from loading. Some
elements open a connection nevertheless, before anything is loaded: resource hints
(`<link rel=preconnect>`), nested frames, refreshes, pings. They are removed here. A link to another
site would also open a connection when it is clicked, although the frame blocks the navigation: it
keeps its appearance and loses its address.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from turbohtml import Token, TokenType, tokenize

RAW = frozenset(
    ("iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea")
) | {"title", "xmp"}
FOREIGN = frozenset(("svg", "math"))
_FRAMES = "frameset"
_CHANGING = RAW | FOREIGN | {_FRAMES}  # elements that change how later tokens are read
_REOPENED = "noscript"
_WITHOUT_FRAMES = "noframes"
_MAX_READINGS = 16

PageToken = tuple[Token, str]
Attributes = Iterable[tuple[str, str]]
DROPPED = frozenset(("script", "noembed", "noframes", "base", "frameset"))
RENAMED = {"xmp": "pre", "plaintext": "pre"}  # same appearance, with characters that can be escaped
_MARKUP_IN_STYLE = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|<(?=[A-Za-z/!?])")
_HAS = re.compile(  # the name of the function, of which every letter may be escaped
    r"(?<![\w\\-])(?:h|\\h|\\0{0,4}[46]8\s?)(?:a|\\0{0,4}[46]1\s?)(?:s|\\s|\\0{0,4}[57]3\s?)(?=\()",
    re.IGNORECASE,
)
_NAME = re.compile(r"[a-z][\w.:-]*")
_ATTRIBUTE = re.compile(r"[a-z_:][\w.:-]*")
_NESTED = frozenset(
    ("iframe", "frame", "object", "embed", "applet", "portal", "fencedframe", "controlledframe")
)
_NESTED_KEEPS = frozenset(
    ("align", "border", "class", "frameborder", "height", "hidden", "id", "style", "title", "width")
)
_LINK_KEEPS = frozenset(("class", "disabled", "href", "id", "media", "rel", "title", "type"))
_RELATIONS = frozenset(("stylesheet", "alternate"))
_CONNECTS = frozenset(("srcdoc", "ping", "attributionsrc", "manifest"))
_ANIMATES = frozenset(("animate", "set", "animatetransform", "animatemotion", "animatecolor"))
_EMBEDS = frozenset(("link", "image", "feimage", "use"))  # `href` names the displayed content
_REFERENCES = frozenset(("href", "xlink:href"))
_NOWHERE = "javascript:"  # no effect without scripts, and still styled as a link
_REPEATED = 60  # characters of a value up to which a tag is likely to be repeated
_BLANK = re.compile(r"[\0- ]")
_WHOLE_PAGE = frozenset(("html", "body"))
_IMPORTANT = re.compile(r"!\s*important", re.IGNORECASE)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*+:|[/\\]{2}", re.IGNORECASE)


def page_tokens(html: str) -> Iterator[PageToken]:
    """Yield every token, with the name of the raw element if it is the text of one.

    The tokenizer treats everything after a raw element's tag as text. A browser without scripts
    parses tags in `noscript`, and after a self-closing raw element of SVG or MathML (`<title/>`),
    so such texts are tokenized again, nested at most ``_MAX_READINGS`` deep. So is `noframes` in a
    page of frames, which are not shown.
    """
    readings = [tokenize(html)]
    raw, foreign, has_frames = "", 0, False
    while readings:
        token = next(readings[-1], None)
        if token is None:
            readings.pop()
            raw = ""
        elif raw == _REOPENED and token.type is TokenType.TEXT:
            if len(readings) < _MAX_READINGS:
                readings.append(tokenize(token.data or ""))
            raw = ""
        else:
            yield token, raw
            raw = ""
            if token.tag in _CHANGING:
                foreign = max(0, foreign + _nesting(token))
                raw = _raw_after(token, foreign=foreign > 0)
                has_frames = has_frames or token.tag == _FRAMES
                raw = _REOPENED if has_frames and raw == _WITHOUT_FRAMES else raw


def _nesting(token: Token) -> int:
    """Return the change in nesting depth of SVG or MathML: 1, 0 or -1."""
    if token.tag not in FOREIGN or token.self_closing:
        return 0
    return 1 if token.type is TokenType.START_TAG else -1


def _raw_after(token: Token, *, foreign: bool) -> str:
    if token.type is not TokenType.START_TAG or token.tag not in RAW:
        return ""
    return _REOPENED if foreign and token.self_closing else token.tag


def start_tag(
    name: str, attributes: Sequence[tuple[str, str]], *, closes: bool, links: bool
) -> str:
    """Return the sanitized start tag, or an empty string; without ``links`` disable its link."""
    if not attributes:
        return _bare_tag(name, closes)
    if len(attributes) <= 2 and all(len(value) <= _REPEATED for _, value in attributes):
        return _short_tag(name, tuple(attributes), closes, links)
    return _sanitized_tag(name, attributes, closes, links)


@lru_cache(maxsize=2048)
def _short_tag(
    name: str, attributes: tuple[tuple[str, str], ...], closes: bool, links: bool
) -> str:
    """Return a tag from the cache: most tags of a page are repetitions of a few short ones."""
    return _sanitized_tag(name, attributes, closes, links)


def _sanitized_tag(name: str, attributes: Attributes, closes: bool, links: bool) -> str:
    if name in DROPPED or not _NAME.fullmatch(name):
        return ""
    kept = _kept(name, [each for each in attributes if _is_harmless(each[0])], links=links)
    if kept is None:
        return ""
    written = "".join(_written(each, value) for each, value in kept)
    return f"<{RENAMED.get(name, name)}{written}{'/' if closes else ''}>"


@lru_cache(maxsize=512)
def _bare_tag(name: str, closes: bool) -> str:
    if name in DROPPED or not _NAME.fullmatch(name) or _kept(name, (), links=True) is None:
        return ""
    return f"<{RENAMED.get(name, name)}{'/' if closes else ''}>"


@lru_cache(maxsize=512)
def end_tag(name: str) -> str:
    """Return the sanitized end tag, or an empty string."""
    if name in DROPPED or not _NAME.fullmatch(name):
        return ""
    return f"</{RENAMED.get(name, name)}>"


def _is_harmless(attribute: str) -> bool:
    return (
        attribute not in _CONNECTS
        and not attribute.startswith("on")
        and _ATTRIBUTE.fullmatch(attribute) is not None
    )


def _kept(name: str, attributes: Attributes, *, links: bool) -> Attributes | None:
    """Return the attributes to keep, or None to drop the whole element."""
    if name == "link":
        return _style_link(dict(attributes))
    if name == "meta":
        return None if "http-equiv" in dict(attributes) else attributes
    if name in _ANIMATES:
        target = dict(attributes).get("attributename", "")
        return None if target.strip().lower() in _REFERENCES else attributes
    if name in _WHOLE_PAGE:  # nothing may overrule our styles, which keep the page readable
        attributes = [(each, _IMPORTANT.sub("", value)) for each, value in attributes]
    if name in _NESTED:
        return [each for each in attributes if each[0] in _NESTED_KEEPS]
    return attributes if name in _EMBEDS else _references(attributes, links=links)


def _style_link(attributes: dict[str, str]) -> Attributes | None:
    """Return the attributes of a style sheet link without its other relations, or None."""
    relations = [each for each in attributes.get("rel", "").lower().split() if each in _RELATIONS]
    if "stylesheet" not in relations:
        return None
    kept = {**attributes, "rel": " ".join(relations)}
    return [each for each in kept.items() if each[0] in _LINK_KEEPS]


def _references(attributes: Attributes, *, links: bool) -> Iterator[tuple[str, str]]:
    """Yield the attributes, with the address of disallowed links replaced."""
    for name, value in attributes:
        stays = name not in _REFERENCES or _is_within_page(value) or (links and _is_relative(value))
        yield name, value if stays else _NOWHERE


def _is_within_page(address: str) -> bool:
    return address.strip().startswith("#")


def _is_relative(address: str) -> bool:
    """Return whether the address is relative for browsers, which drop line breaks."""
    compact = _BLANK.sub("", address)
    return not _ELSEWHERE.match(compact)


def _written(name: str, value: str) -> str:
    return f' {name}="{escaped(value).replace(chr(34), "&quot;")}"' if value else f" {name}"


def escaped(text: str) -> str:
    """Return the text with all markup characters escaped."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\0", "").replace("\r", "&#13;")


def without_has(style: str) -> str:
    """Return a style sheet without rules for ``:has()``.

    A browser tries them for each pair of elements: 33 kB of them hold a tab for half a minute.

    >>> without_has(r"p:has(b){} p:H\\000061 s(b){} .has(b){} a:hover{}")
    'p:-has(b){} p:-has(b){} .-has(b){} a:hover{}'
    """
    return _HAS.sub("-has", style)


def style_text(text: str) -> str:
    r"""Return a style sheet in which nothing looks like a tag.

    A style element is raw text in HTML but not in SVG, so its characters cannot be escaped like
    other text. CSS has its own escape syntax, and ignores the comment brackets around a style.

    >>> style_text('<!-- a { background: url("data:image/svg+xml,<svg/>") } -->')
    '  a { background: url("data:image/svg+xml,\\3c svg/>") }  '
    """
    text = without_has(text.replace("\0", ""))
    return _MARKUP_IN_STYLE.sub(lambda found: r"\3c " if found.group() == "<" else " ", text)
