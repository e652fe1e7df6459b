"""Tags and texts of an HTML page, tokenized as in a browser without scripts."""

from collections.abc import Iterator

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
