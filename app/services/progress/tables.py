"""Every table of the administration as rows: a header, then one row per line, for CSV files."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import PlainSerializer
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, CrowdWorker, Study
from topkapi.app.db.queries.accounts.accounts import all_users
from topkapi.app.db.queries.accounts.people import work_counts
from topkapi.app.db.queries.assignments.manual_assignment import state_of, work_page
from topkapi.app.db.queries.progress import Ordered, rows_of_study
from topkapi.app.db.queries.studies.studies import studies_with_counts
from topkapi.app.services.assignments.gaps import plan_filling
from topkapi.app.services.audit import acts
from topkapi.app.services.progress import study_progress
from topkapi.app.services.progress.study_progress import Figures
from topkapi.app.services.promise import count_missing

Exact = Annotated[Decimal, PlainSerializer(float, when_used="json")]  # a number in JSON
_CENT, _HOUR_DIGITS = Decimal("0.01"), Decimal("0.001")
_MS_PER_HOUR = 3_600_000
HEAD = (
    *("assessor", "name", "platform", "worker_id", "active_hours", "judgments"),
    *("finished_queries", "amount"),
)
Row = tuple[object, ...]
_ALL = 10_000_000
_FIGURES = tuple(field.name for field in fields(Figures))


@dataclass(frozen=True, slots=True)
class Rates:
    """What is paid per active hour and per finished query, in any currency."""

    per_hour: Decimal = Decimal(0)
    per_query: Decimal = Decimal(0)

    def amount(self, active_ms: int, finished: int) -> Decimal:
        """Return the amount, rounded to hundredths."""
        hours = Decimal(active_ms) / _MS_PER_HOUR
        exact = hours * self.per_hour + finished * self.per_query
        return exact.quantize(_CENT, ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Payment:
    """What an assessor has done and is paid, in the currency of the rates.

    Crowd workers have a platform and a worker id.
    """

    assessor: str
    name: str
    platform: str
    worker_id: str
    active_hours: Exact
    judgments: int
    finished_queries: int
    amount: Exact

    def row(self) -> tuple[object, ...]:
        """Return the values in the order of `HEAD`."""
        return tuple(getattr(self, name) for name in HEAD)


def payments(session: Session, study: Study, rates: Rates) -> Iterator[Payment]:
    """Yield everyone with work in the study, by name; withdrawn and void work does not count.

    A query that was finished stays so when pages are added to it.
    """
    finished = _finished_once(session, study.id)
    seen = study_progress.overview(session, study)
    workers = _workers_of_study(session, study.id)
    found, _ = study_progress.people(session, Ordered("name", False, "", _ALL, 0), seen)
    for person, line in found:
        worker = workers.get(person.id)
        sums = line.sums
        yield Payment(
            assessor=person.email,
            name=person.name,
            platform=worker.platform.value if worker else "",
            worker_id=worker.worker_id if worker else "",
            active_hours=(Decimal(sums.active_ms) / _MS_PER_HOUR).quantize(
                _HOUR_DIGITS, ROUND_HALF_UP
            ),
            judgments=sums.answered,
            finished_queries=finished[person.id],
            amount=rates.amount(sums.active_ms, finished[person.id]),
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
    yield ("assessor", "name", *_FIGURES)
    seen = study_progress.overview(session, study)
    for user, line in study_progress.people(session, Ordered("name", False, "", _ALL, 0), seen)[0]:
        yield (user.email, user.name, *astuple(Figures.of(line)))


def queries(session: Session, study: Study) -> Iterator[Row]:
    """Yield the progress of every query."""
    yield ("query", "text", *_FIGURES)
    seen, wanted = study_progress.overview(session, study), Ordered("finished", True, "", _ALL, 0)
    for query, line in study_progress.by_query(session, study, wanted, seen)[0]:
        yield (query.name, query.text, *astuple(Figures.of(line)))


def gaps(session: Session, study: Study) -> Iterator[Row]:
    """Yield promised work that nobody has: withdrawn, voided, or never assigned."""
    yield ("query", "tool", "round_number", "withdrawn_from")
    for gap in plan_filling(session, study, ()).gaps:
        yield (gap.query, gap.tool.value, gap.round_number, gap.lost)


def studies(session: Session) -> Iterator[Row]:
    """Yield every study with its sizes."""
    yield (
        *("slug", "name", "tools", "queries", "documents", "candidates", "assigned", "finished"),
        "promised",
    )
    for study, *counts in studies_with_counts(session):
        promised = counts[-2] + count_missing(session, study)
        yield (study.slug, study.name, " ".join(study.settings.tools), *counts, promised)


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
    for act in acts(session, limit=_ALL)[0]:
        detail = json.dumps(act.detail, ensure_ascii=False)
        yield (act.at, act.who or "", act.action, act.subject, detail)


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


def _workers_of_study(session: Session, study_id: int) -> dict[int, CrowdWorker]:
    """Return everyone who came to a study through a link."""
    statement = select(CrowdWorker).where(CrowdWorker.study_id == study_id)
    return {worker.user_id: worker for worker in session.scalars(statement)}


def _finished_once(session: Session, study_id: int) -> dict[int, int]:
    """Return how many queries each person has finished, also those that others have reopened."""
    finished = func.coalesce(Assignment.finished_at, Assignment.completed_at)
    statement = rows_of_study(select(Assignment.user_id, func.count(finished)), study_id)
    rows = session.execute(statement.group_by(Assignment.user_id))
    return {row[0]: row[1] for row in rows}
