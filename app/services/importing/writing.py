"""Insert the rows of a study in batches, in one transaction or several."""

from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import TypeVar, cast

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
from topkapi.app.services.guideline_history import record_version
from topkapi.app.services.importing.checking import Checked
from topkapi.app.services.importing.comparing import Changes
from topkapi.app.services.importing.edits import head_json
from topkapi.app.services.importing.staging import Row, Staging

_ROWS = 1000
_IMPORT_LOCK = 7_461_830_552  # key of the advisory lock that serializes imports on PostgreSQL

T = TypeVar("T")


def write_study(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    *,
    actor_id: int | None = None,
) -> Study:
    """Write the rows of ``changes``, whose contents are stored already."""
    study = changes.study or Study(slug=checked.bundle.head.slug)
    write_head(session, study, checked, changes, actor_id)
    _StudyWriter(session, checked, changes, staging, study.id).write()
    return study


def write_unfinished(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    *,
    slug: str,
    rest: Callable[[], None],
) -> None:
    """Write the rows of a new study under a ``slug`` that nobody sees; ``rest`` after each batch.

    `write_head` then gives it the slug of its files.
    """
    study = Study(slug=slug, name="")
    session.add(study)
    session.flush()
    number = study.id
    rest()
    _StudyWriter(session, checked, changes, staging, number, rest).write()


def lock_imports(session: Session) -> None:
    """Serialize imports on PostgreSQL: two that insert the same contents could deadlock."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})


def write_head(
    session: Session, study: Study, checked: Checked, changes: Changes, actor_id: int | None
) -> None:
    """Write name, guidelines and settings of a study."""
    head, merged = checked.bundle.head, changes.merged
    study.slug, study.name = head.slug, merged.name
    study.settings = merged.settings
    study.imported = head_json(head)
    study.content_hash = checked.content_hash
    session.add(study)
    session.flush()
    if changes.study is None or study.guidelines != merged.guidelines:
        record_version(session, study, merged.guidelines, source="import", actor_id=actor_id)


def new_contents(session: Session) -> Executable:
    """Return an insert that skips existing contents, in the dialect of the database."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(_table(Content)).on_conflict_do_nothing()
    return sqlite.insert(_table(Content)).on_conflict_do_nothing()


class _StudyWriter:
    """Turns records into rows of one study."""

    def __init__(
        self,
        session: Session,
        checked: Checked,
        changes: Changes,
        staging: Staging,
        study_id: int,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._session, self._study_id, self._rest = session, study_id, rest
        self._checked, self._changes, self._staging = checked, changes, staging

    def write(self) -> None:
        self.queries()
        self.documents()
        self.files()
        self.candidates()
        self.rankings()
        self.practice()
        self.gold()

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
        for batch in _batches(rows, _ROWS):
            self._insert(Query, batch)

    def _is_new(self, query: str) -> bool:
        return query in self._changes.queries

    def documents(self) -> None:
        for batch in _batches(self._staging.documents(), _ROWS):
            self._insert(Document, [{"study_id": self._study_id, **row} for row in batch])

    def files(self) -> None:
        """Insert every file under pages/, pages too, so that links between them resolve."""
        hashes = {path: self._checked.files[path] for path in sorted(self._changes.files)}
        hashes.update(self._staging.rendered)
        rows = (
            {"study_id": self._study_id, "path": path, "content_hash": digest}
            for path, digest in hashes.items()
        )
        for batch in _batches(rows, _ROWS):
            self._insert(StudyFile, batch)

    def candidates(self) -> None:
        if not self._changes.candidates:
            return
        queries = stored.query_numbers(self._session, self._study_id)
        documents = stored.document_numbers(self._session, self._study_id)
        positions = stored.candidate_counts(self._session, self._study_id)
        self._rest()

        def rows() -> Iterator[Row]:
            for name, document, grade, features in self._staging.candidates():
                query = queries[name]
                positions[query] = positions.get(query, 0) + 1
                yield {
                    "query_id": query,
                    "document_id": documents[document],
                    "position": positions[query] - 1,
                    "grade": grade,
                    "features": features,
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
                "query_id": queries[query],
                "system": system,
                "documents": [documents[name] for name in names],
            }
            for query, system, names in self._staging.rankings()
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
        for batch in _batches(rows, _ROWS):
            self._insert(PracticeItem, batch)

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

    def _insert(self, table: type[Base], rows: list[Row]) -> None:
        if rows:
            self._session.execute(insert(_table(table)), rows)
            self._rest()


def _table(model: type[Base]) -> Table:
    return cast(Table, model.__table__)


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
