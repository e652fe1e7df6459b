"""Flags: an assessor marks a question for the administrators; the log does not change."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Flag, Study
from topkapi.app.db.queries import flags as queries
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


def flag_question(
    session: Session, live: LiveSessions, *, assignment_id: int, user_id: int, report: FlagReport
) -> Flag:
    """Store a flag; a second one for the same open question replaces its reason."""
    reason = report.reason.strip()
    if not reason or len(reason) > MAX_REASON:
        raise Invalid(f"Give a reason of 1 to {MAX_REASON:,} characters.", field="reason")
    state = assignment_state(session, live, assignment_id=assignment_id, user_id=user_id)
    position = state.position if report.position is None else report.position
    found = queries.open_flag(session, assignment_id, position)
    if found is not None:
        found.reason = reason
        return found
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
    return flag


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
) -> Flag:
    """Mark a flag as handled, with a ``reply`` to its author if given, or open it again."""
    if len(reply) > MAX_REASON:
        raise Invalid(f"A reply has at most {MAX_REASON:,} characters.", field="reply")
    flag = queries.flag_of_study(session, study.id, flag_id)
    if flag is None:
        raise NotFound(f"The study {study.slug!r} has no flag {flag_id}.")
    flag.reply = reply.strip() or flag.reply
    if (flag.handled_at is not None) != handled:
        flag.handled_at = now() if handled else None
        flag.handled_by = actor_id if handled else None
        action = "flag.handle" if handled else "flag.reopen"
        audit.record(session, actor_id, action, study.slug, flag=flag.id)
    return flag
