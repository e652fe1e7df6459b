"""Terms a person highlights on the pages of a query."""

from sqlalchemy import JSON, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from topkapi.app.db.base import Base


class Highlight(Base):
    """The terms a person wants highlighted for a query, instead of the query's own."""

    __tablename__ = "highlights"
    __table_args__ = (Index(None, "query_id"),)
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    query_id: Mapped[int] = mapped_column(
        ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True
    )
    terms: Mapped[list[str]] = mapped_column(JSON)
