"""Pages, their files, candidates and rankings. Content is stored once, by its hash."""

from datetime import datetime
from hashlib import sha256

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, BigInt, Json, now
from topkapi.app.db.models.study import Query, Study


class Content(Base):
    """Bytes by the SHA-256 of their media type and data; ``text`` is their plain text."""

    __tablename__ = "contents"
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    media_type: Mapped[str] = mapped_column(String(100))
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    size: Mapped[BigInt]
    text: Mapped[str | None] = mapped_column(Text, deferred=True)


class Document(Base):
    """A page of a study; ``path`` is the original location of its file, to resolve its images."""

    __tablename__ = "documents"
    __table_args__ = (UniqueConstraint("study_id", "external_id"), Index(None, "content_hash"))
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    external_id: Mapped[str] = mapped_column(String(300))
    title: Mapped[str] = mapped_column(Text, default="")
    url: Mapped[str] = mapped_column(Text, default="")
    content_hash: Mapped[str] = mapped_column(ForeignKey("contents.hash", ondelete="RESTRICT"))
    path: Mapped[str] = mapped_column(String(1000), default="")
    study: Mapped[Study] = relationship(lazy="raise")
    content: Mapped[Content] = relationship(lazy="raise")


class StudyFile(Base):
    """A file that pages of the study refer to, such as an image or a style sheet."""

    __tablename__ = "study_files"
    __table_args__ = (UniqueConstraint("study_id", "path"), Index(None, "content_hash"))
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    path: Mapped[str] = mapped_column(String(1000))
    content_hash: Mapped[str] = mapped_column(ForeignKey("contents.hash", ondelete="RESTRICT"))
    content: Mapped[Content] = relationship(lazy="raise")


class Candidate(Base):
    """A page that is a candidate for a query, with its known grade and features."""

    __tablename__ = "candidates"
    __table_args__ = (UniqueConstraint("query_id", "document_id"), Index(None, "document_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    position: Mapped[int]
    grade: Mapped[int | None]
    features: Mapped[Json | None]
    query: Mapped[Query] = relationship(lazy="raise")
    document: Mapped[Document] = relationship(lazy="raise")


class Ranking(Base):
    """The ranking of one system for one query; ``documents`` are document ids, best first."""

    __tablename__ = "rankings"
    __table_args__ = (UniqueConstraint("query_id", "system"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    system: Mapped[str] = mapped_column(String(300))
    documents: Mapped[list[int]] = mapped_column(JSON)
    query: Mapped[Query] = relationship(lazy="raise")


class SystemRun(Base):
    """The run of one system; ``data`` are its lines, compressed by gzip.

    Lines about queries that the study does not have are kept: it may grow.
    """

    __tablename__ = "runs"
    __table_args__ = (UniqueConstraint("study_id", "system"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    system: Mapped[str] = mapped_column(String(300))
    filename: Mapped[str] = mapped_column(String(300))
    queries: Mapped[int]
    lines: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


def content_hash(media_type: str, data: bytes) -> str:
    """Return the key of a content: a hash of its media type and its bytes.

    The same bytes are two contents as a page and as plain text.
    """
    return sha256(media_type.encode() + b"\0" + data).hexdigest()
