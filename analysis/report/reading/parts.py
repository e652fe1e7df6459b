"""Answers, lists, logs and grades of files, joined to a study."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from topkapi.analysis.agreement import Judgments
from topkapi.analysis.data.exports import Label, TopK
from topkapi.analysis.report.reading.indices import Indices
from topkapi.analysis.report.reading.lists import list_scores
from topkapi.analysis.report.reading.logs import Key, Log, effort_of_log, grade_scores, graded_pages
from topkapi.analysis.report.study import StudyData, ToolData


class Row(NamedTuple):
    """One answer of a file; ``answer`` is 1 for ``a``, -1 for ``b``, 0 for a tie."""

    query: str
    a: str
    b: str
    answer: int
    assessor: str


@dataclass(frozen=True, slots=True)
class Parts:
    """Content of files: answers in order, finished lists, logs, and grades by assessor."""

    rows: Sequence[Row]
    lists: Sequence[TopK]
    log: Log
    grades: Mapping[str, Sequence[Label]]

    @property
    def labels(self) -> list[Label]:
        """The grades of everyone."""
        return list(chain.from_iterable(self.grades.values()))


def study_of(parts: Parts, name: str, *, sides: bool = False, k: int | None = None) -> StudyData:
    """Make a study with a tool for pairs and one for grades, at least one of them filled."""
    indices = _indices(parts)
    pairs, grades = _pairs_tool(parts, indices, sides), _grades_tool(parts, indices)
    tools = tuple(tool for tool in (pairs, grades) if tool is not None)
    length = k or max((each.k for each in parts.lists), default=0) or None
    ids = tuple(tuple(each) for each in indices.documents)
    return StudyData(name, tuple(indices.assessors), tuple(indices.queries), ids, tools, length)


def _indices(parts: Parts) -> Indices:
    named = ([each.query for each in part] for part in (parts.rows, parts.lists, parts.labels))
    queries = _numbered(sorted({*chain.from_iterable(named), *(key[1] for key in parts.log)}))
    people = {row.assessor for row in parts.rows} | {each.assessor for each in parts.lists}
    people |= {*parts.grades, *(key[2] for key in parts.log)}
    documents: list[set[str]] = [set() for _ in queries]
    for row in parts.rows:
        documents[queries[row.query]].update((row.a, row.b))
    for each in parts.lists:
        documents[queries[each.query]].update((*each.labels(), *each.unjudgeable))
    for label in parts.labels:
        documents[queries[label.query]].add(label.document)
    for key, pages in graded_pages(parts.log).items():
        documents[queries[key[1]]].update(pages)
    index = [_numbered(sorted(ids)) for ids in documents]
    return Indices(queries, _numbered(sorted(people)), index)


def _pairs_tool(parts: Parts, indices: Indices, sides: bool) -> ToolData | None:
    ended: dict[Key, int] = {
        ("pairs", each.query, each.assessor, each.round): each.k for each in parts.lists
    }
    effort = effort_of_log(parts.log, "pairs", ended, indices)
    if not (parts.rows or parts.lists or effort):
        return None
    sessions, timings = effort or (None, None)
    scores = list_scores(parts.lists, indices)
    asked = _judgments(parts.rows, indices) if parts.rows else None
    return ToolData("pairs", "Pairs", scores, asked, sides, timings, sessions)


def _judgments(rows: Sequence[Row], indices: Indices) -> Judgments:
    queries, index = indices.queries, indices.documents
    return Judgments.of(
        assessor=[indices.assessors[row.assessor] for row in rows],
        query=[queries[row.query] for row in rows],
        left=[index[queries[row.query]][row.a] for row in rows],
        right=[index[queries[row.query]][row.b] for row in rows],
        answer=[row.answer for row in rows],
    )


def _grades_tool(parts: Parts, indices: Indices) -> ToolData | None:
    """Make the grades tool.

    A session in which every page of the query has a grade is finished.
    """
    ended = {
        key: 0
        for key, pages in graded_pages(parts.log).items()
        if pages == set(indices.documents[indices.queries[key[1]]])
    }
    effort = effort_of_log(parts.log, "grades", ended, indices)
    if not (parts.grades or effort):
        return None
    sessions, timings = effort or (None, None)
    scores = grade_scores(parts.grades, indices)
    return ToolData("grades", "Grades", scores, timings=timings, sessions=sessions)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}
