"""Entry links for crowds, and the people who came through them."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, now
from topkapi.app.db.models.study import Study
from topkapi.app.db.models.user import User
from topkapi.app.domain.crowds import Platform


class EntryLink(Base):
    """A link that lets workers of a platform into one study; only its token's hash is stored.

    Everything but ``closed_at`` stays as created, so the link identifies the consent text that a
    person read. ``rounds`` is how many people judge each query with each tool, ``share`` how many
    queries one person gets. ``screen_out`` is the code or https address for people who do not
    qualify or whose work was withdrawn. Links outlive their study, and no copy of a study includes
    them.
    """

    __tablename__ = "entry_links"
    __table_args__ = (UniqueConstraint("token_hash"), Index(None, "study_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int | None] = mapped_column(ForeignKey("studies.id", ondelete="SET NULL"))
    token_hash: Mapped[str] = mapped_column(String(64))
    platform: Mapped[Platform]
    consent: Mapped[str] = mapped_column(Text)
    consent_digest: Mapped[str] = mapped_column(String(64))
    code: Mapped[str] = mapped_column(String(100), default="")
    redirect_url: Mapped[str] = mapped_column(String(1000), default="")
    screen_out: Mapped[str] = mapped_column(String(1000), default="")
    most_people: Mapped[int | None]
    share: Mapped[int]
    rounds: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(default=now)
    closed_at: Mapped[datetime | None]
    study: Mapped[Study | None] = relationship(lazy="raise")


class CrowdWorker(Base):
    """An account made by an entry link, for one worker and one study.

    ``link_id`` is the link whose consent text the person agreed to last, at ``consented_at``;
    ``session_hash`` is the hash of the platform's submission id, which proves a return.
    """

    __tablename__ = "crowd_workers"
    __table_args__ = (
        UniqueConstraint("study_id", "platform", "worker_id"),
        Index(None, "link_id"),
    )
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    study_id: Mapped[int | None] = mapped_column(ForeignKey("studies.id", ondelete="SET NULL"))
    link_id: Mapped[int | None] = mapped_column(ForeignKey("entry_links.id", ondelete="RESTRICT"))
    platform: Mapped[Platform]
    worker_id: Mapped[str] = mapped_column(String(64))
    platform_study: Mapped[str] = mapped_column(String(64), default="")
    session_hash: Mapped[str | None] = mapped_column(String(64))
    consented_at: Mapped[datetime]
    user: Mapped[User] = relationship(lazy="raise")
    link: Mapped[EntryLink | None] = relationship(lazy="raise")
