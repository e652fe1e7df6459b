"""Rebalancing of unfinished work: a plan to look at, and its execution when it is confirmed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments.assignments import WorkRow
from topkapi.app.domain.assignment.growth import rebalance
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.services import audit
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments.steps import existing_work, spec_of
from topkapi.app.services.heads import PersonHead
from topkapi.app.services.promise import tool_groups


@dataclass(frozen=True, slots=True)
class Shift:
    """An assignment that nobody has begun, and who takes it over from whom."""

    assignment_id: int
    query: str
    tool: Tool
    round: int
    giver: PersonHead
    taker: PersonHead


@dataclass(frozen=True, slots=True)
class Load:
    """Unfinished assignments of a person, before and after."""

    person: PersonHead
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Rebalancing:
    """The moves, the loads, and a digest that changes with the plan."""

    shifts: Sequence[Shift]
    loads: Sequence[Load]
    digest: str


def plan_rebalancing(session: Session, study: Study, user_ids: Sequence[int]) -> Rebalancing:
    """Return the moves that even out the unfinished work of these people; nothing is written."""
    rows = queries.assignments_of_study(session, study.id)
    users = queries.users_by_id(session, user_ids)
    people = {number: PersonHead.of(user) for number, user in users.items()}
    names = {query.id: query.external_id for query in queries.queries_of_study(session, study.id)}
    unfinished = [
        row
        for row in rows
        if row.withdrawn_at is None and row.finished_at is None and row.round >= 0
    ]
    shifts: list[Shift] = []
    for tools in tool_groups(study):
        met = existing_work(rows, tools).met
        mine = {spec_of(row): row for row in unfinished if row.tool in tools}
        waiting = [spec for spec, row in mine.items() if row.last_entry_at is None]
        begun = Counter(spec.assessor for spec, row in mine.items() if row.last_entry_at)
        for move in rebalance(waiting, list(user_ids), met, begun):
            work, giver, taker = move.work, people[move.work.assessor], people[move.taker]
            name = names[work.query]
            shifts.append(Shift(mine[work].id, name, work.tool, work.round, giver, taker))
    return Rebalancing(shifts, _loads(people, unfinished, shifts), _digest(shifts))


def apply_rebalancing(
    session: Session,
    study: Study,
    user_ids: Sequence[int],
    *,
    digest: str,
    actor_id: int | None = None,
) -> list[Assignment]:
    """Execute the plan that was confirmed; refuse if it has changed since."""
    plan = plan_rebalancing(session, study, user_ids)
    if plan.digest != digest:
        raise Conflict(
            "Work has been started, finished or assigned since this plan was made. Nothing was "
            "moved; look at the new plan and confirm it."
        )
    pairs = [(shift.assignment_id, shift.taker.id) for shift in plan.shifts]
    made = manual_assignment.hand_over(session, study, pairs, actor_id=actor_id)
    audit.record(session, actor_id, "study.rebalance", study.slug, assignments=len(made))
    return made


def _loads(
    people: dict[int, PersonHead], unfinished: Sequence[WorkRow], shifts: Sequence[Shift]
) -> list[Load]:
    before = Counter(row.user_id for row in unfinished)
    change = Counter(shift.taker.id for shift in shifts)
    change.subtract(Counter(shift.giver.id for shift in shifts))
    ordered = sorted(people.values(), key=lambda user: (user.name, user.id))
    return [Load(user, before[user.id], before[user.id] + change[user.id]) for user in ordered]


def _digest(shifts: Sequence[Shift]) -> str:
    text = ",".join(f"{shift.assignment_id}>{shift.taker.id}" for shift in shifts)
    return blake2b(text.encode(), digest_size=8).hexdigest()
