"""Bulk changes of work: reassign many at once, to one person or to the people who are free."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments import manual_assignment as named
from topkapi.app.domain.assignment.growth import NobodyFree, fill
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.accounts.users import user_of_email
from topkapi.app.services.assignments import manual_assignment, rotation
from topkapi.app.services.assignments.steps import existing_work


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
    for tools in rotation.tool_groups(study):
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
