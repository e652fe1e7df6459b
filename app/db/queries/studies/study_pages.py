"""Data for the pages of one study: its sizes, and pages of its queries and documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    Query,
    Ranking,
    StudyFile,
)
from topkapi.app.db.queries.machines import by_people
from topkapi.app.db.search import matching_documents
from topkapi.app.domain.text.snippets import FIRST_WORDS, shown_title


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query with the number of its candidates, assignments and finished assignments."""

    id: int
    name: str
    text: str
    description: str
    narrative: str
    candidates: int
    assigned: int
    finished: int


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document with its media type, its size in bytes and the number of its queries.

    ``title`` is the first words of the text if it has none.
    """

    id: int
    name: str
    title: str
    url: str
    media_type: str
    path: str
    size: int
    queries: int


def sizes(session: Session, study_id: int) -> dict[str, int]:
    """Return counts of the study's queries, documents, candidates, rankings, files and work."""
    mine = Query.study_id == study_id
    work = select(func.count(Assignment.id)).join(Query, Query.id == Assignment.query_id)
    work = work.where(mine, Assignment.withdrawn_at.is_(None), by_people())
    parts = {
        "queries": select(func.count(Query.id)).where(mine),
        "documents": select(func.count(Document.id)).where(Document.study_id == study_id),
        "candidates": select(func.count(Candidate.id))
        .join(Query, Query.id == Candidate.query_id)
        .where(mine),
        "rankings": select(func.count(Ranking.id))
        .join(Query, Query.id == Ranking.query_id)
        .where(mine),
        "files": select(func.count(StudyFile.id)).where(StudyFile.study_id == study_id),
        "assignments": work,
        "begun": work.where(
            Assignment.last_entry_at.is_not(None) | Assignment.finished_at.is_not(None)
        ),
        "finished": work.where(Assignment.finished_at.is_not(None)),
    }
    counts = session.execute(select(*(part.scalar_subquery() for part in parts.values()))).one()
    return dict(zip(parts, counts, strict=True))


def queries_page(
    session: Session, study_id: int, *, search: str = "", limit: int, offset: int
) -> tuple[Sequence[QueryRow], int]:
    """Return a page of queries with candidates, assignments and finished ones, and their number."""
    where = [Query.study_id == study_id]
    if search:
        where.append(
            or_(
                Query.text.icontains(search, autoescape=True),
                Query.external_id.icontains(search, autoescape=True),
            )
        )
    candidates = select(func.count()).where(Candidate.query_id == Query.id).correlate(Query)
    work = (
        select(func.count())
        .where(Assignment.query_id == Query.id, Assignment.withdrawn_at.is_(None), by_people())
        .correlate(Query)
    )
    done = work.where(Assignment.finished_at.is_not(None))
    statement = (
        select(
            Query.id,
            Query.external_id,
            Query.text,
            Query.description,
            Query.narrative,
            *(part.scalar_subquery() for part in (candidates, work, done)),
        )
        .where(*where)
        .order_by(Query.position)
        .limit(limit)
        .offset(offset)
    )
    total = session.scalar(select(func.count(Query.id)).where(*where)) or 0
    return [QueryRow(*row) for row in session.execute(statement)], total


def documents_page(
    session: Session, study_id: int, *, search: str = "", limit: int, offset: int
) -> tuple[Sequence[DocumentRow], int]:
    """Return a page of documents with media type and size, and their number.

    ``search`` finds documents by a part of title or id, or by words of their text.
    """
    where = [Document.study_id == study_id]
    if search:
        where.append(or_(*_found_by(session, search)))
    uses = select(func.count()).where(Candidate.document_id == Document.id).correlate(Document)
    statement = (
        select(
            Document.id,
            Document.external_id,
            Document.title,
            Document.url,
            Content.media_type,
            Document.path,
            Content.size,
            uses.scalar_subquery(),
            func.substr(Content.text, 1, FIRST_WORDS),
        )
        .join(Content, Content.hash == Document.content_hash)
        .where(*where)
        .order_by(Document.id)
        .limit(limit)
        .offset(offset)
    )
    total = session.scalar(select(func.count(Document.id)).where(*where)) or 0
    rows = [
        DocumentRow(id, name, shown_title(title, words, name), *rest)
        for id, name, title, *rest, words in session.execute(statement)
    ]
    return rows, total


def _found_by(session: Session, search: str) -> Iterator[ColumnElement[bool]]:
    yield Document.title.icontains(search, autoescape=True)
    yield Document.external_id.icontains(search, autoescape=True)
    by_text = matching_documents(session, search)
    if by_text is not None:
        yield by_text
