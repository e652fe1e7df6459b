"""The second pass over a study: compute what will be written, before the transaction.

Contents are handed out in batches of a few megabytes; the rows that refer to them wait in temporary
files, because a study may have more documents than fit into memory.
"""

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from topkapi.app.db.models.document import content_hash
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.importing.comparing import Changes
from topkapi.app.services.importing.kinds import KINDS
from topkapi.app.services.importing.kinds.base import Checked, Kind, Row
from topkapi.app.services.importing.kinds.documents import DOCUMENTS, document_digest
from topkapi.app.services.importing.kinds.files import FILES
from topkapi.app.services.importing.media import scratch_file
from topkapi.app.services.importing.records.contents import content_row
from topkapi.app.services.importing.records.pages import file_type
from topkapi.app.services.importing.records.types import DocumentRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.pages.pdf import PDF, TEXT, rendered_folder

_BYTES = 2 * 1024**2  # of contents in one batch
_CONTENTS = 250


class Staging:
    """The contents, documents, candidates and rankings that ``changes`` add.

    ``known`` are paths of PDF files that the stored study has rendered.
    """

    def __init__(
        self, reader: Reader, checked: Checked, changes: Changes, known: Iterable[str] = ()
    ) -> None:
        self._reader, self._checked, self._changes = reader, checked, changes
        self._known = set(known)
        self._staged = {kind.role: scratch_file(self) for kind in KINDS if kind.staged}
        self.rendered: dict[str, str] = {}  # path -> content hash

    def contents(self) -> Iterator[list[Row]]:
        """Yield the contents in batches; raise Conflict if a file changed since the check."""
        batch: dict[str, Row] = {}
        size = 0
        with self._reader.media.fence:
            for row in self._new_contents():
                if row["hash"] not in batch:
                    batch[row["hash"]] = row
                    size += row["size"]
                if size >= _BYTES or len(batch) >= _CONTENTS:
                    yield list(batch.values())
                    batch, size = {}, 0
            if batch:
                yield list(batch.values())
            for kind in KINDS:
                if kind.staged and kind is not DOCUMENTS:
                    self._stage(kind)

    def staged(self, kind: Kind[Any, Any, Any]) -> Iterator[Any]:
        """Yield the new records of a kind of which only digests are kept."""
        file = self._staged.get(kind.role)
        if file is None:
            return iter(())
        file.seek(0)
        return map(json.loads, file)

    def _new_contents(self) -> Iterator[Row]:
        new, seen = self._changes[DOCUMENTS], set[str]()
        for _, document in DOCUMENTS.read(self._checked.bundle, self._reader) if new else ():
            digest = self._verified(document)
            if document.id in new and document.id not in seen:
                seen.add(document.id)
                _write(self._staged[DOCUMENTS.role], _document_row(document, digest))
                yield from self._contents_of(document, digest)
        for name in new - seen:
            raise changed_since(name)
        for path in sorted(self._changes[FILES] - self._checked.document_paths):
            yield self._file_content(path)

    def _verified(self, document: DocumentRecord) -> str:
        digest = content_hash(document.media_type, document.data)
        if self._checked[DOCUMENTS].get(document.id) != document_digest(document, digest):
            raise changed_since(document.id)
        return digest

    def _contents_of(self, document: DocumentRecord, digest: str) -> Iterator[Row]:
        """Yield the content of a document, and the parts that show a PDF, once per file."""
        text = None
        is_pdf = document.media_type == PDF
        for name, data in self._reader.media.rendering(document.path) if is_pdf else ():
            if name == TEXT:
                text = data.decode()
            elif document.path not in self._known:
                path = f"{rendered_folder(document.path)}/{name}"
                self.rendered[path] = content_hash(file_type(path), data)
                yield content_row(file_type(path), data, self.rendered[path])
        self._known.add(document.path)
        yield content_row(document.media_type, document.data, digest, text)

    def _file_content(self, path: str) -> Row:
        data, media_type = self._reader.content(path), file_type(path)
        digest = self._checked[FILES][path]
        if content_hash(media_type, data) != digest:
            raise changed_since(path)
        return content_row(media_type, data, digest)

    def _stage(self, kind: Kind[Any, Any, Any]) -> None:
        left, file = set(self._changes[kind]), self._staged[kind.role]
        for _, record in kind.read(self._checked.bundle, self._reader) if left else ():
            if kind.key(record) in left:
                left.discard(kind.key(record))
                _write(file, record)


def _document_row(document: DocumentRecord, digest: str) -> Row:
    return {
        "external_id": document.id,
        "title": document.title,
        "url": document.url,
        "content_hash": digest,
        "path": document.path,
    }


def _write(file: IO[bytes], row: object) -> None:
    file.write(json.dumps(row).encode() + b"\n")


def changed_since(name: str) -> Conflict:
    """Return the error for a file that is not what was checked."""
    return Conflict(
        f"{name!r} changed while the study was being read. Nothing was imported; try again."
    )
