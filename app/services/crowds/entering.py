"""Entering a study through a link: an account without password, for one worker and one study.

A worker id is no secret. A platform that also names the submission (Prolific's ``SESSION_ID``,
MTurk's ``assignmentId``) tells who returns: another submission id for a known worker is refused,
unless the browser is known. Without it, anybody who knows a worker id can continue that worker's
judging, and nothing else: the account is an assessor of this study only.
"""

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, CrowdWorker, EntryLink, Query, Study, User
from topkapi.app.db.queries.assignments import assignments as assigned
from topkapi.app.db.queries.machines import by_people
from topkapi.app.db.queries.studies.studies import hold_settings
from topkapi.app.domain import addresses
from topkapi.app.domain.assignment.rotation import AssignmentSpec
from topkapi.app.domain.crowds import Arrival, Platform, next_work
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.errors import Forbidden, StudyFull
from topkapi.app.services import audit
from topkapi.app.services.accounts.tokens import hash_token
from topkapi.app.services.assignments import rotation
from topkapi.app.services.assignments.manual_assignment import withdraw_many
from topkapi.app.services.assignments.steps import Spec

IDLE = timedelta(hours=24)  # without an answer, until somebody else may take the place
_FULL = "Nothing was stored. Please return your submission on the platform's page."
_OTHER_SESSION = (
    "This worker id is already in use in another browser, with another submission. Open the link "
    "in the browser where you started, or ask the people who run the study."
)


@dataclass(frozen=True, slots=True)
class Entered:
    """The account of a worker, and whether it was made just now."""

    user: User
    is_new: bool


def enter(
    session: Session, link: EntryLink, study: Study, arrival: Arrival, *, devices: tuple[int, ...]
) -> Entered:
    """Return the account of a worker who agreed; create it with its work at the first time.

    ``devices`` are the people who have signed in with this browser.
    """
    known = _worker_of(session, study.id, link.platform, arrival.worker)
    if known is None:
        hold_settings(session, study, to_change=True)  # the next worker waits for these slots
        known = _worker_of(session, study.id, link.platform, arrival.worker)
    if known is not None:
        return _again(session, link, study, known, arrival, devices)
    _refuse_full(session, link, study)
    user = _new_user(session)
    if _has_enough(session, link):
        _release_idle(session, study)
    work = _next_work(session, link, study, user)
    if not work:
        _release_idle(session, study)
        work = _next_work(session, link, study, user)
    if not work:
        raise StudyFull(_FULL)
    session.add(
        CrowdWorker(
            user_id=user.id,
            study_id=study.id,
            link_id=link.id,
            platform=link.platform,
            worker_id=arrival.worker,
            platform_study=arrival.study,
            session_hash=hash_token(arrival.session) if arrival.session else None,
            consented_at=now(),
        )
    )
    session.flush()
    _record(session, study, "crowd.enter", link, user)
    rotation.assign(session, study, work, actor_id=user.id)
    return Entered(user, True)


def _again(
    session: Session,
    link: EntryLink,
    study: Study,
    worker: CrowdWorker,
    arrival: Arrival,
    devices: tuple[int, ...],
) -> Entered:
    """Let a known worker in; a new link means a new consent."""
    if worker.user_id not in devices and not _same_submission(worker, arrival):
        _refuse_full(
            session, link, study
        )  # as for a stranger: the answer tells nothing about a worker
        raise Forbidden(_OTHER_SESSION)
    if worker.link_id != link.id:
        worker.link_id, worker.consented_at = link.id, now()
        _record(session, study, "crowd.consent", link, worker.user)
    return Entered(worker.user, False)


def _same_submission(worker: CrowdWorker, arrival: Arrival) -> bool:
    kept = worker.session_hash
    return kept is None or hmac.compare_digest(kept, hash_token(arrival.session))


def is_full(session: Session, link: EntryLink, study: Study) -> bool:
    """Return whether the link takes nobody new: it is closed, or has enough people or no work."""
    enough = link.closed_at is not None or _has_enough(session, link, since=now() - IDLE)
    return enough or not people_needed(session, link, study)


def people_needed(session: Session, link: EntryLink, study: Study) -> int:
    """Return how many further people the work of a link needs at least.

    Everybody gets each query once; the work of people who left is free.
    """
    tools = rotation.rotated_tools(study)
    taken = _taken_slots(session, study.id, tools, link.rounds, since=now() - IDLE)
    every = assigned.queries_of_study(session, study.id)
    free = [link.rounds * len(tools) - taken.get(query.id, 0) for query in every]
    return max(-(-sum(free) // link.share), *free) if free else 0


def _refuse_full(session: Session, link: EntryLink, study: Study) -> None:
    if is_full(session, link, study):
        raise StudyFull(_FULL)


def _has_enough(session: Session, link: EntryLink, since: datetime | None = None) -> bool:
    people = people_of_links(session, link.study_id or 0, since=since).get(link.id, 0)
    return link.most_people is not None and people >= link.most_people


def _release_idle(session: Session, study: Study) -> None:
    """Withdraw the work of people who left: somebody else needs their place."""
    withdraw_many(session, study, _idle_work(session, study.id, now() - IDLE))


def _new_user(session: Session) -> User:
    """Create an account with a pseudonym and without a password: nobody can sign in with it."""
    name = secrets.token_hex(6)
    user = User(
        email=f"worker-{name}@{addresses.CROWD}", name=f"Worker {name[:6]}", role=Role.ASSESSOR
    )
    session.add(user)
    session.flush()
    return user


def _next_work(session: Session, link: EntryLink, study: Study, user: User) -> list[Spec]:
    tools = rotation.rotated_tools(study)
    rows = assigned.assignments_of_study(session, study.id)
    slots = next_work(
        [query.id for query in assigned.queries_of_study(session, study.id)],
        tools,
        rounds=link.rounds,
        taken={(row.query_id, row.tool, row.round) for row in rows if row.withdrawn_at is None},
        met=set(),
        count=link.share,
        seed=study.slug,
    )
    return [AssignmentSpec(user.id, query, tool, number) for query, tool, number in slots]


def _record(session: Session, study: Study, action: str, link: EntryLink, user: User) -> None:
    """Record the consent; the worker id stays out of the audit log."""
    audit.record(
        session,
        user.id,
        action,
        user.email,
        study=study.slug,
        link=link.id,
        platform=link.platform.value,
        consent=link.consent_digest[:12],
    )


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


def _taken_slots(
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


def _idle_work(session: Session, study_id: int, since: datetime) -> Sequence[int]:
    """Return the unfinished assignments of workers without an answer since ``since``."""
    statement = (
        select(Assignment.id)
        .join(CrowdWorker, CrowdWorker.user_id == Assignment.user_id)
        .where(CrowdWorker.study_id == study_id, *_open(), _idle(since))
    )
    return session.scalars(statement.order_by(Assignment.id)).all()


def _open() -> tuple[ColumnElement[bool], ...]:
    return Assignment.withdrawn_at.is_(None), Assignment.finished_at.is_(None)


def _idle(since: datetime) -> ColumnElement[bool]:
    """Return whether the person of an assignment has answered nothing since ``since``."""
    other = aliased(Assignment)
    recent = func.coalesce(other.last_entry_at, other.created_at) >= since
    return ~select(other.id).where(other.user_id == Assignment.user_id, recent).exists()


def _worker_of(
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


def is_worker(session: Session, link: EntryLink, arrival: Arrival, user_id: int) -> bool:
    """Return whether a person is the worker who arrives."""
    known = _worker_of(session, link.study_id or 0, link.platform, arrival.worker)
    return known is not None and known.user_id == user_id


def open_work(session: Session, user_id: int) -> int | None:
    """Return the id of the person's first unfinished assignment."""
    statement = (
        select(Assignment.id)
        .where(Assignment.user_id == user_id, *_open())
        .order_by(Assignment.last_entry_at.is_(None), Assignment.id)
    )
    return session.scalar(statement.limit(1))
