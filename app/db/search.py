"""Full-text search of documents: FTS5 on SQLite, a generated ``tsvector`` on PostgreSQL.

Both index whole words in lower case and are asked for words that begin with what was typed. These
tables, columns and indexes are not part of the models; migrations create them. On SQLite code that
writes documents calls `index_documents`: a trigger per row takes eight times as long, because FTS5
writes its buffer to disk after each statement of a trigger.
"""

import re
from typing import Any

from sqlalchemy import ColumnElement, column, func, literal_column, select, table, text
from sqlalchemy.orm import Session

from topkapi.app.db.models import Content, Document

TABLE = "document_search"  # SQLite; FTS5 adds tables with this prefix
COLUMN = "search"  # PostgreSQL, in the table of contents
INDEX = "ix_contents_search"
_FTS = table(TABLE, column("rowid"), column(TABLE))
_INDEXED = 128 * 1024  # bytes of contents in one range of `unindexed`
_WORD = re.compile(r"[^\W_]+")


def is_search_object(name: str | None, kind: str) -> bool:
    """Return whether a table, column or index in the database belongs to the search."""
    if kind == "table":
        return bool(name and name.startswith(TABLE))
    return name == (COLUMN if kind == "column" else INDEX)


def matching_documents(session: Session, typed: str) -> ColumnElement[bool] | None:
    """Return the condition for documents with all words of ``typed``, or None without a word.

    A word of a page matches if it begins with the typed word.
    """
    words = _WORD.findall(typed.lower())
    if not words:
        return None
    if session.get_bind().dialect.name == "sqlite":
        asked = " ".join(f'"{word}"*' for word in words)
        found = select(_FTS.c.rowid).where(_FTS.c[TABLE].op("MATCH")(asked))
        return Document.id.in_(found)
    asked = " & ".join(f"{word}:*" for word in words)
    vector: ColumnElement[Any] = literal_column(f"contents.{COLUMN}")
    hashes = select(Content.hash).where(vector.op("@@")(func.to_tsquery("simple", asked)))
    return Document.content_hash.in_(hashes)


def unindexed(session: Session) -> list[tuple[int, int]]:
    """Return the documents to index as ranges of ids, short to index each (SQLite)."""
    if session.get_bind().dialect.name != "sqlite":
        return []
    rows = session.execute(
        text(
            "SELECT documents.id, contents.size FROM documents "
            "JOIN contents ON contents.hash = documents.content_hash "
            f"WHERE documents.id NOT IN (SELECT id FROM {TABLE}_docsize) ORDER BY documents.id"
        )
    )
    gaps: list[tuple[int, int]] = []
    left = 0
    for number, size in rows:
        if left > 0:
            gaps[-1] = (gaps[-1][0], number)
        else:
            gaps.append((number, number))
            left = _INDEXED
        left -= size
    return gaps


def index_documents(
    session: Session, study_id: int | None = None, *, first: int = 0, last: int = 2**62
) -> None:
    """Index the documents of a study, or all, that are not indexed yet (SQLite)."""
    if session.get_bind().dialect.name == "sqlite":
        _run(
            session,
            f"INSERT INTO {TABLE}(rowid, body) SELECT documents.id, contents.text",
            "NOT",
            study_id,
            first,
            last,
        )


def unindex_documents(session: Session, study_id: int) -> None:
    """Remove the documents of a study from the index (SQLite), before they are deleted."""
    if session.get_bind().dialect.name == "sqlite":
        columns = f"{TABLE}({TABLE}, rowid, body)"
        _run(
            session,
            f"INSERT INTO {columns} SELECT 'delete', documents.id, contents.text",
            "",
            study_id,
        )


def _run(
    session: Session,
    change: str,
    negated: str,
    study_id: int | None,
    first: int = 0,
    last: int = 2**62,
) -> None:
    """Apply a change to the index for those documents that it has, or has not."""
    session.flush()
    session.execute(
        text(
            f"{change} FROM documents JOIN contents ON contents.hash = documents.content_hash "
            f"WHERE documents.id {negated} IN (SELECT id FROM {TABLE}_docsize) "
            "AND (:study IS NULL OR documents.study_id = :study) "
            "AND documents.id BETWEEN :first AND :last"
        ),
        {"study": study_id, "first": first, "last": last},
    )
