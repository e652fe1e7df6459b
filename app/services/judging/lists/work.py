"""List assignments: their plans, and the next pair where pairs are chosen adaptively."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Query, Study
from topkapi.app.db.queries.judging import lists as queries
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.lists.plan import (
    ListPlan,
    ListRules,
    ShownList,
    SidedPair,
    plan_lists,
    unordered,
)
from topkapi.app.domain.lists.session import ListSession
from topkapi.app.services.judging.lists.choice import Chooser


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan as the assignment stores it, and the first pair where pairs are chosen adaptively."""

    plan: dict[str, Any]
    pending_question: dict[str, Any] | None


class ListPlans:
    """Makes the plans of a study's list assignments; each plan respects those made before it.

    For a ``preview`` nothing is locked and no pair is chosen.
    """

    def __init__(
        self,
        session: Session,
        study: Study,
        rules: ListRules,
        query_ids: Iterable[int],
        *,
        preview: bool = False,
    ) -> None:
        wanted = set(query_ids)
        if not preview:
            queries.lock_queries(session, wanted)
        self._session, self._rules, self._preview = session, rules, preview
        self._chooser = Chooser(session, study.id)
        self._lists = queries.rankings_of_queries(session, wanted)
        self._taken, self._reserved = _assigned_pairs(session, wanted)

    def make(self, query_id: int, seed: str, *, machine: bool = False) -> Prepared:
        """Return the plan of one more assessor for the query, or refuse with the reason.

        A machine may compare what people compare, and takes no pair from them.
        """
        lists = [
            ShownList(row.id, row.system, tuple(row.documents)) for row in self._lists[query_id]
        ]
        plan = plan_lists(
            lists,
            replace(self._rules, repeats=True) if machine else self._rules,
            seed,
            query=self._session.get_one(Query, query_id).external_id,
            taken=self._taken[query_id],
            reserved=self._reserved[query_id],
        )
        opened = ListSession(plan)
        if opened.needs_pair and not self._preview:
            taken = frozenset() if plan.repeats else frozenset(self._taken[query_id])
            opened.ask(self._chooser.next_pair(opened, query_id=query_id, taken=taken))
        if not machine:
            self._taken[query_id] |= opened.asked
            self._reserved[query_id] += plan.size
        return Prepared(plan.as_json(), opened.pending_question)


def refuse_restoring(session: Session, row: Assignment) -> None:
    """Refuse to restore a withdrawn assignment whose pairs were assigned to others meanwhile."""
    if row.tool is not Tool.LISTS:
        return
    session.flush()
    plan = ListPlan.from_json(row.plan)
    queries.lock_queries(session, [row.query_id])
    taken, reserved = _assigned_pairs(session, {row.query_id})
    own = _pairs_of(session, row.id, plan, row.pending_question)
    too_many = plan.is_active and len(plan.pairs) - reserved[row.query_id] < plan.size
    if not plan.repeats and (too_many or own & taken[row.query_id]):
        raise Conflict(
            "The pairs of lists of this assignment were assigned to others after it was withdrawn. "
            "Assign the query again in another round, or set lists_repeats = true in study.toml."
        )


def next_pair(
    session: Session, assignment: AssignmentHead, live: ListSession, *, study_id: int
) -> SidedPair:
    """Choose the next pair of a session, one assigned to nobody else unless pairs repeat."""
    queries.lock_queries(session, [assignment.query_id])
    taken: frozenset[SidedPair] = frozenset()
    if not live.plan.repeats:
        pairs, _ = _assigned_pairs(session, {assignment.query_id}, but=assignment.id)
        taken = frozenset(pairs[assignment.query_id])
    chooser = Chooser(session, study_id, but=assignment.id)
    return chooser.next_pair(live, query_id=assignment.query_id, taken=taken)


def _assigned_pairs(
    session: Session, query_ids: set[int], but: int | None = None
) -> tuple[defaultdict[int, set[SidedPair]], Counter[int]]:
    """Return, per query, the pairs asked so far and the total number of reserved questions."""
    taken: defaultdict[int, set[SidedPair]] = defaultdict(set)
    reserved: Counter[int] = Counter()
    for number, query_id, stored, pending in queries.list_work_of_queries(session, query_ids):
        if number == but:
            continue
        plan = ListPlan.from_json(stored)
        taken[query_id] |= _pairs_of(session, number, plan, pending)
        reserved[query_id] += plan.size
    return taken, reserved


def _pairs_of(
    session: Session, assignment_id: int, plan: ListPlan, pending: dict[str, Any] | None
) -> set[SidedPair]:
    """Return the pairs of an assignment that are known so far."""
    if not plan.is_active:
        return set(plan.pairs)
    answered = queries.pairs_answered(session, [assignment_id])
    found = {unordered((left, right)) for _, left, right in answered}
    if pending is not None:
        left, right = pending["pair"]
        found.add(unordered((left, right)))
    return found
