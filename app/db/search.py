"""Full-text search of documents: FTS5 on SQLite, a generated ``tsvector`` on PostgreSQL.

Both index whole words in lower case and are asked for words that begin with what was typed. These
tables, columns and indexes are not part of the models; migrations create them.
"""

import re
from typing import Any

from sqlalchemy import ColumnElement, column, func, literal_column, select, table
from sqlalchemy.orm import Session

from topkapi.app.db.models import Content, Document

TABLE = "document_search"  # SQLite; FTS5 adds tables with this prefix
COLUMN = "search"  # PostgreSQL, in the table of contents
INDEX = "ix_contents_search"
_FTS = table(TABLE, column("rowid"), column(TABLE))
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
