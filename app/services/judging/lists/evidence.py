"""What a study has said of its lists, and what is known of the grades of their pages."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from topkapi.app.db.queries.judging import lists as queries
from topkapi.app.domain.grades.session import UNJUDGEABLE
from topkapi.app.domain.lists.session import ListAnswer
from topkapi.app.domain.log import Entry, effective

if TYPE_CHECKING:
    from topkapi.analysis.dcglearn import Preferences

PageOfQuery = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """Two lists of a query, best page first, and the answer; None where it is still open.

    ``rankings`` are the numbers of both.
    """

    query_id: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    answer: ListAnswer | None
    rankings: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Grades:
    """Grades of pages for queries, from 0; ``n_grades`` is how many steps there are."""

    of: Mapping[PageOfQuery, int]
    n_grades: int


def said_in_study(
    session: Session, study_id: int, depth: int, but: int | None = None
) -> list[SubmittedAnswer]:
    """Every answer about two lists that stands, without those of one assignment if named."""
    found: list[tuple[int, int, str]] = []
    rows = queries.list_logs_of_study(session, study_id)
    for assignment_id, log in groupby(rows, key=lambda row: row[0]):
        if assignment_id != but:
            found += effective(Entry(row[1], row[2:]) for row in log)
    lists = queries.rankings_by_id(session, {number for pair in found for number in pair[:2]})
    return [
        SubmittedAnswer(
            lists[left].query_id,
            tuple(lists[left].documents[:depth]),
            tuple(lists[right].documents[:depth]),
            ListAnswer(answer),
            (left, right),
        )
        for left, right, answer in found
    ]


def grades_of(session: Session, said: Sequence[SubmittedAnswer]) -> Grades:
    """The grades of the pages in these lists, as far as anybody knows them.

    They are those of the tool `grades`, of several assessors the middle one, the lower if even; a
    page without one has the grade that came with the study.
    """
    query_ids = {each.query_id for each in said}
    pages = {page for each in said for page in (*each.left, *each.right)}
    known = {(row[0], row[1]): row[2] for row in queries.known_grades(session, query_ids, pages)}
    given, steps = _given(session, query_ids, pages)
    known |= {page: sorted(all_)[(len(all_) - 1) // 2] for page, all_ in given.items()}
    return Grades(known, max(steps, max(known.values(), default=0) + 1, 2))


def _given(
    session: Session, query_ids: Collection[int], pages: Collection[int]
) -> tuple[dict[PageOfQuery, list[int]], int]:
    """The grades that assessors gave, and the length of their longest scale."""
    last: dict[tuple[int, int, int], str] = {}
    for assignment_id, query_id, page, grade in queries.graded_pages(session, query_ids, pages):
        last[assignment_id, query_id, page] = grade
    scales = queries.scales_of(session, {key[0] for key in last})
    given: dict[PageOfQuery, list[int]] = {}
    for (assignment_id, query_id, page), grade in last.items():
        if grade != UNJUDGEABLE:
            step = scales[assignment_id].index(grade)
            given.setdefault((query_id, page), []).append(step)
    return given, max((len(scale) for scale in scales.values()), default=0)


def as_preferences(said: Sequence[SubmittedAnswer], grades: Grades, depth: int) -> "Preferences":
    """The lists as grades by position; an open answer counts as the same."""
    from topkapi.analysis.dcglearn import (  # slow to import, and few studies need it
        ANSWERS,
        Preferences,
    )
    from topkapi.analysis.dcglearn.preferences import UNGRADED

    def graded(each: SubmittedAnswer, pages: tuple[int, ...]) -> list[int]:
        return [grades.of.get((each.query_id, page), UNGRADED) for page in pages]

    return Preferences.of_lists(
        [graded(each, each.left) for each in said],
        [graded(each, each.right) for each in said],
        [0 if each.answer is None else ANSWERS[each.answer.value] for each in said],
        n_grades=grades.n_grades,
        k=depth,
    )
