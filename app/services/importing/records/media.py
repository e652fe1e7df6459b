"""Documents that are no text: pictures and PDF files, recognised by name and first bytes."""

from pathlib import PurePosixPath

from topkapi.app.services.fence.children import UnreadableBytes
from topkapi.app.services.importing.records.contents import content_hash
from topkapi.app.services.importing.records.values import BadValue, shown
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.pages.pdf import PDF

PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
}
_BEGINNINGS = {
    "image/png": (0, b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": (0, b"\xff\xd8\xff"),
    "image/gif": (0, b"GIF8"),
    "image/webp": (8, b"WEBP"),
    "image/avif": (4, b"ftyp"),
}


def media_type(path: str) -> str | None:
    """Return the media type of a picture or a PDF file, None for other files."""
    suffix = PurePosixPath(path).suffix.lower()
    return PDF if suffix == ".pdf" else PICTURES.get(suffix)


def is_pdf(path: str) -> bool:
    """Return whether the file is a PDF by its name."""
    return media_type(path) == PDF


def check_media(reader: Reader, data: bytes, kind: str, path: str) -> None:
    """Raise BadValue unless the file is what its name says and can be shown."""
    at, beginning = _BEGINNINGS.get(kind, (0, b""))
    fits = b"<svg" in data[:4096] if kind == PICTURES[".svg"] else data[at:].startswith(beginning)
    if not fits:
        raise BadValue("path", f"{shown(path)} is not a picture of its kind.", "Save it again.")
    if kind == PICTURES[".svg"]:
        return  # it is text, read by browsers only
    task, what = ("pdf", "PDF") if kind == PDF else ("picture", "picture")
    try:
        reader.media.check(task, path, data, content_hash(kind, data))
    except UnreadableBytes as error:
        problem = f"{shown(path)} cannot be shown: {error}."
        raise BadValue("path", problem, f"Save the {what} again.") from None
