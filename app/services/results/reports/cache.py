"""Reports kept until the study they are about changes: a large one takes seconds."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from topkapi.app.db.queries.results import reports as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.results.exports import ExportOptions, StudySource, completeness
from topkapi.app.services.results.reports.names import names_of

if TYPE_CHECKING:
    from topkapi.analysis.report import Report

ReportKey = tuple[int, bool, bool]  # study, pseudonyms, confidence
MOST_SURE = 300  # sessions whose answers are weighed while somebody waits: a minute and a half


class ReportCache:
    """The latest reports of a process. Each study and set of options has a lock of its own."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._lock = Lock()  # of the two dictionaries, held for a moment
        self._locks: dict[ReportKey, Lock] = {}
        self._kept: OrderedDict[ReportKey, tuple[Hashable, Report]] = OrderedDict()

    def report(
        self, session: Session, slug: str, *, pseudonyms: bool = False, confidence: bool = False
    ) -> "Report":
        """Return the report of a study as it is now, made once for all who ask meanwhile."""
        source = StudySource(session, slug, ExportOptions(pseudonyms=pseudonyms))
        if confidence:
            _refuse_if_long(source)
        key = (source.study.id, pseudonyms, confidence)
        state = state_of(source)
        with self._lock:
            own = self._locks.setdefault(key, Lock())
        with own:
            kept = self._kept.get(key)
            if kept is None or kept[0] != state:
                from topkapi.app.services.results.reports.service import make_report

                kept = (state, make_report(source, pseudonyms=pseudonyms, confidence=confidence))
            self._keep(key, kept)
        return kept[1]

    def _keep(self, key: ReportKey, kept: "tuple[Hashable, Report]") -> None:
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                oldest, _ = self._kept.popitem(last=False)
                self._locks.pop(oldest, None)


def _refuse_if_long(source: StudySource) -> None:
    """Nobody waits minutes for a page, and holds up everyone else who wants a report."""
    finished = completeness(source).of({Tool.PAIRS}).finished
    if finished > MOST_SURE:
        raise Invalid(
            f"{finished} finished sessions take minutes to weigh. Use `topkapi report "
            f"{source.study.slug} --confidence` or the export confidence.jsonl.",
            field="confidence",
        )


def state_of(source: StudySource) -> Hashable:
    """What a report depends on: two equal states give the same report.

    Every entry of a log is summed up in its assignment within the same transaction, so the sums
    tell of each one without counting the logs.
    """
    study = source.study
    work = queries.work_state(source.session, study.id)
    holdings = queries.holdings(source.session, study.id)
    names = tuple(sorted(names_of(source).items()))
    return study.name, repr(sorted(study.settings.items())), work, holdings, names
