"""Gaps: work that was withdrawn and that nobody has taken over, and who could take it."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Query, Study, User
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments.assignments import WorkRow
from topkapi.app.domain.assignment.growth import NobodyFree, fill
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.assignments import manual_assignment, rotation
from topkapi.app.services.assignments.steps import Spec, existing_work
from topkapi.app.services.heads import PersonHead


@dataclass(frozen=True, slots=True)
class Gap:
    """A query that lost an assessor, and the person who would take over, if anybody is free."""

    query: str
    tool: Tool
    round: int
    lost: str
    taker: PersonHead | None

    @property
    def round_number(self) -> int:
        """The round, counted from 1."""
        return self.round + 1


@dataclass(frozen=True, slots=True)
class Filling:
    """All gaps of a study, the assignments that fill them, and why some stay open."""

    gaps: Sequence[Gap]
    work: Sequence[Spec]
    refusal: str | None = None


def plan_filling(session: Session, study: Study, user_ids: Sequence[int]) -> Filling:
    """Return the gaps, and who of these people would take them over; nothing is written."""
    rows = queries.assignments_of_study(session, study.id)
    lost = _lost(rows)
    people = queries.users_by_id(session, {*user_ids, *(row.user_id for row in lost)})
    names = {query.id: query for query in queries.queries_of_study(session, study.id)}
    work: list[Spec] = []
    refusals = []
    for tools in rotation.tool_groups(study):
        slots = [(row.query_id, row.tool, row.round) for row in lost if row.tool in tools]
        filled, refusal = _filled(session, slots, user_ids, rows, tools)
        work += filled
        refusals += [refusal] if refusal else []
    takers = {
        (each.query, each.tool, each.round): PersonHead.of(people[each.assessor]) for each in work
    }
    gaps = [_gap(row, names[row.query_id], people, takers) for row in lost]
    return Filling(gaps, work, " ".join(refusals) or None)


def fill_gaps(
    session: Session, study: Study, user_ids: Sequence[int], *, actor_id: int | None = None
) -> list[Assignment]:
    """Assign every gap that one of these people can take."""
    planned = plan_filling(session, study, user_ids)
    if not planned.work:
        raise Invalid(planned.refusal or "There are no gaps to fill.", field="people")
    return manual_assignment.give(session, study, planned.work, actor_id=actor_id)


def _lost(rows: Sequence[WorkRow]) -> list[WorkRow]:
    """Return one withdrawn assignment for each slot that nobody has now, the latest.

    A withdrawn adjudication leaves no gap: the query is on the page Adjudication again.
    """
    rows = [row for row in rows if row.round >= 0]
    held = {(row.query_id, row.tool, row.round) for row in rows if row.withdrawn_at is None}
    latest: dict[tuple[int, Tool, int], WorkRow] = {}
    for row in sorted((row for row in rows if row.withdrawn_at), key=_withdrawn_at):
        slot = row.query_id, row.tool, row.round
        if slot not in held:
            latest[slot] = row
    return sorted(latest.values(), key=lambda row: (row.query_id, row.tool, row.round))


def _withdrawn_at(row: WorkRow) -> tuple[str, int]:
    return row.withdrawn_at.isoformat() if row.withdrawn_at else "", row.id


def _filled(
    session: Session,
    slots: Sequence[tuple[int, Tool, int]],
    user_ids: Sequence[int],
    rows: Sequence[WorkRow],
    tools: Sequence[Tool],
) -> tuple[list[Spec], str | None]:
    """Fill the slots; a query for which too few people are free stays open."""
    met = existing_work(rows, tools).met
    refusal = None
    left = list(slots)
    while left:
        try:
            return fill(left, user_ids, met), refusal
        except NobodyFree as short:
            refusal = refusal or str(manual_assignment.shortage(session, short))
            left = [slot for slot in left if slot[0] != short.query]
    return [], refusal


def _gap(
    row: WorkRow,
    query: Query,
    people: dict[int, User],
    takers: dict[tuple[int, Tool, int], PersonHead],
) -> Gap:
    slot = row.query_id, row.tool, row.round
    return Gap(query.external_id, row.tool, row.round, people[row.user_id].name, takers.get(slot))
