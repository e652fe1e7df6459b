"""Files under pages/: media types by file name, and encodings of pages."""

import codecs
import re
from pathlib import PurePosixPath

from topkapi.app.services.importing.records.types import HTML, MARKDOWN, PLAIN
from topkapi.app.services.values import BadValue, ProblemKind

PAGES = "pages/"
_PAGE_TYPES = {
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".txt": PLAIN,
    ".text": PLAIN,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
}
_FILE_TYPES = {
    ".css": "text/css",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".ico": "image/x-icon",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
    ".otf": "font/otf",
}
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}charset\s*+=\s*+["']?+\s*+([A-Za-z0-9_.:-]{1,40})""", re.I
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def page_type(path: str) -> str | None:
    """Return the media type of a page, or None if the file is not a page."""
    return _PAGE_TYPES.get(PurePosixPath(path).suffix.lower())


def file_type(path: str) -> str:
    """Return the media type of any file of the study."""
    suffix = PurePosixPath(path).suffix.lower()
    return _PAGE_TYPES.get(suffix) or _FILE_TYPES.get(suffix, "application/octet-stream")


def in_utf8(data: bytes, media_type: str, field: str) -> bytes:
    """Return the page in UTF-8, converted from the encoding that it declares.

    Pages are served as UTF-8, and that header overrides what a page declares.
    """
    declared = _declared(data, media_type)
    try:
        data.decode("utf-8")
        if declared is None or declared == "utf-8":
            return data.removeprefix(codecs.BOM_UTF8)
    except UnicodeDecodeError as error:
        if declared is None or declared == "utf-8":
            raise BadValue(
                field,
                f"Byte {error.start + 1}, 0x{data[error.start]:02x}, is not UTF-8.",
                "Save the page as UTF-8, or declare its encoding in a meta element.",
                ProblemKind.NOT_UTF8,
            ) from None
    try:
        return data.decode(declared).encode("utf-8")
    except (UnicodeError, ValueError):
        raise BadValue(
            field,
            f"The page declares the encoding {declared}, but is not valid {declared}.",
            "Save the page as UTF-8.",
        ) from None


def _declared(data: bytes, media_type: str) -> str | None:
    """Return the encoding in the byte order mark or meta element, if Python knows it."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    found = _CHARSET.search(data[:2048]) if media_type == HTML else None
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return None
    # Browsers read these as Windows-1252, which differs where people use typographic quotes.
    return "cp1252" if name in ("iso8859-1", "ascii") else name
