"""Select statements about entry links and the people who came through them."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from topkapi.app.db.models import Assignment, CrowdWorker, EntryLink, Query, User
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.crowds import Platform
from topkapi.app.domain.enums import Tool


def link_of_hash(session: Session, token_hash: str) -> EntryLink | None:
    """Return the link with this hash, with its study."""
    statement = select(EntryLink).options(joinedload(EntryLink.study))
    return session.scalar(statement.where(EntryLink.token_hash == token_hash))


def links_of_study(session: Session, study_id: int) -> Sequence[EntryLink]:
    """Return the links of a study, latest first."""
    statement = select(EntryLink).where(EntryLink.study_id == study_id)
    return session.scalars(statement.order_by(EntryLink.id.desc())).all()


def people_of_links(
    session: Session, study_id: int, *, since: datetime | None = None
) -> dict[int, int]:
    """Return how many people hold a place by each link of a study.

    Nobody does whose work was withdrawn; with ``since``, neither do those who have finished nothing
    and were idle from then on.
    """
    holds = select(Assignment.id).where(
        Assignment.user_id == CrowdWorker.user_id, Assignment.withdrawn_at.is_(None)
    )
    if since is not None:
        holds = holds.where(Assignment.finished_at.is_not(None) | ~_idle(since))
    statement = (
        select(CrowdWorker.link_id, func.count())
        .where(CrowdWorker.study_id == study_id, holds.exists())
        .group_by(CrowdWorker.link_id)
    )
    return {link_id: count for link_id, count in session.execute(statement) if link_id}


def taken_slots(
    session: Session, study_id: int, tools: Sequence[Tool], rounds: int, *, since: datetime
) -> dict[int, int]:
    """Return how many combinations of tool and round people have of each query of a study.

    Those of workers without an answer since ``since`` are free.
    """
    crowd = select(CrowdWorker.user_id).where(CrowdWorker.study_id == study_id)
    left = Assignment.user_id.in_(crowd) & Assignment.finished_at.is_(None) & _idle(since)
    slots = (
        select(Assignment.query_id, Assignment.tool, Assignment.round)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id, by_people(), Assignment.withdrawn_at.is_(None), ~left)
        .where(Assignment.tool.in_(tools), Assignment.round < rounds)
        .distinct()
        .subquery()
    )
    statement = select(slots.c.query_id, func.count()).group_by(slots.c.query_id)
    return {row[0]: row[1] for row in session.execute(statement)}


def idle_work(session: Session, study_id: int, since: datetime) -> Sequence[int]:
    """Return the unfinished assignments of workers without an answer since ``since``."""
    statement = (
        select(Assignment.id)
        .join(CrowdWorker, CrowdWorker.user_id == Assignment.user_id)
        .where(CrowdWorker.study_id == study_id, *_open(), _idle(since))
    )
    return session.scalars(statement.order_by(Assignment.id)).all()


def unfinished_work(session: Session, user_id: int) -> Sequence[int]:
    """Return the person's unfinished assignments."""
    statement = select(Assignment.id).where(Assignment.user_id == user_id, *_open())
    return session.scalars(statement.order_by(Assignment.id)).all()


def _open() -> tuple[ColumnElement[bool], ...]:
    return Assignment.withdrawn_at.is_(None), Assignment.finished_at.is_(None)


def _idle(since: datetime) -> ColumnElement[bool]:
    """Return whether the person of an assignment has answered nothing since ``since``."""
    other = aliased(Assignment)
    recent = func.coalesce(other.last_entry_at, other.created_at) >= since
    return ~select(other.id).where(other.user_id == Assignment.user_id, recent).exists()


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
