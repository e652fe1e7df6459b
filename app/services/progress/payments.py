"""Hours and amounts per assessor of a study; rates are given each time and never stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import PlainSerializer
from sqlalchemy.orm import Session

from topkapi.app.db.models import Study
from topkapi.app.db.queries.crowds import workers_of_study
from topkapi.app.db.queries.progress import Ordered
from topkapi.app.services.progress import study_progress

Exact = Annotated[Decimal, PlainSerializer(float, when_used="json")]  # a number in JSON
_ALL = 10_000_000
_CENT, _HOUR_DIGITS = Decimal("0.01"), Decimal("0.001")
_MS_PER_HOUR = 3_600_000
HEAD = (
    *("assessor", "name", "platform", "worker_id", "active_hours", "judgments"),
    *("finished_queries", "amount"),
)


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
    """Yield everyone with work in the study, by name; withdrawn and void work does not count."""
    seen = study_progress.overview(session, study)
    workers = workers_of_study(session, study.id)
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
            finished_queries=sums.finished,
            amount=rates.amount(sums.active_ms, sums.finished),
        )
