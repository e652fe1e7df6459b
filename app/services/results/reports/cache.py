"""Cache of reports until their study changes: a large report takes seconds."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Query
from topkapi.app.db.queries.judging import lists as ranked
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.services.judging.lists.evidence import (
    ListVote,
    answers_in_study,
    as_preferences,
    grades_of,
)
from topkapi.app.services.results.exports import ExportOptions, StudySource, completeness
from topkapi.app.services.results.reports.notes import StoredResult, names_of

if TYPE_CHECKING:
    from topkapi.analysis.report import ListReport, Report
    from topkapi.analysis.report.subjects.lists import Duels


Value = TypeVar("Value")
MAX_CONFIDENCE_SESSIONS = 300  # per request; so many take a minute and a half
MOST_ANSWERS = 1_000  # of a report within a request; see `is_large`
_CONTENT = 2  # version of what jobs store; another one outdates every stored result
_NO_GRADES = (
    "no page of the lists has a grade. Have them graded with the tool 'grades', or import grades "
    "with the candidates."
)


class StateCache(Generic[Value]):
    """The latest values of a process, each until its state changes; keys have their own locks."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._lock = Lock()  # of the two dictionaries, held for a moment
        self._locks: dict[Hashable, Lock] = {}
        self._kept: OrderedDict[Hashable, tuple[Hashable, Value]] = OrderedDict()

    @contextmanager
    def current(self, key: Hashable, state: Hashable, make: Callable[[], Value]) -> Iterator[Value]:
        """Hold the value of ``key`` in ``state``; one that is not kept is made."""
        with self._lock:
            own = self._locks.setdefault(key, Lock())
        with own:
            kept = self._kept.get(key)
            if kept is None or kept[0] != state:
                kept = (state, make())
            self._keep(key, kept)
            yield kept[1]

    def _keep(self, key: Hashable, kept: tuple[Hashable, Value]) -> None:
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                oldest, _ = self._kept.popitem(last=False)
                self._locks.pop(oldest, None)


class ReportCache(StateCache["Report"]):
    """The latest reports, one per study and set of options."""

    def report(
        self,
        session: Session,
        slug: str,
        *,
        pseudonyms: bool = False,
        confidence: bool | StoredResult = False,
        stored: StoredResult | None = None,
    ) -> "Report":
        """Return the report of the study's current state; callers must not modify it.

        ``confidence`` is computed here, unless it is given as stored. With ``stored`` it is that
        report, of whatever state it was computed from.
        """
        source = StudySource(session, slug, ExportOptions(pseudonyms=pseudonyms))
        if confidence is True:
            _refuse_if_long(source)
        key = (source.study.id, pseudonyms, bool(confidence), stored is not None)
        known = None if isinstance(confidence, bool) else confidence.job_id
        if stored is None:
            state: Hashable = (state_of(source), known)
        else:
            state = (stored.job_id, known, tuple(sorted(names_of(source).items())))
        with self.current(
            key, state, lambda: _made(source, pseudonyms, confidence, stored)
        ) as found:
            return found


def _made(
    source: StudySource,
    pseudonyms: bool,
    confidence: bool | StoredResult,
    stored: StoredResult | None,
) -> "Report":
    from topkapi.app.services.results.reports.service import make_report, stored_as_report

    if stored is None:
        return make_report(source, pseudonyms=pseudonyms, confidence=confidence)
    shown = None if isinstance(confidence, bool) else confidence
    return stored_as_report(source, stored, pseudonyms=pseudonyms, confidence=shown)


def is_large(session: Session, study_id: int) -> bool:
    """Return whether the report takes more than about 0.3 s of a processor, too long for a page.

    The time grows with the number of answers: 200 to 300 microseconds each, measured with 22 000 of
    them on 80 queries by 10 assessors.
    """
    statement = select(func.sum(Assignment.answered)).join(Query, Query.id == Assignment.query_id)
    return (session.scalar(statement.where(Query.study_id == study_id)) or 0) > MOST_ANSWERS


def _refuse_if_long(source: StudySource) -> None:
    """Raise Invalid if the report would take minutes and block other reports."""
    finished = completeness(source).of({Tool.PAIRS}).finished
    if finished > MAX_CONFIDENCE_SESSIONS:
        raise Invalid(
            f"Confidence in {finished} lists takes minutes to compute. Run topkapi report "
            f"{source.study.slug} --confidence, or use the export confidence.jsonl.",
            field="confidence",
        )


def state_of(source: StudySource) -> Hashable:
    """Return everything that a report depends on: equal states give equal reports.

    Every log entry updates the sums of its assignment in the same transaction, so the sums reflect
    all entries without reading the logs.
    """
    study = source.study
    work = _work_state(source.session, study.id)
    holdings = _holdings(source.session, study.id)
    names = tuple(sorted(names_of(source).items()))
    return study.name, study.settings, work, holdings, names


def state_digest(source: StudySource) -> str:
    """Return a digest that is equal while everything is that a report depends on."""
    return sha256(repr((_CONTENT, state_of(source))).encode()).hexdigest()


class ListReports(StateCache["ListReport"]):
    """The latest report per study."""

    def report(self, session: Session, slug: str) -> "ListReport":
        """Return the report of the study's current state; callers must not modify it."""
        source = StudySource(session, slug)
        make = partial(make_list_report, source)
        with self.current(source.study.id, state_of(source), make) as found:
            return found


def make_list_report(source: StudySource) -> "ListReport":
    """Make the report on lists; raise Invalid while no lists have been compared any."""
    from topkapi.analysis.report.study import StudyName
    from topkapi.analysis.report.subjects.lists import list_report

    study = source.study
    depth = study.settings.k
    answers = answers_in_study(source.session, study.id, depth)
    if not answers:
        raise Invalid(f"{study.slug}: no lists have been compared yet.", field="study")
    grades = grades_of(source.session, answers)
    graded = as_preferences(answers, grades, depth) if grades.of else None
    figures = list_report(_duels(source.session, answers), graded, _NO_GRADES)
    return replace(figures, study=StudyName(study.name, study.slug))


def _duels(session: Session, answers: list[ListVote]) -> "Duels":
    import numpy as np

    from topkapi.analysis.dcglearn import ANSWERS
    from topkapi.analysis.report.subjects.lists import Duels

    lists = ranked.rankings_by_id(session, {n for each in answers for n in each.rankings})
    names = sorted({row.system for row in lists.values()})
    index = {name: number for number, name in enumerate(names)}
    sides = [[index[lists[each.rankings[side]].system] for each in answers] for side in (0, 1)]
    codes = [ANSWERS[(each.answer or ListAnswer.SAME).value] for each in answers]
    return Duels(
        tuple(names),
        np.array([each.query_id for each in answers], dtype=np.int64),
        np.array(sides[0], dtype=np.int64),
        np.array(sides[1], dtype=np.int64),
        np.array(codes, dtype=np.int64),
    )


def _work_state(session: Session, study_id: int) -> Hashable:
    """Return a summary of assignments and logs that changes with every log entry."""
    statement = (
        select(
            func.count(Assignment.id),
            func.max(Assignment.id),
            func.count(Assignment.withdrawn_at),
            func.count(Assignment.finished_at),
            func.sum(Assignment.answered),
            func.sum(Assignment.active_ms),
            func.max(Assignment.last_entry_at),
        )
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
    )
    return tuple(session.execute(statement).one())


def _holdings(session: Session, study_id: int) -> Hashable:
    """Return counts of queries and candidates, to which an import may add."""
    statement = (
        select(func.count(Query.id.distinct()), func.count(Candidate.id), func.max(Candidate.id))
        .outerjoin(Candidate, Candidate.query_id == Query.id)
        .where(Query.study_id == study_id)
    )
    return tuple(session.execute(statement).one())
