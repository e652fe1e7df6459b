"""Data for models where a study has no features: the text of its pages."""

from collections.abc import Sequence

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Candidate, Content, Document


def pages_of_query(session: Session, query_id: int) -> Sequence[Row[str, str, str | None]]:
    """Return external id, title and plain text of the query's candidates, in the study's order."""
    statement = (
        select(Document.external_id, Document.title, Content.text)
        .join(Candidate, Candidate.document_id == Document.id)
        .join(Content, Content.hash == Document.content_hash)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Candidate.id)
    )
    return session.execute(statement).all()
