"""Runs of systems, and the systems of a study's lists."""

from collections.abc import Hashable, Iterator, Mapping, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Document, Query, Ranking, SystemRun


def runs_of_study(session: Session, study_id: int) -> Sequence[SystemRun]:
    """Return the runs of a study by name, without their lines."""
    statement = select(SystemRun).where(SystemRun.study_id == study_id)
    return session.scalars(statement.order_by(SystemRun.system)).all()


def run_data(session: Session, run_id: int) -> bytes:
    """Return the compressed lines of a run."""
    return session.scalars(select(SystemRun.data).where(SystemRun.id == run_id)).one()


def query_names(session: Session, study_id: int) -> set[str]:
    """Return the ids of the study's queries, as in its files."""
    return set(session.scalars(select(Query.external_id).where(Query.study_id == study_id)))


def list_systems(session: Session, study_id: int) -> Sequence[str]:
    """Return the names of the systems that made the study's lists."""
    statement = select(Ranking.system).join(Query).where(Query.study_id == study_id)
    return session.scalars(statement.distinct().order_by(Ranking.system)).all()


def has_systems(session: Session, study_id: int) -> bool:
    """Return whether there is anything to score: an uploaded run, or a list of the study."""
    run = select(SystemRun.id).where(SystemRun.study_id == study_id)
    ranking = select(Ranking.id).join(Query).where(Query.study_id == study_id)
    return any(session.scalar(each.limit(1)) is not None for each in (run, ranking))


def lists_of_system(
    session: Session, study_id: int, system: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield query and documents, best first, of each list of a system, all by their file ids."""
    rows = session.execute(
        select(Query.external_id, Ranking.documents)
        .join(Query, Query.id == Ranking.query_id)
        .where(Query.study_id == study_id, Ranking.system == system)
    ).all()
    names = {
        row[0]: row[1]
        for row in session.execute(
            select(Document.id, Document.external_id).where(Document.study_id == study_id)
        )
    }
    for query, documents in rows:
        yield query, [names[document] for document in documents]


def names_of(session: Session, document_ids: Sequence[int]) -> list[str]:
    """Return the file ids of documents, in the same order."""
    statement = select(Document.id, Document.external_id).where(Document.id.in_(document_ids))
    names = {row[0]: row[1] for row in session.execute(statement)}
    return [names[number] for number in document_ids]


def lists_of_query(session: Session, query_id: int) -> Mapping[str, list[int]]:
    """Return the documents, best first, of each system's list for a query."""
    statement = select(Ranking.system, Ranking.documents).where(Ranking.query_id == query_id)
    return {row[0]: row[1] for row in session.execute(statement)}


def lists_state(session: Session, study_id: int) -> Hashable:
    """Return count and highest id of the study's lists, which change with every import of lists."""
    statement = select(func.count(Ranking.id), func.max(Ranking.id)).join(Query)
    return tuple(session.execute(statement.where(Query.study_id == study_id)).one())


def work_state(session: Session, study_id: int) -> Hashable:
    """Return a summary of assignments and logs that changes with every log entry."""
    statement = (
        select(
            func.count(Assignment.id),
            func.max(Assignment.id),
            func.count(Assignment.withdrawn_at),
            func.count(Assignment.finished_at),
            func.sum(Assignment.answered),
            func.sum(Assignment.active_ms),
            func.max(Assignment.last_entry_at),
        )
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
    )
    return tuple(session.execute(statement).one())


def answers(session: Session, study_id: int) -> int:
    """Return the number of answers to a study's questions."""
    statement = select(func.sum(Assignment.answered)).join(Query, Query.id == Assignment.query_id)
    return session.scalar(statement.where(Query.study_id == study_id)) or 0


def holdings(session: Session, study_id: int) -> Hashable:
    """Return counts of queries and candidates, to which an import may add."""
    statement = (
        select(func.count(Query.id.distinct()), func.count(Candidate.id), func.max(Candidate.id))
        .outerjoin(Candidate, Candidate.query_id == Query.id)
        .where(Query.study_id == study_id)
    )
    return tuple(session.execute(statement).one())
