"""Every table of the administration as rows: a header, then one row per line, for CSV files."""

import json
from collections.abc import Callable, Iterator, Mapping

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.accounts.accounts import all_users
from topkapi.app.db.queries.accounts.people import work_counts
from topkapi.app.db.queries.assignments.assignments import users_by_id
from topkapi.app.db.queries.assignments.manual_assignment import state_of, work_page
from topkapi.app.db.queries.audit import events_page
from topkapi.app.db.queries.progress import Ordered
from topkapi.app.db.queries.studies.studies import studies_with_counts
from topkapi.app.services.assignments.gaps import plan_filling
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.study_progress import Line

Row = tuple[object, ...]
_ALL = 10_000_000
_SUMS = (
    *("assigned", "begun", "finished", "answered", "expected_left", "active_ms"),
    *("ms_per_answer", "checks", "self_consistency", "last_entry_at"),
    *("known_answers", "known_right", "accuracy", "accuracy_low", "accuracy_high"),
)


def work(session: Session, study: Study) -> Iterator[Row]:
    """Yield every assignment; query, assessor, tool and round_number can be imported again."""
    yield (
        *("query", "assessor", "tool", "round_number", "name", "state", "answered"),
        *("expected_left", "active_ms", "last_entry_at", "finished_at"),
    )
    rows, _ = work_page(session, study.id, limit=_ALL, offset=0)
    for row in rows:
        yield (
            *(row.query.external_id, row.user.email, row.tool.value, row.round + 1, row.user.name),
            *(state_of(row), row.answered, row.expected_left, row.active_ms),
            *(row.last_entry_at, row.finished_at),
        )


def assessors(session: Session, study: Study) -> Iterator[Row]:
    """Yield the progress of every assessor."""
    yield ("assessor", "name", *_SUMS)
    seen = study_progress.overview(session, study)
    for user, line in study_progress.people(session, Ordered("name", False, "", _ALL, 0), seen)[0]:
        yield (user.email, user.name, *_figures(line))


def queries(session: Session, study: Study) -> Iterator[Row]:
    """Yield the progress of every query."""
    yield ("query", "text", *_SUMS)
    seen, wanted = study_progress.overview(session, study), Ordered("finished", True, "", _ALL, 0)
    for query, line in study_progress.by_query(session, study, wanted, seen)[0]:
        yield (query.name, query.text, *_figures(line))


def gaps(session: Session, study: Study) -> Iterator[Row]:
    """Yield withdrawn work that nobody has taken over."""
    yield ("query", "tool", "round_number", "withdrawn_from")
    for gap in plan_filling(session, study, ()).gaps:
        yield (gap.query, gap.tool.value, gap.round_number, gap.lost)


def studies(session: Session) -> Iterator[Row]:
    """Yield every study with its sizes."""
    yield ("slug", "name", "tools", "queries", "documents", "candidates", "assigned", "finished")
    for study, *counts in studies_with_counts(session):
        yield (study.slug, study.name, " ".join(study.settings.tools), *counts)


def people(session: Session) -> Iterator[Row]:
    """Yield everyone, with role and work."""
    yield ("email", "name", "role", "created_at", "disabled_at", "assigned", "finished")
    users = all_users(session)
    work = work_counts(session, [user.id for user in users])
    for user in users:
        counts = work.get(user.id, (0, 0))
        yield (user.email, user.name, user.role.value, user.created_at, user.disabled_at, *counts)


def audit(session: Session) -> Iterator[Row]:
    """Yield every administrative action, latest first."""
    yield ("at", "who", "action", "subject", "detail")
    events, _ = events_page(session, limit=_ALL, offset=0)
    actors = users_by_id(session, {event.user_id for event in events if event.user_id})
    for event in events:
        who = actors[event.user_id].email if event.user_id else ""
        detail = json.dumps(event.detail, ensure_ascii=False)
        yield (event.at, who, event.action, event.subject, detail)


def _figures(line: Line) -> Row:
    facts = line.facts()
    return tuple(facts[name] for name in _SUMS)


STUDY_TABLES: Mapping[str, Callable[[Session, Study], Iterator[Row]]] = {
    "work": work,
    "assessors": assessors,
    "queries": queries,
    "gaps": gaps,
}
TABLES: Mapping[str, Callable[[Session], Iterator[Row]]] = {
    "studies": studies,
    "people": people,
    "audit": audit,
}
