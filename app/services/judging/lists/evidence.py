"""The effective answers of a study about its lists, and the known grades of their pages."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median_low
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import lists as queries
from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.log import Entry, effective

if TYPE_CHECKING:
    from topkapi.analysis.dcglearn import ListPreferences

PageOfQuery = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ListVote:
    """Two lists of a query, best page first, and the answer; None while it is open.

    ``rankings`` are the ids of both.
    """

    query_id: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    answer: ListAnswer | None
    rankings: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Grades:
    """Grades of pages for queries, from 0; ``n_grades`` is the length of the scale."""

    of: Mapping[PageOfQuery, int]
    n_grades: int


def answers_in_study(
    session: Session, study_id: int, depth: int, but: int | None = None
) -> list[ListVote]:
    """Return the effective answers about pairs of lists, without those of assignment ``but``."""
    answers: list[tuple[int, int, str]] = []
    rows = queries.list_logs_of_study(session, study_id)
    for assignment_id, log in groupby(rows, key=lambda row: row[0]):
        if assignment_id != but:
            answers += effective(Entry(row[1], row[2:]) for row in log)
    lists = queries.rankings_by_id(session, {number for pair in answers for number in pair[:2]})
    return [
        ListVote(
            lists[left].query_id,
            tuple(lists[left].documents[:depth]),
            tuple(lists[right].documents[:depth]),
            ListAnswer(answer),
            (left, right),
        )
        for left, right, answer in answers
    ]


def grades_of(session: Session, answers: Sequence[ListVote]) -> Grades:
    """Return the known grades of the pages in these lists.

    They come from the tool `grades`: the median over assessors, the lower one if their number is
    even. A page without such a grade has the grade that was imported with the study.
    """
    query_ids = {each.query_id for each in answers}
    pages = {page for each in answers for page in (*each.left, *each.right)}
    known = {(row[0], row[1]): row[2] for row in queries.known_grades(session, query_ids, pages)}
    by_assessors, steps = _assessor_grades(session, query_ids, pages)
    known |= {page: median_low(given) for page, given in by_assessors.items()}
    return Grades(known, max(steps, max(known.values(), default=0) + 1, 2))


def _assessor_grades(
    session: Session, query_ids: Collection[int], pages: Collection[int]
) -> tuple[dict[PageOfQuery, list[int]], int]:
    """Return the grades by assessors, and the length of the longest scale."""
    last: dict[tuple[int, int, int], str] = {}
    for assignment_id, query_id, page, grade in queries.graded_pages(session, query_ids, pages):
        last[assignment_id, query_id, page] = grade
    scales = queries.scales_of(session, {key[0] for key in last})
    by_assessors: dict[PageOfQuery, list[int]] = {}
    for (assignment_id, query_id, page), grade in last.items():
        if grade != UNJUDGEABLE:
            step = scales[assignment_id].index(grade)
            by_assessors.setdefault((query_id, page), []).append(step)
    return by_assessors, max((len(scale) for scale in scales.values()), default=0)


def as_preferences(answers: Sequence[ListVote], grades: Grades, depth: int) -> "ListPreferences":
    """Return the lists as grades by position; an open answer counts as "the same"."""
    from topkapi.analysis.dcglearn import (  # slow to import, and few studies need it
        ANSWERS,
        ListPreferences,
    )
    from topkapi.analysis.dcglearn.preferences import UNGRADED

    def graded(each: ListVote, pages: tuple[int, ...]) -> list[int]:
        return [grades.of.get((each.query_id, page), UNGRADED) for page in pages]

    return ListPreferences.of_lists(
        [graded(each, each.left) for each in answers],
        [graded(each, each.right) for each in answers],
        [0 if each.answer is None else ANSWERS[each.answer.value] for each in answers],
        n_grades=grades.n_grades,
        k=depth,
    )
