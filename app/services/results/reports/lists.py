"""The report on preferences between lists, computed once per state of a study."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import lists as queries
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.services.judging.lists.evidence import (
    ListVote,
    answers_in_study,
    as_preferences,
    grades_of,
)
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.cache import StateCache, state_of

if TYPE_CHECKING:
    from topkapi.analysis.report import ListReport
    from topkapi.analysis.report.preferences import Duels

_NO_GRADES = (
    "no page of the lists has a grade. Have them graded with the tool 'grades', or import grades "
    "with the candidates."
)


class ListReports(StateCache["ListReport"]):
    """The latest report per study."""

    def report(self, session: Session, slug: str) -> "ListReport":
        """Return the report of the study's current state; callers must not modify it."""
        source = StudySource(session, slug)
        make = partial(make_list_report, source)
        with self.current(source.study.id, state_of(source), make) as found:
            return found


def make_list_report(source: StudySource) -> "ListReport":
    """Make the report on lists; raise Invalid while nobody has compared any."""
    from topkapi.analysis.report.preferences import list_report
    from topkapi.analysis.report.schema import StudyName

    study = source.study
    depth = study.settings.k
    answers = answers_in_study(source.session, study.id, depth)
    if not answers:
        raise Invalid(f"{study.slug}: nobody has compared two lists yet.", field="study")
    grades = grades_of(source.session, answers)
    graded = as_preferences(answers, grades, depth) if grades.of else None
    figures = list_report(_duels(source.session, answers), graded, _NO_GRADES)
    return replace(figures, study=StudyName(study.name, study.slug))


def _duels(session: Session, answers: list[ListVote]) -> "Duels":
    import numpy as np

    from topkapi.analysis.dcglearn import ANSWERS
    from topkapi.analysis.report.preferences import Duels

    lists = queries.rankings_by_id(session, {n for each in answers for n in each.rankings})
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
