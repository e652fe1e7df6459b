"""Work on queries to which candidates are added: it continues with the new pages."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.judging.lists import lock_queries
from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.plan_digest import plan_digest


def continue_work(session: Session, study: Study, query_ids: Collection[int]) -> None:
    """Add the new candidates of these queries to the plans of their assignments.

    Finished work is open again. Recorded answers stay: a page that was in the list keeps its place
    until a new page is better.
    """
    lock_queries(session, query_ids)
    pages = queries.candidates_of_study(session, study.id)
    rows = queries.growing_work(session, query_ids)
    # A machine has not judged the new pages: their scores are average.
    scores = queries.prior_of_study(session, study.id, study.settings.prior)
    teams = {row.plan_digest for row in rows if row.finished_at is None}
    for row in rows:
        order = row.plan["order"]
        known = frozenset(order)
        new = [page for page in pages.get(row.query_id, ()) if page not in known]
        added = shuffled(new, row.plan["seed"], "added", len(order))
        plan: dict[str, Any] = {**row.plan, "order": [*order, *added]}
        more = len(added)
        if row.tool is Tool.PAIRS:
            before = Plan.from_json(row.plan)
            done = row.plan_digest not in teams
            grown = before.grown(added, scores.get(row.query_id, {}), done)
            plan, more = grown.as_json(), grown.most_questions - before.most_questions
        _continue(row, plan, more)


def _continue(row: Assignment, plan: Mapping[str, Any], more: int) -> None:
    row.plan, row.plan_digest = dict(plan), plan_digest(plan)
    if row.finished_at is not None:
        row.finished_at, row.expected_left = None, more
        prior = (row.pending_question or {}).get("prior")
        # No step follows from an impossible number of answers, but the error model is kept.
        row.pending_question = prior and {"after": -1, "ranking": [], "prior": prior}
    elif row.expected_left is not None:
        row.expected_left += more
