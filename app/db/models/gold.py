"""Gold pairs: pairs of a query's pages whose right answer is known."""

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from topkapi.app.db.base import Base


class GoldPair(Base):
    """A pair of candidates of a query with the right answer: ``left``, ``right`` or ``tie``."""

    __tablename__ = "gold_pairs"
    __table_args__ = (
        UniqueConstraint("query_id", "left_id", "right_id"),
        Index(None, "left_id"),
        Index(None, "right_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    left_id: Mapped[int] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    right_id: Mapped[int] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    answer: Mapped[str] = mapped_column(String(20))
    explanation: Mapped[str] = mapped_column(Text, default="")
