"""Studies and their queries."""

import json
from datetime import datetime
from functools import lru_cache

from sqlalchemy import (
    JSON,
    Dialect,
    ForeignKey,
    Index,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, Json, now
from topkapi.app.domain.study import StudySettings

UNFINISHED = "."


class SettingsColumn(TypeDecorator[StudySettings]):
    """Settings stored as JSON; those that an older version did not know have their defaults."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: StudySettings | None, _dialect: Dialect) -> Json | None:
        """Return what is stored."""
        return None if value is None else value.as_json()

    def process_result_value(self, value: Json | None, _dialect: Dialect) -> StudySettings | None:
        """Return the settings."""
        return None if value is None else _settings(json.dumps(value))


@lru_cache(maxsize=256)
def _settings(text: str) -> StudySettings:
    """Return the settings that were stored; checking them takes longer than reading them."""
    return StudySettings.from_json(json.loads(text))


class Study(Base):
    """Queries, candidates, guidelines and settings; ``slug`` is its public name.

    ``rotations`` holds people and seed of the latest rotation of each kind, so that a later round
    continues from it; ``full_copy`` describes the latest full copy, which a deletion requires.
    ``imported`` holds name, guidelines and settings as the files of the latest import had them, so
    that a later import can tell edits from changes of the files. A study that is still being
    imported has a random slug that begins with `UNFINISHED`, and is not listed.
    """

    __tablename__ = "studies"
    __table_args__ = (UniqueConstraint("slug"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(100))
    name: Mapped[str] = mapped_column(String(300))
    guidelines: Mapped[str] = mapped_column(Text, default="")
    settings: Mapped[StudySettings] = mapped_column(SettingsColumn, default=StudySettings)
    content_hash: Mapped[str] = mapped_column(String(64), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    archived_at: Mapped[datetime | None]
    rotations: Mapped[Json | None]
    full_copy: Mapped[Json | None]
    imported: Mapped[Json | None]


class StudyAccess(Base):
    """A researcher who may read a study; administrators read every study without a row."""

    __tablename__ = "study_access"
    __table_args__ = (Index(None, "study_id"),)
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    study_id: Mapped[int] = mapped_column(
        ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True
    )


class GuidelineVersion(Base):
    """The guidelines of a study from ``created_at`` until the next version.

    ``source`` is ``import`` or ``edit``; ``user_id`` is None for the command line.
    """

    __tablename__ = "guideline_versions"
    __table_args__ = (UniqueConstraint("study_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    number: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    source: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class Query(Base):
    """A search query, with the information need behind it."""

    __tablename__ = "queries"
    __table_args__ = (UniqueConstraint("study_id", "external_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    external_id: Mapped[str] = mapped_column(String(300))
    text: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text, default="")
    narrative: Mapped[str] = mapped_column(Text, default="")
    position: Mapped[int]
    study: Mapped[Study] = relationship(lazy="raise")
