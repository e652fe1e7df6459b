"""The second pass over a study: insert its rows in batches, in one transaction."""

from collections.abc import Iterable, Iterator
from itertools import count, islice
from typing import Any, TypeVar, cast

from sqlalchemy import Executable, Table, insert, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from topkapi.app.db.base import Base
from topkapi.app.db.models import (
    Candidate,
    Content,
    Document,
    GoldPair,
    PracticeItem,
    Query,
    Ranking,
    Study,
    StudyFile,
)
from topkapi.app.db.queries.studies import importing as stored
from topkapi.app.db.search import index_documents
from topkapi.app.domain.errors import Conflict
from topkapi.app.services.guideline_history import record_version
from topkapi.app.services.importing.checking import Checked, document_digest
from topkapi.app.services.importing.comparing import Changes
from topkapi.app.services.importing.edits import head_json
from topkapi.app.services.importing.records.contents import content_hash, content_row
from topkapi.app.services.importing.records.pages import file_type
from topkapi.app.services.importing.records.types import DocumentRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.pages.pdf import PDF, rendered_folder
from topkapi.app.services.pages.pdf_rendering import rendered_pdf

_ROWS = 1000
_BYTES = 4 * 1024**2  # of contents in one batch
_IMPORT_LOCK = 7_461_830_552  # key of the advisory lock that serializes imports on PostgreSQL

Row = dict[str, Any]
T = TypeVar("T")


def write_study(
    session: Session,
    reader: Reader,
    checked: Checked,
    changes: Changes,
    *,
    actor_id: int | None = None,
) -> Study:
    """Write ``changes``; raise Conflict if a file changed since the check."""
    study = _write_head(session, checked, changes, actor_id)
    writer = _Writer(session, reader, checked, changes, study.id)
    writer.queries()
    writer.documents()
    index_documents(session, study.id)
    writer.files()
    writer.candidates()
    writer.rankings()
    writer.practice()
    writer.gold()
    return study


def lock_imports(session: Session) -> None:
    """Serialize imports on PostgreSQL: two that insert the same contents could deadlock."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})


def _write_head(
    session: Session, checked: Checked, changes: Changes, actor_id: int | None
) -> Study:
    head, merged = checked.bundle.head, changes.merged
    study = changes.study or Study(slug=head.slug)
    study.name = merged.name
    study.settings = merged.settings.as_json()
    study.imported = head_json(head)
    study.content_hash = checked.content_hash
    session.add(study)
    session.flush()
    if changes.study is None or study.guidelines != merged.guidelines:
        record_version(session, study, merged.guidelines, source="import", actor_id=actor_id)
    return study


def new_contents(session: Session) -> Executable:
    """Return an insert that skips existing contents, in the dialect of the database."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(_table(Content)).on_conflict_do_nothing()
    return sqlite.insert(_table(Content)).on_conflict_do_nothing()


class _Writer:
    """Turns records into rows of one study."""

    def __init__(
        self, session: Session, reader: Reader, checked: Checked, changes: Changes, study_id: int
    ) -> None:
        self._session, self._reader = session, reader
        self._checked, self._changes, self._study_id = checked, changes, study_id
        self._bundle = checked.bundle
        self._rendered = stored.rendered_files(session, study_id)

    def queries(self) -> None:
        position = count(stored.next_query_position(self._session, self._study_id))
        new = [self._checked.queries[name] for name in self._checked.queries if self._is_new(name)]
        rows = [
            {
                "study_id": self._study_id,
                "external_id": query.id,
                "text": query.text,
                "description": query.description,
                "narrative": query.narrative,
                "position": next(position),
            }
            for query in new
        ]
        self._insert(Query, rows)

    def _is_new(self, query: str) -> bool:
        return query in self._changes.queries

    def documents(self) -> None:
        """Insert contents and documents, a few megabytes at a time."""
        if not self._changes.documents:
            return
        contents: dict[str, Row] = {}
        rows: list[Row] = []
        seen: set[str] = set()
        size = 0
        for _, document in self._bundle.documents(self._reader):
            digest = self._verified(document)
            if document.id not in self._changes.documents or document.id in seen:
                continue
            seen.add(document.id)
            rows.append(self._document_row(document, digest))
            if digest not in contents:
                contents[digest] = content_row(document.media_type, document.data, digest)
                size += len(document.data)
            if document.media_type == PDF:
                self._render(document)
            if len(rows) >= _ROWS or size >= _BYTES:
                self._flush(contents, Document, rows)
                contents, rows, size = {}, [], 0
        self._flush(contents, Document, rows)

    def _render(self, document: DocumentRecord) -> None:
        """Insert the pictures and the page that show a PDF, once per file."""
        if document.path in self._rendered:
            return
        self._rendered.add(document.path)
        for name, data in rendered_pdf(document.data, document.path):
            path = f"{rendered_folder(document.path)}/{name}"
            digest = content_hash(file_type(path), data)
            row = {"study_id": self._study_id, "path": path, "content_hash": digest}
            self._flush({digest: content_row(file_type(path), data, digest)}, StudyFile, [row])

    def _verified(self, document: DocumentRecord) -> str:
        digest = content_hash(document.media_type, document.data)
        if self._checked.documents.get(document.id) != document_digest(document, digest):
            raise _changed_since(document.id)
        return digest

    def _document_row(self, document: DocumentRecord, digest: str) -> Row:
        return {
            "study_id": self._study_id,
            "external_id": document.id,
            "title": document.title,
            "url": document.url,
            "content_hash": digest,
            "path": document.path,
        }

    def files(self) -> None:
        """Insert every file under pages/, pages too, so that links between them resolve."""
        for batch in _batches(sorted(self._changes.files), 50):
            contents: dict[str, Row] = {}
            rows: list[Row] = []
            for path in batch:
                digest = self._checked.files[path]
                rows.append({"study_id": self._study_id, "path": path, "content_hash": digest})
                if path not in self._checked.document_paths:
                    contents[digest] = self._file_content(path, digest)
            self._flush(contents, StudyFile, rows)

    def _file_content(self, path: str, digest: str) -> Row:
        data = self._reader.content(path)
        media_type = file_type(path)
        if content_hash(media_type, data) != digest:
            raise _changed_since(path)
        return content_row(media_type, data, digest)

    def candidates(self) -> None:
        if not self._changes.candidates:
            return
        queries = stored.query_numbers(self._session, self._study_id)
        documents = stored.document_numbers(self._session, self._study_id)
        positions = stored.candidate_counts(self._session, self._study_id)

        left = {query: set(new) for query, new in self._changes.candidates.items()}

        def rows() -> Iterator[Row]:
            for _, candidate in self._bundle.candidates(self._reader):
                new = left.get(candidate.query, set())
                if candidate.document not in new:
                    continue
                new.discard(candidate.document)
                query = queries[candidate.query]
                positions[query] = positions.get(query, 0) + 1
                yield {
                    "query_id": query,
                    "document_id": documents[candidate.document],
                    "position": positions[query] - 1,
                    "grade": candidate.grade,
                    "features": candidate.features,
                }

        for batch in _batches(rows(), _ROWS):
            self._insert(Candidate, batch)

    def rankings(self) -> None:
        if not self._changes.rankings:
            return
        queries = stored.query_numbers(self._session, self._study_id)
        documents = stored.document_numbers(self._session, self._study_id)
        rows = (
            {
                "query_id": queries[ranking.query],
                "system": ranking.system,
                "documents": [documents[name] for name in ranking.documents],
            }
            for _, ranking in self._bundle.rankings(self._reader)
            if (ranking.query, ranking.system) in self._changes.rankings
        )
        for batch in _batches(rows, _ROWS):
            self._insert(Ranking, batch)

    def practice(self) -> None:
        documents = stored.document_numbers(self._session, self._study_id)
        position = count(stored.next_practice_position(self._session, self._study_id))
        rows = [
            {
                "study_id": self._study_id,
                "external_id": name,
                "position": next(position),
                "tool": question.tool,
                "query": question.query,
                "description": question.description,
                "left": [documents[page] for page in question.left],
                "right": [documents[page] for page in question.right],
                "answers": list(question.answers),
                "explanation": question.explanation,
            }
            for name, question in self._checked.practice.items()
            if name in self._changes.practice
        ]
        self._insert(PracticeItem, rows)

    def gold(self) -> None:
        if not self._changes.gold:
            return
        queries = stored.query_numbers(self._session, self._study_id)
        documents = stored.document_numbers(self._session, self._study_id)
        rows = [
            {
                "query_id": queries[pair.query],
                "left_id": documents[pair.left],
                "right_id": documents[pair.right],
                "answer": pair.answer,
                "explanation": pair.explanation,
            }
            for key, pair in self._checked.gold.items()
            if key in self._changes.gold
        ]
        for batch in _batches(rows, _ROWS):
            self._insert(GoldPair, batch)

    def _flush(self, contents: dict[str, Row], table: type[Base], rows: list[Row]) -> None:
        if contents:
            self._session.execute(new_contents(self._session), list(contents.values()))
        self._insert(table, rows)

    def _insert(self, table: type[Base], rows: list[Row]) -> None:
        if rows:
            self._session.execute(insert(_table(table)), rows)


def _table(model: type[Base]) -> Table:
    return cast(Table, model.__table__)


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _changed_since(name: str) -> Conflict:
    return Conflict(
        f"{name!r} changed while the study was being read. Nothing was imported; try again."
    )
