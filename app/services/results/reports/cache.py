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

MOST_SURE = 300  # sessions whose answers are weighed while somebody waits: a minute and a half


class ReportCache:
    """The latest reports of a process; one is made at a time, and whoever wants the same waits."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: OrderedDict[tuple[int, bool, bool], tuple[Hashable, Report]] = OrderedDict()

    def report(
        self, session: Session, slug: str, *, pseudonyms: bool = False, confidence: bool = False
    ) -> "Report":
        """The report of a study as it is now; nobody may change what they are given."""
        source = StudySource(session, slug, ExportOptions(pseudonyms=pseudonyms))
        if confidence:
            _refuse_if_long(source)
        key = (source.study.id, pseudonyms, confidence)
        state = state_of(source)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] != state:
                from topkapi.app.services.results.reports.service import make_report

                made = make_report(source, pseudonyms=pseudonyms, confidence=confidence)
                kept = (state, made)
                self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
            return kept[1]


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
