"""Manual assignment by names of people and queries: assign, withdraw, reassign.

All assignments are made by the rotation module; refusals name people, queries and the reason.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager

from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Query, Study, User
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.assignments import manual_assignment as named
from topkapi.app.domain.assignment.growth import NobodyFree
from topkapi.app.domain.assignment.rotation import (
    ADJUDICATION,
    AssignmentSpec,
    RuleBroken,
    refuse_breach,
)
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid, NotFound
from topkapi.app.services import audit
from topkapi.app.services.accounts.users import user_of_email
from topkapi.app.services.assignments import rotation
from topkapi.app.services.assignments.steps import Spec, described, kind_of, spec_of
from topkapi.app.services.judging.lists import work as list_work
from topkapi.app.services.judging.teams import lock_teams, reopen_teams
from topkapi.app.services.promise import tools_under_rule

_NAMES = 3  # of available people in a message


@contextmanager
def explaining(session: Session, study: Study) -> Iterator[None]:
    """Let refusals of the rotation name people and queries."""
    try:
        yield
    except (RuleBroken, NobodyFree) as refusal:
        raise explained(session, study, refusal) from refusal


def last_rotation(study: Study, *, lists: bool = False) -> tuple[list[int], str]:
    """Return people in their order and the seed of the latest rotation; nobody without one."""
    latest = (study.rotations or {}).get(kind_of(lists))
    return (list(latest["people"]), str(latest["seed"])) if latest else ([], "")


def assign_one(
    session: Session,
    study: Study,
    *,
    email: str,
    query: str,
    tool: Tool,
    round_number: int,
    actor_id: int | None = None,
) -> Assignment:
    """Assign one query to one person."""
    user = user_of_email(session, email)
    asked = query_of_name(session, study, query)
    work = AssignmentSpec(user.id, asked.id, tool, round_number - 1)
    return give(session, study, [work], actor_id=actor_id)[0]


def give(
    session: Session,
    study: Study,
    wanted: Sequence[Spec],
    *,
    actor_id: int | None = None,
    leaving: int | None = None,
) -> list[Assignment]:
    """Make assignments; a withdrawn assignment with the same spec is restored with its log.

    ``leaving`` is the person from whom the work is taken, if any.
    """
    try:
        settings = study.settings
        rotation.refuse_unknown(session, study, settings, wanted)
        again = _withdrawn(session, study, wanted)
        fresh = [work for work in wanted if work not in again]
        for work, row in again.items():
            if row.voided_at is not None:
                raise Conflict(
                    f"{row.query.external_id} of {row.user.name} was voided. Restore it on the "
                    "Assignments page."
                )
            refuse_restoring(session, study, work)
            list_work.refuse_restoring(session, row)
            row.withdrawn_at = None
        record(session, study, "assignment.restore", list(again.values()), actor_id)
        session.flush()
        reopen_teams(session, lock_teams(session, [row.id for row in again.values()]))
        made = rotation.assign(session, study, fresh, actor_id=actor_id) if fresh else []
    except RuleBroken as broken:
        raise explained(session, study, broken, leaving=leaving) from broken
    return [*again.values(), *made]


def withdraw(
    session: Session, study: Study, assignment_id: int, *, actor_id: int | None = None
) -> Assignment:
    """Withdraw an unfinished assignment; its log is kept."""
    return withdraw_many(session, study, [assignment_id], actor_id=actor_id)[0]


def withdraw_many(
    session: Session,
    study: Study,
    assignment_ids: Sequence[int],
    *,
    actor_id: int | None = None,
) -> list[Assignment]:
    """Withdraw unfinished assignments, all or none; their logs are kept."""
    teams = lock_teams(session, assignment_ids)
    by_id = {row.id: row for row in named.assignments_of_ids(session, study.id, assignment_ids)}
    for number in assignment_ids:
        _refuse_withdrawing(study, number, by_id.get(number))
    at, rows = now(), [row for row in by_id.values() if row.withdrawn_at is None]
    for row in rows:
        row.withdrawn_at = at
    record(session, study, "assignment.withdraw", rows, actor_id)
    session.flush()
    reopen_teams(session, teams)
    return [by_id[number] for number in assignment_ids]


def _refuse_withdrawing(study: Study, number: int, row: Assignment | None) -> None:
    if row is None:
        raise NotFound(f"There is no assignment {number} in {study.slug!r}.")
    if row.finished_at is not None:
        raise Conflict(
            f"{row.user.name} has finished {row.query.external_id}; "
            "finished work cannot be withdrawn. Void it instead."
        )


def hand_over(
    session: Session,
    study: Study,
    pairs: Sequence[tuple[int, int]],
    *,
    actor_id: int | None = None,
) -> list[Assignment]:
    """Withdraw unfinished assignments and assign each to its new person, all or none."""
    rows = withdraw_many(session, study, [number for number, _ in pairs], actor_id=actor_id)
    if any(row.round == ADJUDICATION for row in rows):
        raise Conflict(
            "An adjudication cannot be reassigned. Withdraw it, then assign it to another person "
            "on the Adjudication page."
        )
    wanted = [
        AssignmentSpec(taker, row.query_id, row.tool, row.round)
        for row, (_, taker) in zip(rows, pairs, strict=True)
    ]
    leaving = {row.user_id for row in rows}
    only = leaving.pop() if len(leaving) == 1 else None
    return give(session, study, wanted, actor_id=actor_id, leaving=only)


def record(
    session: Session,
    study: Study,
    action: str,
    rows: Sequence[Assignment],
    actor_id: int | None,
    **more: object,
) -> None:
    """Record one action on assignments, with their people and queries; nothing without any."""
    if not rows:
        return
    found = described(
        [(row.query.external_id, row.tool, row.round, row.user.email) for row in rows]
    )
    answered = sum(row.answered for row in rows)
    audit.record(session, actor_id, action, study.slug, **found, answered=answered, **more)


def reassign(
    session: Session, study: Study, assignment_id: int, email: str, *, actor_id: int | None = None
) -> Assignment:
    """Withdraw an unfinished assignment and assign it to someone else, or do neither."""
    new_user = user_of_email(session, email)
    for row in named.assignments_of_ids(session, study.id, [assignment_id]):
        if row.user_id == new_user.id and row.withdrawn_at is None:
            raise Invalid(f"{new_user.name} already has this assignment.", field="email")
    return hand_over(session, study, [(assignment_id, new_user.id)], actor_id=actor_id)[0]


def query_of_name(session: Session, study: Study, name: str) -> Query:
    """Return the study's query with this external id, or raise `NotFound`."""
    wanted = name.strip()
    mine = select(Query).where(Query.study_id == study.id, Query.external_id == wanted)
    query = session.scalar(mine)
    if query is None:
        raise NotFound(f"There is no query {wanted!r} in {study.slug!r}.")
    return query


def free_for(session: Session, study: Study, work: Spec) -> list[User]:
    """Return the active assessors, by name, who could take ``work`` without breaking the rule."""
    taken = rotation.taken_work(session, study)[work.query]
    ruled = tools_under_rule(study)

    def fits(user: User) -> bool:
        try:
            refuse_breach(AssignmentSpec(user.id, work.query, work.tool, work.round), taken, ruled)
        except RuleBroken:
            return False
        return True

    return [user for user in named.active_assessors(session) if fits(user)]


def explained(
    session: Session,
    study: Study,
    refusal: RuleBroken | NobodyFree,
    *,
    leaving: int | None = None,
    advice: str = "Use another round.",
) -> RuleBroken | Invalid:
    """Return the same refusal with names, and with the people who could take the work.

    ``leaving`` is the person from whom the work is taken: they are not named. ``advice`` says what
    to do where somebody else judges the query.
    """
    if isinstance(refusal, NobodyFree):
        return shortage(session, refusal)
    if refusal.share is None or refusal.other is None:
        return refusal
    share, other = refusal.share, refusal.other
    people = queries.users_by_id(session, (share.assessor, other.assessor))
    query = session.get_one(Query, share.query).external_id
    name, when = people[share.assessor].name, f"in round {other.round + 1}"
    if other.assessor != share.assessor:
        message = (
            f"{people[other.assessor].name} already judges {query} by {share.tool} {when}. {advice}"
        )
    else:
        before = "has begun" if other.round < 0 else "already judges"
        ending = "; that work was withdrawn" if other.round < 0 else f" {when}"
        message = f"{name} {before} {query} by {other.tool}{ending}"
        if other.tool is not share.tool:
            message += ", and one person cannot judge a query with two tools"
        message += "."
        free = [user for user in free_for(session, study, share) if user.id != leaving]
        message += _who_is_free(free)
    return RuleBroken(message, share=share, other=other)


def shortage(session: Session, short: NobodyFree) -> Invalid:
    """Return the refusal with the query's name, and what to do."""
    query = session.get_one(Query, short.query).external_id
    needs = "1 more assessor" if short.missing == 1 else f"{short.missing} more assessors"
    free = {0: "no selected person is", 1: "only 1 of the selected people is"}.get(
        short.free, f"only {short.free} of the selected people are"
    )
    return Invalid(
        f"{query} needs {needs}, and {free} free: all others already judge it or had it "
        f"withdrawn. Select at least {short.missing - short.free} more, or lower the rounds.",
        field="assessors",
    )


def _who_is_free(people: Sequence[User]) -> str:
    if not people:
        return " No one else can take it."
    if len(people) == 1:
        return f" Only {people[0].name} can take it."
    more = f" and {len(people) - _NAMES} more" if len(people) > _NAMES else ""
    return f" These people can take it: {', '.join(user.name for user in people[:_NAMES])}{more}."


def refuse_restoring(session: Session, study: Study, work: Spec) -> None:
    """Check a restored assignment against all others, but not against its own withdrawn row."""
    taken = rotation.taken_work(session, study)[work.query]
    own = (work.assessor, work.tool)
    others = [other for other in taken if (other.assessor, other.tool) != own or other.round >= 0]
    refuse_breach(work, others, tools_under_rule(study))


def _withdrawn(session: Session, study: Study, wanted: Sequence[Spec]) -> dict[Spec, Assignment]:
    """Return which of these assignments were withdrawn from the same people."""
    statement = (
        select(Assignment)
        .join(Assignment.query)
        .join(Assignment.user)
        .options(contains_eager(Assignment.query), contains_eager(Assignment.user))
        .where(
            Query.study_id == study.id,
            Assignment.user_id.in_({work.assessor for work in wanted}),
            Assignment.withdrawn_at.is_not(None),
        )
    )
    found = {spec_of(row): row for row in session.scalars(statement)}
    return {work: found[work] for work in wanted if work in found}
