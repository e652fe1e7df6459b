"""Data for the results of one query."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Content, Document, JudgmentRow, Query
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.text.snippets import FIRST_WORDS, shown_title


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query with its position from 1 among all, and its neighbours, in the study's order."""

    id: int
    name: str
    text: str
    description: str
    before: int | None
    after: int | None
    position: int
    total: int


@dataclass(frozen=True, slots=True)
class QueryDocument:
    """A document of a query; ``title`` is its title, or the first words of its text."""

    id: int
    name: str
    title: str
    url: str
    media_type: str
    path: str


def query_text(session: Session, study_id: int, query_id: int) -> QueryText | None:
    """Return a query of the study."""
    query = session.get(Query, query_id)
    if query is None or query.study_id != study_id:
        return None
    order = (Query.position, Query.id)
    columns = (func.lag(Query.id), func.lead(Query.id), func.row_number())
    over = [each.over(order_by=order).label(f"c{at}") for at, each in enumerate(columns)]
    count = func.count().over().label("total")
    placed = select(Query.id, *over, count).where(Query.study_id == study_id).subquery()
    _, *row = session.execute(select(placed).where(placed.c.id == query_id)).one()
    return QueryText(query.id, query.external_id, query.text, query.description, *row)


def documents_of_query(session: Session, query_id: int) -> Sequence[QueryDocument]:
    """Return the candidates of a query in the study's order."""
    statement = (
        _documents()
        .join(Candidate, Candidate.document_id == Document.id)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Document.id)
    )
    return [_document(*row) for row in session.execute(statement)]


def known_grades(session: Session, query_id: int) -> dict[str, int]:
    """Return the imported grades of a query's candidates by external id."""
    statement = (
        select(Document.external_id, Candidate.grade)
        .join(Candidate, Candidate.document_id == Document.id)
        .where(Candidate.query_id == query_id, Candidate.grade.is_not(None))
    )
    return {name: grade for name, grade in session.execute(statement) if grade is not None}


def judged_documents(session: Session, query_id: int) -> set[int]:
    """Return the documents of a query about which people gave answers that count."""
    statement = (
        select(JudgmentRow.left_id, JudgmentRow.right_id)
        .join(Assignment, Assignment.id == JudgmentRow.assignment_id)
        .where(Assignment.query_id == query_id, Assignment.withdrawn_at.is_(None), by_people())
        .distinct()
    )
    return {number for row in session.execute(statement) for number in row if number is not None}


def documents_named(
    session: Session, study_id: int, names: Collection[str]
) -> Mapping[str, QueryDocument]:
    """Return documents of the study by their external ids; unknown ids are left out."""
    wanted = Document.study_id == study_id, Document.external_id.in_(names)
    found = [_document(*row) for row in session.execute(_documents().where(*wanted))]
    return {each.name: each for each in found}


def _documents() -> Select[Any]:
    return select(
        Document.id,
        Document.external_id,
        Document.title,
        Document.url,
        Content.media_type,
        Document.path,
        func.substr(Content.text, 1, FIRST_WORDS),
    ).join(Content, Content.hash == Document.content_hash)


def _document(
    id: int, name: str, title: str, url: str, media_type: str, path: str, words: str | None
) -> QueryDocument:
    return QueryDocument(id, name, shown_title(title, words, name), url, media_type, path)
