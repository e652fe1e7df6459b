"""Voiding finished work: it is kept and marked, and leaves consensus, report and exports.

Void work counts as withdrawn everywhere, so its query shows a gap that somebody else can fill.
"""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments import manual_assignment as named
from topkapi.app.domain.assignment.rotation import RuleBroken
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments.steps import spec_of
from topkapi.app.services.judging.lists import work as list_work
from topkapi.app.services.judging.teams import lock_teams, reopen_teams

LONGEST_REASON = 500


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
        manual_assignment.record(session, study, "assignment.void", row, actor_id, reason=reason)
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
    try:
        for row in rows:
            if row.withdrawn_at is None:
                raise Conflict(
                    f"{row.query.external_id} of {row.user.name} is not void or withdrawn."
                )
            action = "assignment.restore" if row.voided_at is None else "assignment.unvoid"
            manual_assignment.refuse_restoring(session, study, spec_of(row))
            list_work.refuse_restoring(session, row)
            row.voided_at = row.withdrawn_at = None
            manual_assignment.record(session, study, action, row, actor_id)
            session.flush()
        reopen_teams(session, teams)
    except RuleBroken as broken:
        advice = "Withdraw or void that work first."
        raise manual_assignment.explained(session, study, broken, advice=advice) from broken
    return rows


def _rows(session: Session, study: Study, assignment_ids: Sequence[int]) -> list[Assignment]:
    found = list(named.assignments_of_ids(session, study.id, assignment_ids))
    if not assignment_ids:
        raise Invalid("Select at least one assignment.", field="ids")
    if len(found) != len(set(assignment_ids)):
        missing = sorted(set(assignment_ids) - {row.id for row in found})
        raise NotFound(f"There is no assignment {missing[0]} in {study.slug!r}.")
    return found
