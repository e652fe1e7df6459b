"""Bulk changes of work: reassign, withdraw or void many at once, and give them back.

Void work is kept and marked, and leaves consensus, report and exports. It counts as withdrawn
everywhere, so its query shows a gap that somebody else can fill.
"""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Query, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments import manual_assignment as named
from topkapi.app.domain.assignment.growth import NobodyFree, fill
from topkapi.app.domain.assignment.rotation import RuleBroken
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services.accounts.users import user_of_email
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments.steps import existing_work, spec_of
from topkapi.app.services.judging.lists import work as list_work
from topkapi.app.services.judging.teams import lock_teams, reopen_teams
from topkapi.app.services.promise import tool_groups

LONGEST_REASON = 500


def withdraw(
    session: Session, study: Study, assignment_ids: Sequence[int], *, actor_id: int | None = None
) -> list[Assignment]:
    """Withdraw unfinished assignments, all or none."""
    _refuse_nothing(assignment_ids)
    return manual_assignment.withdraw_many(session, study, assignment_ids, actor_id=actor_id)


def reassign(
    session: Session,
    study: Study,
    assignment_ids: Sequence[int],
    email: str = "",
    *,
    actor_id: int | None = None,
) -> list[Assignment]:
    """Hand unfinished assignments over, all or none.

    They go to ``email``, or without one evenly to the people of the study who may take them.
    """
    _refuse_nothing(assignment_ids)
    if email.strip():
        taker = user_of_email(session, email)
        pairs = [(number, taker.id) for number in assignment_ids]
    else:
        pairs = _evenly(session, study, assignment_ids)
    return manual_assignment.hand_over(session, study, pairs, actor_id=actor_id)


def _evenly(session: Session, study: Study, assignment_ids: Sequence[int]) -> list[tuple[int, int]]:
    rows = named.assignments_of_ids(session, study.id, assignment_ids)
    leaving = {row.user_id for row in rows}
    workers = [
        user.id
        for user, _ in named.workers(session, study.id)
        if user.id not in leaving and user.disabled_at is None
    ]
    work = queries.assignments_of_study(session, study.id)
    pairs: list[tuple[int, int]] = []
    for tools in tool_groups(study):
        slots = {(row.query_id, row.tool, row.round): row.id for row in rows if row.tool in tools}
        try:
            filled = fill(list(slots), workers, existing_work(work, tools).met)
        except NobodyFree as short:
            raise manual_assignment.explained(session, study, short) from short
        pairs += [(slots[each.query, each.tool, each.round], each.assessor) for each in filled]
    return pairs


def _refuse_nothing(assignment_ids: Sequence[int]) -> None:
    if not assignment_ids:
        raise Invalid("Select at least one assignment.", field="ids")


def void(
    session: Session,
    study: Study,
    assignment_ids: Sequence[int],
    *,
    reason: str,
    actor_id: int | None = None,
) -> list[Assignment]:
    """Void finished assignments, all or none; ``reason`` goes to the audit log."""
    reason = " ".join(reason.split())
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise Invalid(
            f"Enter a reason of 1 to {LONGEST_REASON} characters; it is kept in the audit log.",
            field="reason",
        )
    teams = lock_teams(session, assignment_ids)
    rows = _rows(session, study, assignment_ids)
    for row in rows:
        if row.finished_at is None or row.withdrawn_at is not None:
            raise Conflict(
                f"{row.query.external_id} of {row.user.name} is not finished; withdraw it instead."
            )
    for row in rows:
        row.voided_at = row.withdrawn_at = now()
    manual_assignment.record(session, study, "assignment.void", rows, actor_id, reason=reason)
    session.flush()
    reopen_teams(session, teams)
    return rows


def restore(
    session: Session,
    study: Study,
    assignment_ids: Sequence[int],
    *,
    actor_id: int | None = None,
) -> list[Assignment]:
    """Give void or withdrawn assignments back, all or none; refuse if somebody took them over."""
    teams = lock_teams(session, assignment_ids)
    rows = _rows(session, study, assignment_ids)
    acts = {
        "assignment.restore": [row for row in rows if row.voided_at is None],
        "assignment.unvoid": [row for row in rows if row.voided_at is not None],
    }
    try:
        for row in rows:
            if row.withdrawn_at is None:
                raise Conflict(
                    f"{row.query.external_id} of {row.user.name} is not void or withdrawn."
                )
            manual_assignment.refuse_restoring(session, study, spec_of(row))
            list_work.refuse_restoring(session, row)
            row.voided_at = row.withdrawn_at = None
            session.flush()
        for action, changed in acts.items():
            manual_assignment.record(session, study, action, changed, actor_id)
        reopen_teams(session, teams)
    except RuleBroken as broken:
        advice = "Withdraw or void that work first."
        raise manual_assignment.explained(session, study, broken, advice=advice) from broken
    return rows


def _rows(session: Session, study: Study, assignment_ids: Sequence[int]) -> list[Assignment]:
    rows = list(named.assignments_of_ids(session, study.id, assignment_ids))
    _refuse_nothing(assignment_ids)
    if len(rows) != len(set(assignment_ids)):
        missing = sorted(set(assignment_ids) - {row.id for row in rows})
        raise NotFound(f"There is no assignment {missing[0]} in {study.slug!r}.")
    return rows


def withdrawn_with(session: Session, study_id: int, assignment_id: int) -> Sequence[int]:
    """Return the assignments that were withdrawn together with one, and not voided."""
    at = select(Assignment.withdrawn_at).where(Assignment.id == assignment_id).scalar_subquery()
    statement = (
        select(Assignment.id)
        .join(Assignment.query)
        .where(
            Query.study_id == study_id,
            Assignment.withdrawn_at == at,
            Assignment.voided_at.is_(None),
        )
    )
    return session.scalars(statement.order_by(Assignment.id)).all()
