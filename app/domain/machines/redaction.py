"""Finding a key in text, however it is spelt there: as JSON, in an address, in base64 or hex."""

import re
from base64 import b64encode
from collections.abc import Iterator

_SHORTEST = 8  # characters of base64 or hex; fewer would be found by chance


def key_pattern(key: str) -> re.Pattern[str]:
    """Return a pattern that matches the key (ASCII, not empty) in every usual spelling."""
    in_hex = key.encode().hex()
    coded = [in_hex, in_hex.upper(), *_base64_parts(key.encode())]
    spelt = [key, *(each for each in coded if len(each) >= _SHORTEST)]
    return re.compile("|".join("".join(map(_character, each)) for each in dict.fromkeys(spelt)))


def _character(character: str) -> str:
    """Return a pattern for a character: plain, escaped in JSON up to twice, or in an address."""
    code = f"(?i:{ord(character):02x})"
    return rf"(?:\\{{0,3}}(?:{re.escape(character)}|u00{code})|%(?:25)?{code})"


def _base64_parts(data: bytes) -> Iterator[str]:
    """Yield what data look like in base64 wherever they begin in the encoded bytes."""
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()
        part = whole[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
        yield from (part, part.replace("+", "-").replace("/", "_"))
