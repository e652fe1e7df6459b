"""HTML of plain text: long texts in parts, which a browser parses and lays out one by one.

A browser looks for the direction of a text (``dir="auto"``) again with every mark it parses, so a
long text in one piece takes seconds. Parts look like one text: each ends with a line break.
"""

import re
from html import escape

_PART = re.compile(r".{4000,8000}?\n\n+|.{4000,}?\n+|.+", re.DOTALL)


def plain_html(text: str) -> str:
    """Return ``text`` as HTML; a long one in parts that end at blank lines or line breaks."""
    parts = [escape(part) for part in _PART.findall(text)]
    if len(parts) > 1:
        parts = [f"<div data-topkapi-part>{part}</div>" for part in parts]
    return f'<div class="plain" dir="auto">{"".join(parts)}</div>'
