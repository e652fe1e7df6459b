"""Insert the rows of a study in batches, in one transaction or several."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from sqlalchemy import Table, insert, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Base
from topkapi.app.db.models import Assignment, Study
from topkapi.app.db.queries.assignments import assignments as queries
from topkapi.app.db.queries.judging.lists import lock_queries
from topkapi.app.db.queries.studies.importing import query_numbers
from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.services.guideline_history import record_version
from topkapi.app.services.importing.comparing import Changes
from topkapi.app.services.importing.edits import head_json
from topkapi.app.services.importing.kinds import KINDS
from topkapi.app.services.importing.kinds.base import Checked, Writing
from topkapi.app.services.importing.staging import Staging

_ROWS = 1000

T = TypeVar("T")


def write_study(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    *,
    actor_id: int | None = None,
) -> Study:
    """Write the rows of ``changes``, whose contents are stored already."""
    study = changes.study or Study(slug=checked.bundle.head.slug)
    write_head(session, study, checked, changes, actor_id)
    _write_rows(session, checked, changes, staging, study.id)
    if changes.growing:
        numbers = query_numbers(session, study.id)
        continue_work(session, study, [numbers[name] for name in changes.growing])
    return study


def write_unfinished(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    *,
    slug: str,
    rest: Callable[[], None],
) -> None:
    """Write the rows of a new study under a ``slug`` that nobody sees; ``rest`` after each batch.

    `write_head` then gives it the slug of its files.
    """
    study = Study(slug=slug, name="")
    session.add(study)
    session.flush()
    number = study.id
    rest()
    _write_rows(session, checked, changes, staging, number, rest)


def write_head(
    session: Session, study: Study, checked: Checked, changes: Changes, actor_id: int | None
) -> None:
    """Write name, guidelines and settings of a study."""
    head, merged = checked.bundle.head, changes.merged
    study.slug, study.name = head.slug, merged.name
    study.settings = merged.settings
    study.imported = head_json(head)
    study.content_hash = _hash_of_study(checked)
    session.add(study)
    session.flush()
    if changes.study is None or study.guidelines != merged.guidelines:
        record_version(session, study, merged.guidelines, source="import", actor_id=actor_id)


def _write_rows(
    session: Session,
    checked: Checked,
    changes: Changes,
    staging: Staging,
    study_id: int,
    rest: Callable[[], None] = lambda: None,
) -> None:
    """Write the new records of every kind; ``rest`` after each batch."""
    write = Writing(session, study_id, checked, staging.rendered, rest)
    for kind in KINDS:
        for batch in _batches(kind.rows(write, changes[kind], staging.staged(kind)), _ROWS):
            session.execute(insert(_table(kind.model)), batch)
            rest()


def _table(model: type[Base]) -> Table:
    return cast(Table, model.__table__)


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def continue_work(session: Session, study: Study, query_ids: Collection[int]) -> None:
    """Add the new candidates of these queries to the plans of their assignments.

    Finished work is open again. Recorded answers stay: a page that was in the list keeps its place
    until a new page is better.
    """
    lock_queries(session, query_ids)
    pages = queries.candidates_of_study(session, study.id)
    rows = _growing_work(session, query_ids)
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
        row.added_pages += len(added) if row.last_entry_at else 0
        _continue(row, plan, more)


def _continue(row: Assignment, plan: Mapping[str, Any], more: int) -> None:
    row.plan, row.plan_digest = dict(plan), plan_digest(plan)
    row.completed_at = row.completed_at or row.finished_at
    if row.finished_at is not None:
        row.finished_at, row.expected_left = None, more
        prior = (row.pending_question or {}).get("prior")
        # No step follows from an impossible number of answers, but the error model is kept.
        row.pending_question = prior and {"after": -1, "ranking": [], "prior": prior}
    elif row.expected_left is not None:
        row.expected_left += more


def _hash_of_study(checked: Checked) -> str:
    """Return a hash of everything that was read; equal studies have equal hashes."""
    head, digest = checked.bundle.head, hashlib.sha256()
    head_parts = head.name, head.slug, head.guidelines, head.settings.as_json()
    digest.update(json.dumps(head_parts).encode())
    for kind in KINDS:
        for record in checked[kind].items():
            digest.update(repr(record).encode())
    return digest.hexdigest()


def _growing_work(session: Session, query_ids: Collection[int]) -> Sequence[Assignment]:
    """Return and lock the assignments of these queries that judge all their pages."""
    statement = select(Assignment).where(
        Assignment.query_id.in_(query_ids), Assignment.tool != Tool.LISTS, Assignment.round >= 0
    )
    return session.scalars(statement.order_by(Assignment.id).with_for_update()).all()
