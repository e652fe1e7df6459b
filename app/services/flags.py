"""Flags: an assessor marks a question for the administrators; the log does not change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session, contains_eager, defer, joinedload

from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Flag, Query, Study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid, NotFound
from topkapi.app.domain.lists.plan import ListPlan, hidden_name
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.services import audit
from topkapi.app.services.judging.labeling import assignment_state
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState

MAX_REASON = 2000


@dataclass(frozen=True, slots=True)
class FlagReport:
    """What an assessor reports: the reason, and the question as it was displayed.

    Without a ``position`` the flag is about the question that is open now.
    """

    reason: str
    position: int | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlagRecord:
    """A flag as its author sees it."""

    id: int
    position: int
    shown: list[str]
    reason: str
    reply: str
    created_at: datetime
    state: Literal["open", "handled"]


@dataclass(frozen=True, slots=True)
class StudyFlag(FlagRecord):
    """A flag of a study, with its author and its query."""

    assignment: int
    assessor: str
    query: str
    tool: str
    handled_at: datetime | None
    handled_by: str | None


@dataclass(frozen=True, slots=True)
class FlagLine(StudyFlag):
    """A flag in a table, with the names of people; ``handler`` is empty while it is open."""

    query_id: int
    assessor_name: str
    handler: str


def flags_of_study(
    session: Session, study_id: int, *, limit: int, state: str = ""
) -> Sequence[FlagLine]:
    """Return the flags of a study: open ones first, then latest."""
    statement = (
        select(Flag)
        .join(Flag.assignment)
        .join(Assignment.query)
        .options(
            contains_eager(Flag.assignment).contains_eager(Assignment.query),
            contains_eager(Flag.assignment).joinedload(Assignment.user),
            contains_eager(Flag.assignment).options(defer(Assignment.plan)),
            joinedload(Flag.handler),
        )
        .where(Query.study_id == study_id)
        .order_by(Flag.handled_at.is_not(None), Flag.id.desc())
        .limit(limit)
    )
    if state:
        is_open = Flag.handled_at.is_(None)
        statement = statement.where(is_open if state == "open" else ~is_open)
    return [_line(flag) for flag in session.scalars(statement)]


def _line(flag: Flag) -> FlagLine:
    work, handler = flag.assignment, flag.handler
    return FlagLine(
        **_facts(flag),
        assignment=work.id,
        assessor=work.user.email,
        query=work.query.external_id,
        tool=work.tool.value,
        handled_at=flag.handled_at,
        handled_by=handler.email if handler else None,
        query_id=work.query_id,
        assessor_name=work.user.name,
        handler=handler.name if handler else "",
    )


def _facts(flag: Flag) -> dict[str, Any]:
    facts = {
        name: getattr(flag, name)
        for name in ("id", "position", "shown", "reason", "reply", "created_at")
    }
    return {**facts, "state": "open" if flag.handled_at is None else "handled"}


def flag_question(
    session: Session, live: LiveSessions, *, assignment_id: int, user_id: int, report: FlagReport
) -> FlagRecord:
    """Store a flag; a second one for the same open question replaces its reason."""
    reason = report.reason.strip()
    if not reason or len(reason) > MAX_REASON:
        raise Invalid(f"Give a reason of 1 to {MAX_REASON:,} characters.", field="reason")
    state = assignment_state(session, live, assignment_id=assignment_id, user_id=user_id)
    position = state.position if report.position is None else report.position
    open_flag = _open_flag(session, assignment_id, position)
    if open_flag is not None:
        open_flag.reason = reason
        return _of_author(open_flag, state)
    flag = Flag(
        assignment_id=assignment_id,
        position=position,
        shown=_checked(report.shown, state),
        reason=reason,
    )
    session.add(flag)
    session.flush()
    detail = {"flag": flag.id, "query": state.query.name, "tool": state.tool.value}
    audit.record(session, user_id, "flag.add", state.query.study_slug, **detail)
    return _of_author(flag, state)


def _of_author(flag: Flag, state: AssignmentState) -> FlagRecord:
    record = FlagRecord(**_facts(flag))
    return replace(record, shown=[]) if state.tool is Tool.LISTS else record


def _checked(shown: Sequence[str], state: AssignmentState) -> list[str]:
    """Return what was displayed; names that the assignment does not know are refused."""
    if not shown:
        return list(displayed(state))
    known = {head.name: head.name for head in state.documents.values()}
    if state.tool is Tool.LISTS:
        plan = ListPlan.from_json(state.plan)
        known = {hidden_name(plan.seed, each.system): each.system for each in plan.lists}
    if not known.keys() >= set(shown):
        raise Invalid("The flag names a page that is not part of this query.", field="shown")
    return [known[name] for name in shown]


def displayed(state: AssignmentState) -> Sequence[str]:
    """Return the names of the pages, or of the systems, in the open question."""
    if isinstance(state.state, AskingLists):
        return [state.state.left.system, state.state.right.system]
    return [state.documents[number].name for number in state.state.shown]


def handle_flag(
    session: Session,
    study: Study,
    flag_id: int,
    *,
    handled: bool,
    actor_id: int,
    reply: str = "",
) -> None:
    """Mark a flag as handled, with a ``reply`` to its author if given, or open it again."""
    if len(reply) > MAX_REASON:
        raise Invalid(f"A reply can have at most {MAX_REASON:,} characters.", field="reply")
    flag = _flag_of_study(session, study.id, flag_id)
    if flag is None:
        raise NotFound(f"The study {study.slug!r} has no flag {flag_id}.")
    flag.reply = reply.strip() or flag.reply
    if (flag.handled_at is not None) != handled:
        flag.handled_at = now() if handled else None
        flag.handled_by = actor_id if handled else None
        action = "flag.handle" if handled else "flag.reopen"
        audit.record(session, actor_id, action, study.slug, flag=flag.id)


def count_open(session: Session, study_id: int) -> int:
    """Return the number of open flags of a study."""
    statement = (
        select(func.count(Flag.id))
        .join(Flag.assignment)
        .join(Assignment.query)
        .where(Query.study_id == study_id, Flag.handled_at.is_(None))
    )
    return session.scalar(statement) or 0


def _open_flag(session: Session, assignment_id: int, position: int) -> Flag | None:
    """Return the open flag of a question."""
    statement = select(Flag).where(
        Flag.assignment_id == assignment_id,
        Flag.position == position,
        Flag.handled_at.is_(None),
    )
    return session.scalar(statement.order_by(Flag.id).limit(1))


def _flag_of_study(session: Session, study_id: int, flag_id: int) -> Flag | None:
    """Return a flag of the study, locked until the transaction ends."""
    statement = (
        select(Flag)
        .join(Assignment, Assignment.id == Flag.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Flag.id == flag_id, Query.study_id == study_id)
        .with_for_update(of=Flag)
    )
    return session.scalar(statement)
