"""Data for imports: the content of an existing study."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from sqlalchemy import Executable, Row, Table, func, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    CrowdWorker,
    Document,
    GoldPair,
    PracticeItem,
    Query,
    Ranking,
    StudyFile,
    User,
)
from topkapi.app.domain.enums import Tool

_IMPORT_LOCK = 7_461_830_552  # key of the advisory lock that serializes imports on PostgreSQL
Positioned = type[Query] | type[PracticeItem]


def query_facts(session: Session, study_id: int) -> Sequence[Row[str, str, str, str]]:
    """Return external id, text, description and narrative of the queries."""
    statement = select(Query.external_id, Query.text, Query.description, Query.narrative)
    return session.execute(statement.where(Query.study_id == study_id)).all()


def document_facts(session: Session, study_id: int) -> Sequence[Row[str, str, str, str, str]]:
    """Return external id, content hash, title, address and path of the documents."""
    statement = select(
        Document.external_id, Document.content_hash, Document.title, Document.url, Document.path
    )
    return session.execute(statement.where(Document.study_id == study_id)).all()


def candidate_facts(
    session: Session, study_id: int
) -> Iterator[Row[str, str, int | None, dict[str, Any] | None]]:
    """Yield query, document, grade and features of the candidates."""
    statement = (
        select(Query.external_id, Document.external_id, Candidate.grade, Candidate.features)
        .join(Query, Query.id == Candidate.query_id)
        .join(Document, Document.id == Candidate.document_id)
        .where(Query.study_id == study_id)
    )
    return iter(session.execute(statement.execution_options(yield_per=2000)))


def ranking_facts(session: Session, study_id: int) -> Iterator[tuple[str, str, list[str]]]:
    """Yield query, system and documents of the rankings, by external ids."""
    names = {number: name for name, number in document_numbers(session, study_id).items()}
    statement = select(Query.external_id, Ranking.system, Ranking.documents).join(
        Query, Query.id == Ranking.query_id
    )
    for query, system, numbers in session.execute(statement.where(Query.study_id == study_id)):
        yield query, system, [names[number] for number in numbers]


def practice_facts(session: Session, study_id: int) -> Iterator[tuple[Any, ...]]:
    """Yield name, tool, texts, pages by external id, answers and explanation of the practice."""
    names = {number: name for name, number in document_numbers(session, study_id).items()}
    for item in session.scalars(select(PracticeItem).where(PracticeItem.study_id == study_id)):
        yield (
            *(item.external_id, item.tool, item.query, item.description),
            *(tuple(names[number] for number in side) for side in (item.left, item.right)),
            *(tuple(item.answers), item.explanation),
        )


def gold_facts(session: Session, study_id: int) -> list[tuple[str, str, str, str, str]]:
    """Return query, left and right page by external id, answer and explanation of gold pairs."""
    left, right = aliased(Document), aliased(Document)
    statement = (
        select(
            *(Query.external_id, left.external_id, right.external_id),
            *(GoldPair.answer, GoldPair.explanation),
        )
        .join(Query, Query.id == GoldPair.query_id)
        .join(left, left.id == GoldPair.left_id)
        .join(right, right.id == GoldPair.right_id)
        .where(Query.study_id == study_id)
    )
    return [(row[0], row[1], row[2], row[3], row[4]) for row in session.execute(statement)]


def file_facts(session: Session, study_id: int) -> list[tuple[str, str]]:
    """Return path and content hash of the study's files."""
    statement = select(StudyFile.path, StudyFile.content_hash).where(StudyFile.study_id == study_id)
    return [(path, digest) for path, digest in session.execute(statement)]


def rendered_files(session: Session, study_id: int) -> set[str]:
    """Return paths of documents that have been rendered: PDF files."""
    statement = (
        select(Document.path)
        .join(Content, Content.hash == Document.content_hash)
        .where(Document.study_id == study_id, Content.media_type == "application/pdf")
    )
    return set(session.scalars(statement))


def assigned_queries(session: Session, study_id: int) -> frozenset[str]:
    """Return queries that somebody is assigned to, begun or not."""
    statement = (
        select(Query.external_id)
        .join(Assignment, Assignment.query_id == Query.id)
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None))
    )
    return frozenset(session.scalars(statement))


def crowd_queries(session: Session, study_id: int) -> frozenset[str]:
    """Return queries assigned to people who came through an entry link."""
    statement = (
        select(Query.external_id)
        .join(Assignment, Assignment.query_id == Query.id)
        .join(CrowdWorker, CrowdWorker.user_id == Assignment.user_id)
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None))
    )
    return frozenset(session.scalars(statement))


def count_growing(
    session: Session, study_id: int, names: Collection[str]
) -> dict[str, tuple[int, int]]:
    """Return by e-mail how much work on these queries judges all their pages, and is finished."""
    statement = (
        select(User.email, func.count(Assignment.id), func.count(Assignment.finished_at))
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id, Query.external_id.in_(names))
        .where(Assignment.tool != Tool.LISTS, Assignment.round >= 0)
        .where(Assignment.withdrawn_at.is_(None))
        .group_by(User.email)
        .order_by(User.email)
    )
    return {email: (work, finished) for email, work, finished in session.execute(statement)}


def begun_queries(session: Session, study_id: int) -> frozenset[str]:
    """Return queries that somebody has answered questions about."""
    statement = (
        select(Query.external_id)
        .join(Assignment, Assignment.query_id == Query.id)
        .where(Query.study_id == study_id, Assignment.last_entry_at.is_not(None))
    )
    return frozenset(session.scalars(statement))


def query_numbers(session: Session, study_id: int) -> dict[str, int]:
    """Return ids of the queries by external id."""
    statement = select(Query.external_id, Query.id).where(Query.study_id == study_id)
    return {row[0]: row[1] for row in session.execute(statement)}


def document_numbers(session: Session, study_id: int) -> dict[str, int]:
    """Return ids of the documents by external id."""
    statement = select(Document.external_id, Document.id).where(Document.study_id == study_id)
    return {row[0]: row[1] for row in session.execute(statement)}


def next_position(session: Session, model: Positioned, study_id: int) -> int:
    """Return the position after the study's last query or practice question."""
    last = session.scalar(select(func.max(model.position)).where(model.study_id == study_id))
    return 0 if last is None else last + 1


def candidate_counts(session: Session, study_id: int) -> dict[int, int]:
    """Return the number of candidates per query id."""
    statement = (
        select(Candidate.query_id, func.count())
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study_id)
        .group_by(Candidate.query_id)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def lock_imports(session: Session) -> None:
    """Serialize imports on PostgreSQL: two that insert the same contents could deadlock."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})


def new_contents(session: Session) -> Executable:
    """Return an insert that skips existing contents, in the dialect of the database."""
    table = cast(Table, Content.__table__)
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()
