"""Documents from JSON Lines, two columns, or a folder of pages, pictures and PDF files."""

import html
import re
from base64 import b64decode
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Document
from topkapi.app.db.models.document import content_hash
from topkapi.app.domain.text.storable import unfit_character
from topkapi.app.services.fence import limits
from topkapi.app.services.fence.children import LibraryMissing, UnreadableBytes
from topkapi.app.services.importing.bundle import Bundle, Layout
from topkapi.app.services.importing.kinds.base import (
    Check,
    Digest,
    Found,
    Kind,
    Row,
    Writing,
    digest_of,
)
from topkapi.app.services.importing.problems import Location
from topkapi.app.services.importing.records import letor
from topkapi.app.services.importing.records.names import DOCUMENT, Aliases
from topkapi.app.services.importing.records.pages import PAGES, file_type, in_utf8, page_type
from topkapi.app.services.importing.records.shapes import shape_of
from topkapi.app.services.importing.records.smart import looks_like_smart, smart_records
from topkapi.app.services.importing.records.tables import records, two_columns
from topkapi.app.services.importing.records.types import HTML, MARKDOWN, PLAIN, DocumentRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.pages.pdf import PDF
from topkapi.app.services.values import (
    BadValue,
    ProblemKind,
    address,
    body,
    identifier,
    shown,
    text_value,
)
from topkapi.extras import install_command

_SVG = "image/svg+xml"
_BEGINNINGS = {
    "image/png": (0, b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": (0, b"\xff\xd8\xff"),
    "image/gif": (0, b"GIF8"),
    "image/webp": (8, b"WEBP"),
    "image/avif": (4, b"ftyp"),
}
_CONTENT = {"text": PLAIN, "html": HTML, "markdown": MARKDOWN}
_REQUIRED = ("id", "text")
DOCUMENT_NAMES: Aliases = {
    "id": DOCUMENT,
    "title": ("headline",),
    "url": ("link", "uri"),
    "text": ("contents", "content", "body", "passage", "abstract"),
    "html": (),
    "markdown": (),
    "path": (),
}
_DATA_URL = re.compile(rb"data:image/[a-z0-9.+-]{1,20};base64,([a-z0-9+/=\s]{80,})", re.I)
_SOME = 1000  # ids to compare with those that candidates name
_HEAD = 1 << 16  # bytes in which a title is looked for
_BODY = re.compile(rb"<body\b", re.I)
_TITLE = re.compile(rb"<title(?:\s[^>]{0,200})?>([^<]*)", re.I)
Wanted = Container[str] | None


def media_type(path: str) -> str | None:
    """Return the media type of a picture or a PDF file, None for other files."""
    kind = PDF if PurePosixPath(path).suffix.lower() == ".pdf" else file_type(path)
    return kind if kind in (PDF, _SVG, *_BEGINNINGS) else None


def check_media(reader: Reader, data: bytes, kind: str, path: str) -> None:
    """Raise BadValue unless the file is what its name says and can be shown."""
    at, beginning = _BEGINNINGS.get(kind, (0, b""))
    fits = b"<svg" in data[:4096] if kind == _SVG else data[at:].startswith(beginning)
    if not fits:
        raise BadValue("path", f"{shown(path)} is not a picture of its kind.", "Save it again.")
    if kind == _SVG:
        return  # it is text, read by browsers only
    task, what = ("pdf", "PDF") if kind == PDF else ("picture", "picture")
    try:
        reader.media.check(task, path, data, content_hash(kind, data))
    except LibraryMissing:
        problem = f"{shown(path)} is a PDF file, and no reader for it is installed."
        raise BadValue("path", problem, f"Install it with: {install_command('pdf')}.") from None
    except UnreadableBytes as error:
        problem = f"{shown(path)} cannot be shown: {error}."
        raise BadValue("path", problem, f"Save the {what} again.") from None


def check_pixels(check: Check, location: Location, data: bytes, name: str) -> None:
    """Add a problem if a picture in a page has too many pixels to be shown."""
    try:
        check.reader.media.check("pixels", name, data, content_hash("", data))
    except UnreadableBytes as error:
        problem = f"{shown(name)} cannot be shown: {error}."
        check.problems.add(location, None, problem, "Make it smaller.")


def _embedded(record: DocumentRecord) -> Iterator[bytes]:
    """Yield the pictures that are part of a page's text."""
    for found in _DATA_URL.finditer(record.data) if record.media_type == HTML else ():
        with suppress(ValueError):
            yield b64decode(found[1])


def read_documents(reader: Reader, path: str, wanted: Wanted = None) -> Found[DocumentRecord]:
    """Return the documents of a file: records with named fields, SMART's, or ``docid TAB text``.

    The first line decides the format. Documents that are not ``wanted`` are not read.
    """
    shape = shape_of(reader, path, DOCUMENT_NAMES, _REQUIRED)
    if looks_like_smart(reader.first_line(path)):
        return _from_smart(reader, path, wanted)
    if not shape.has_fields:
        return two_columns(reader, path, _from_columns, wanted)
    found = records(
        reader,
        path,
        shape,
        DOCUMENT_NAMES,
        ("id",),
        lambda record: _from_object(reader, record, wanted),
    )
    return ((location, document) for location, document in found if document is not None)


def _from_object(reader: Reader, record: dict[str, Any], wanted: Wanted) -> DocumentRecord | None:
    if wanted is not None and str(record.get("id")) not in wanted:
        return None
    if record.get("text") == "" and record.get("title"):  # a collection may have titles only
        record["text"] = record["title"]
    given = [name for name in (*_CONTENT, "path") if record.get(name) is not None]
    if len(given) != 1:
        what = " and ".join(given) if given else "no content"
        raise BadValue(
            "text", f"The document has {what}.", "Set exactly one of text, html, markdown or path."
        )
    name = identifier(record.get("id"), "id")
    title = text_value(record.get("title"), "title", limits.MAX_TITLE)
    url = address(record.get("url"), "url")
    if given == ["path"]:
        return _from_file(reader, name, title, url, record["path"])
    data, kind = body(record[given[0]], given[0]), _CONTENT[given[0]]
    return DocumentRecord(name, title or _title_in(kind, data), url, kind, data)


def _title_in(media_type: str, data: bytes) -> str:
    return html_title(data) if media_type == HTML else ""


def html_title(page: bytes) -> str:
    """Return the title in the head of a page, or nothing."""
    found = _TITLE.search(_BODY.split(page[:_HEAD], 1)[0])
    title = " ".join(html.unescape(found[1].decode("utf-8", "replace")).split()) if found else ""
    return "" if unfit_character(title) else title[: limits.MAX_TITLE]


def _from_file(reader: Reader, name: str, title: str, url: str, path: object) -> DocumentRecord:
    if not isinstance(path, str) or path not in reader.source.files:
        raise BadValue("path", f"There is no file {shown(path)}.", "Add it, or correct the path.")
    if not path.startswith(PAGES):
        raise BadValue("path", f"{shown(path)} is not under pages/.", "Move it there.")
    media_type = page_type(path)
    if media_type is None:
        return _from_media(reader, name, title, url, path)
    data = in_utf8(reader.content(path), media_type, "path")
    title = title or _title_in(media_type, data)
    return DocumentRecord(name, title, url, media_type, data if data.strip() else b"", path)


def _from_media(reader: Reader, name: str, title: str, url: str, path: str) -> DocumentRecord:
    """Return a picture or a PDF file as a document."""
    kind = media_type(path)
    if kind is None:
        raise BadValue(
            "path", f"{shown(path)} is not a page.", "Use an .html, .txt, .md, .pdf or image file."
        )
    data = reader.content(path)
    check_media(reader, data, kind, path)
    return DocumentRecord(name, title, url, kind, data, path)


def _from_columns(name: str, text: str) -> DocumentRecord:
    return DocumentRecord(identifier(name, "id"), "", "", PLAIN, body(text, "text"))


def _from_smart(reader: Reader, path: str, wanted: Wanted) -> Found[DocumentRecord]:
    """Yield the documents of a file in SMART's format; one without a text is its title."""
    for location, name, fields in smart_records(reader, path):
        if wanted is not None and name not in wanted:
            continue
        title = " ".join(fields.get("T", "").split())[: limits.MAX_TITLE]
        try:
            data = body(fields.get("W", "").strip() or title, "W")
            yield location, DocumentRecord(identifier(name, "I"), title, "", PLAIN, data)
        except BadValue as error:
            reader.problems.add_value(location, error)


def read_pages(reader: Reader, wanted: Wanted = None) -> Found[DocumentRecord]:
    """Yield every page and PDF under pages/ as a document; its id is the path without suffix.

    Pictures are not documents here: they belong to pages.
    """
    for path in reader.source.files:
        if not path.startswith(PAGES) or not (page_type(path) or media_type(path) == PDF):
            continue
        name = str(PurePosixPath(path).with_suffix(""))[len(PAGES) :]
        if wanted is not None and name not in wanted:
            continue
        try:
            yield Location(path), _from_file(reader, identifier(name, "id"), "", "", path)
        except BadValue as error:
            reader.problems.add_value(Location(path), error)


def document_digest(record: DocumentRecord, content: str) -> Digest:
    """Return the digest of a document whose content has the hash ``content``."""
    return digest_of(content, record.title, record.url, record.path)


class DocumentKind(Kind[str, Digest, DocumentRecord]):
    """Documents: from their own file, from pages/, or as feature cards."""

    role = many = "documents"
    one = "document"
    names = frozenset({"documents", "docs", "corpus", "collection"})
    words = names | {"passages"}
    fields = DOCUMENT_NAMES
    staged = True
    model = Document

    def read(self, bundle: Bundle, reader: Reader) -> Found[DocumentRecord]:
        wanted = None if bundle.part is None else bundle.part.documents
        layout = bundle.layout
        path = layout.file(self.role)
        if path is not None:
            return read_documents(reader, path, wanted)
        if layout.pages:
            return read_pages(reader, wanted)
        cards = letor.read_cards(reader, layout.rows)
        return ((at, card) for at, card in cards if wanted is None or card.id in wanted)

    def read_from(self, layout: Layout) -> str:
        cards = f"{', '.join(layout.rows)} ({layout.candidate_format}), as feature cards"
        return layout.file(self.role) or (PAGES if layout.pages else cards)

    def kept(self, record: DocumentRecord) -> Digest:
        return document_digest(record, content_hash(record.media_type, record.data))

    def check(self, check: Check) -> None:
        super().check(replace(check, reader=check.documents))
        if not check.checked[self] and not check.problems:
            self._report_none(check)

    def _report_none(self, check: Check) -> None:
        """Say that there are no documents, or none that candidates name."""
        bundle = check.checked.bundle
        location = Location(bundle.layout.file(self.role) or PAGES)
        every = self.read(replace(bundle, part=None), check.reader.quiet())
        ids = [record.id for _, record in islice(every, _SOME)]
        if not ids or bundle.part is None:
            check.problems.add(location, None, "The study has no documents.", "Add at least one.")
            return
        plain = {name.casefold(): name for name in bundle.part.documents}
        own = next((name for name in ids if name.casefold() in plain), ids[0])
        other = plain.get(own.casefold(), min(bundle.part.documents))
        how = "they differ in capitals" if own.casefold() in plain else "or add the documents"
        check.problems.add(
            location,
            None,
            f"No document is a candidate: the candidates name documents such as {shown(other)}, "
            f"and the ids here look like {shown(own)}.",
            f"Use the same ids in both files; {how}.",
            ProblemKind.NO_DOCUMENT,
        )

    def is_sound(self, check: Check, location: Location, record: DocumentRecord) -> bool:
        if not record.data:
            fix = "Add content, or leave out candidates without it: --leave-out missing."
            where = "path" if record.path else "text"
            check.problems.add(location, where, "The page is empty.", fix)
        for number, picture in enumerate(_embedded(record), start=1):
            check_pixels(check, location, picture, f"picture {number} of {record.id}")
        return True

    def on_kept(self, check: Check, location: Location, record: DocumentRecord) -> None:
        check.checked.bytes += len(record.data)
        if record.path:
            check.checked.document_paths.add(record.path)
        if record.path and record.media_type != PDF:  # a PDF is shown by its pictures
            digest = content_hash(record.media_type, record.data)
            check.checked.found.setdefault("files", {})[record.path] = digest

    def stored(self, session: Session, study_id: int) -> dict[str, Digest]:
        facts = (Document.content_hash, Document.title, Document.url, Document.path)
        statement = select(Document.external_id, *facts).where(Document.study_id == study_id)
        return {name: digest_of(*rest) for name, *rest in session.execute(statement)}

    def rows(self, write: Writing, new: frozenset[str], staged: Iterable[Any]) -> Iterator[Row]:
        """Yield the staged rows, which name their contents."""
        return ({"study_id": write.study_id, **row} for row in staged)


DOCUMENTS = DocumentKind()
