"""Contents as they are stored: once each, keyed by their hash."""

from hashlib import sha256
from typing import Any

from topkapi.app.services.importing.records.plain_text import plain_text
from topkapi.app.services.importing.records.types import HTML, MARKDOWN, PLAIN


def content_hash(media_type: str, data: bytes) -> str:
    """Return the key of a content: a hash of its media type and its bytes.

    The same bytes are two contents as a page and as plain text.
    """
    return sha256(media_type.encode() + b"\0" + data).hexdigest()


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
