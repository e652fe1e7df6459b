"""Documents that are no text: pictures and PDF files, recognised by name and first bytes."""

from pathlib import PurePosixPath

from topkapi.app.services.importing.records.values import BadValue, shown
from topkapi.app.services.pages.pdf import PDF
from topkapi.app.services.pages.pdf_rendering import BadPdf, check_pdf

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


def check_media(data: bytes, kind: str, path: str) -> None:
    """Raise BadValue unless the file is what its name says."""
    if kind == PDF:
        try:
            check_pdf(data)
        except BadPdf as error:
            raise BadValue(
                "path", f"{shown(path)} cannot be shown: {error}.", "Save the PDF again."
            ) from None
        return
    at, beginning = _BEGINNINGS.get(kind, (0, b""))
    fits = b"<svg" in data[:4096] if kind == PICTURES[".svg"] else data[at:].startswith(beginning)
    if not fits:
        raise BadValue("path", f"{shown(path)} is not a picture of its kind.", "Save it again.")
