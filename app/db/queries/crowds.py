"""Select statements about entry links and the people who came through them."""

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, joinedload

from topkapi.app.db.models import Assignment, CrowdWorker, EntryLink, User
from topkapi.app.domain.crowds import Platform


def link_of_hash(session: Session, token_hash: str) -> EntryLink | None:
    """Return the link with this hash, with its study."""
    statement = select(EntryLink).options(joinedload(EntryLink.study))
    return session.scalar(statement.where(EntryLink.token_hash == token_hash))


def links_of_study(session: Session, study_id: int) -> Sequence[EntryLink]:
    """Return the links of a study, latest first."""
    statement = select(EntryLink).where(EntryLink.study_id == study_id)
    return session.scalars(statement.order_by(EntryLink.id.desc())).all()


def people_of_links(session: Session, study_id: int) -> dict[int, int]:
    """Return how many people have agreed by each link of a study."""
    statement = (
        select(CrowdWorker.link_id, func.count())
        .where(CrowdWorker.study_id == study_id)
        .group_by(CrowdWorker.link_id)
    )
    return {link_id: count for link_id, count in session.execute(statement) if link_id}


def worker_of(
    session: Session, study_id: int, platform: Platform, worker_id: str
) -> CrowdWorker | None:
    """Return the worker of a study with this id of the platform, with the account."""
    statement = (
        select(CrowdWorker)
        .options(joinedload(CrowdWorker.user))
        .where(
            CrowdWorker.study_id == study_id,
            CrowdWorker.platform == platform,
            CrowdWorker.worker_id == worker_id,
        )
    )
    return session.scalar(statement)


def crowd_account(session: Session, user_id: int) -> CrowdWorker | None:
    """Return the entry of a person who came through a link, with the link."""
    statement = select(CrowdWorker).options(joinedload(CrowdWorker.link))
    return session.scalar(statement.where(CrowdWorker.user_id == user_id))


def is_crowd(session: Session, user_id: int) -> bool:
    """Return whether the account was made by an entry link."""
    statement = select(CrowdWorker.user_id).where(CrowdWorker.user_id == user_id)
    return session.scalar(statement) is not None


def workers_among(session: Session, user_ids: Iterable[int]) -> dict[int, CrowdWorker]:
    """Return those of these people who came through a link."""
    statement = select(CrowdWorker).where(CrowdWorker.user_id.in_(set(user_ids)))
    return {worker.user_id: worker for worker in session.scalars(statement)}


def workers_of_study(session: Session, study_id: int) -> dict[int, CrowdWorker]:
    """Return everyone who came to a study through a link."""
    statement = select(CrowdWorker).where(CrowdWorker.study_id == study_id)
    return {worker.user_id: worker for worker in session.scalars(statement)}


def counts_of_work(session: Session, user_id: int) -> tuple[int, int]:
    """Return how many assignments a person has that were not withdrawn, and how many finished."""
    statement = select(func.count(), func.count(Assignment.finished_at)).where(
        Assignment.user_id == user_id, Assignment.withdrawn_at.is_(None)
    )
    assigned, finished = session.execute(statement).one()
    return assigned, finished


def open_work(session: Session, user_id: int) -> int | None:
    """Return the id of the person's first unfinished assignment."""
    statement = (
        select(Assignment.id)
        .where(
            Assignment.user_id == user_id,
            Assignment.withdrawn_at.is_(None),
            Assignment.finished_at.is_(None),
        )
        .order_by(Assignment.last_entry_at.is_(None), Assignment.id)
    )
    return session.scalar(statement.limit(1))


def without_crowds() -> ColumnElement[bool]:
    """Return the condition for accounts that were not made by an entry link."""
    return ~select(CrowdWorker.user_id).where(CrowdWorker.user_id == User.id).exists()
