"""Gaps: promised work that nobody has, because it was withdrawn, voided or never assigned."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments.assignments import WorkRow
from topkapi.app.domain.assignment.growth import NobodyFree
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.assignments import manual_assignment, rotation
from topkapi.app.services.assignments.rotation import RotationPlan
from topkapi.app.services.assignments.steps import Spec
from topkapi.app.services.heads import PersonHead
from topkapi.app.services.promise import promised_rounds, tool_groups


@dataclass(frozen=True, slots=True)
class Gap:
    """A query that lacks an assessor, and the person who would take over, if anybody is free.

    ``lost`` is whose work was withdrawn or voided; empty if the slot was never assigned. ``is_new``
    if nobody has met the query.
    """

    query: str
    tool: Tool
    round: int
    lost: str
    taker: PersonHead | None
    is_new: bool = False

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
    plans = [
        rotation.plan_rotation(session, study, user_ids, lists=lists, strict=False)
        for lists in _rotations(session, study)
    ]
    refusals = [refusal for plan in plans if (refusal := shortage(session, plan))]
    return Filling(
        [gap for plan in plans for gap in gaps_of(session, study, plan)],
        [work for plan in plans for work in plan.added],
        " ".join(refusals) or None,
    )


def fill_gaps(
    session: Session, study: Study, user_ids: Sequence[int], *, actor_id: int | None = None
) -> list[Assignment]:
    """Assign every gap that one of these people can take."""
    planned = plan_filling(session, study, user_ids)
    if not planned.work:
        raise Invalid(planned.refusal or "There are no gaps to fill.", field="people")
    return [
        row
        for lists in _rotations(session, study)
        for row in rotation.assign_rotation(
            session, study, user_ids, lists=lists, strict=False, actor_id=actor_id
        )
    ]


def _rotations(session: Session, study: Study) -> list[bool]:
    """Return the rotations with assignments: that of the tools under the rule, and of `lists`."""
    promised = promised_rounds(session, study)
    groups = tool_groups(study)
    return [number > 0 for number, group in enumerate(groups) if promised.keys() & {*group}]


def gaps_of(session: Session, study: Study, plan: RotationPlan) -> list[Gap]:
    """Return what is missing by names, in the order of queries, and who would take it over."""
    lost: dict[tuple[int, Tool, int], WorkRow] = {}
    for row in sorted(queries.assignments_of_study(session, study.id), key=_withdrawn_at):
        lost[row.query_id, row.tool, row.round] = row
    takers = {(each.query, each.tool, each.round): each.assessor for each in plan.added}
    names = {query.id: query.external_id for query in queries.queries_of_study(session, study.id)}
    order = {number: position for position, number in enumerate(names)}
    people = queries.users_by_id(
        session, {*takers.values(), *(lost[slot].user_id for slot in plan.missing if slot in lost)}
    )
    return [
        Gap(
            query=names[slot[0]],
            tool=slot[1],
            round=slot[2],
            lost=people[lost[slot].user_id].name if slot in lost else "",
            taker=PersonHead.of(people[takers[slot]]) if slot in takers else None,
            is_new=slot[0] in plan.fresh,
        )
        for slot in sorted(plan.missing, key=lambda slot: (order[slot[0]], slot[1], slot[2]))
    ]


def shortage(session: Session, plan: RotationPlan) -> str | None:
    """Return why some of the missing work stays open."""
    short = plan.short
    if isinstance(short, NobodyFree):
        short = manual_assignment.shortage(session, short)
    return str(short) if short else None


def _withdrawn_at(row: WorkRow) -> tuple[str, int]:
    return row.withdrawn_at.isoformat() if row.withdrawn_at else "", row.id
