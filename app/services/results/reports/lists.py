"""The report on preferences between lists, counted once for every state of a study."""

from collections.abc import Hashable
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import lists as queries
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.judging.lists.evidence import (
    SubmittedAnswer,
    as_preferences,
    grades_of,
    said_in_study,
)
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.cache import state_of

if TYPE_CHECKING:
    from topkapi.analysis.report import ListReport
    from topkapi.analysis.report.preferences import Duels

_NO_GRADES = (
    "no page of the lists has a grade. Have them graded with the tool 'grades', or import grades "
    "with the candidates."
)


class ListReports:
    """The latest report of each study that was looked at; one is made at a time."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._kept: dict[int, tuple[Hashable, ListReport]] = {}

    def report(self, session: Session, slug: str) -> "ListReport":
        """The report of a study as it is now; nobody may change what they are given."""
        source = StudySource(session, slug)
        state = state_of(source)
        with self._lock:
            kept = self._kept.pop(source.study.id, None)
            if kept is None or kept[0] != state:
                kept = (state, make_list_report(source))
            self._kept[source.study.id] = kept
            while len(self._kept) > self._capacity:
                del self._kept[next(iter(self._kept))]
            return kept[1]


def make_list_report(source: StudySource) -> "ListReport":
    """Which systems win and what their lists teach; refused while nobody has compared any."""
    from topkapi.analysis.report.preferences import list_report
    from topkapi.analysis.report.schema import StudyName

    study = source.study
    depth = StudySettings.from_json(study.settings).k
    said = said_in_study(source.session, study.id, depth)
    if not said:
        raise Invalid(f"{study.slug}: nobody has compared two lists yet.", field="study")
    grades = grades_of(source.session, said)
    graded = as_preferences(said, grades, depth) if grades.of else None
    figures = list_report(_duels(source.session, said), graded, _NO_GRADES)
    return replace(figures, study=StudyName(study.name, study.slug))


def _duels(session: Session, said: list[SubmittedAnswer]) -> "Duels":
    import numpy as np

    from topkapi.analysis.dcglearn import ANSWERS
    from topkapi.analysis.report.preferences import Duels

    lists = queries.rankings_by_id(session, {n for each in said for n in each.rankings})
    names = sorted({row.system for row in lists.values()})
    place = {name: number for number, name in enumerate(names)}
    sides = [[place[lists[each.rankings[side]].system] for each in said] for side in (0, 1)]
    answers = [ANSWERS[(each.answer or ListAnswer.SAME).value] for each in said]
    return Duels(
        tuple(names),
        np.array([each.query_id for each in said], dtype=np.int64),
        np.array(sides[0], dtype=np.int64),
        np.array(sides[1], dtype=np.int64),
        np.array(answers, dtype=np.int64),
    )
