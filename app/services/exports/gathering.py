"""A study as arrays: what reports and consensus lists are counted from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import nan

import numpy as np

from analysis.agreement import Scores
from analysis.data.exports import TopK
from analysis.report import StudyData, ToolData
from analysis.report.lists import list_scores
from app.db.models import JudgmentRow
from app.db.queries import exports as queries
from app.domain.answers import QuestionKind
from app.domain.plan import Plan
from app.domain.sorting import SORTERS
from app.domain.study import StudySettings
from app.domain.words import Tool
from app.services.exports.columns import (
    Answers,
    JudgmentColumns,
    SessionColumns,
    answers_of,
)
from app.services.exports.records import grades_of, topk_record
from app.services.exports.source import QueryHead, StudySource, Work

TITLES = {Tool.PAIRS: "T1 pairs", Tool.GRADES: "T2 grades"}


def gather(
    source: StudySource,
    *,
    tools: Sequence[Tool] = tuple(TITLES),
    logs: bool = True,
    people: Mapping[int, str] | None = None,
) -> StudyData:
    """The study as arrays, withdrawn work left out; without ``logs`` the finished labels alone.

    ``people`` are names to show by user; without them everyone is called as in exports.
    """
    at_work = queries.people_at_work(source.session, source.study.id)
    ids = sorted(at_work, key=source.assessors.place)
    index = {user_id: number for number, user_id in enumerate(ids)}
    found = {tool: _KINDS[tool](index, logs=logs) for tool in tools}
    names, texts, documents = [], [], []
    for number, query in enumerate(source.queries()):
        pages = _take_query(source, query, number, found)
        names.append(query.name)
        texts.append(query.text)
        documents.append(tuple(pages.values()))
    return StudyData(
        name=source.study.name,
        assessors=tuple((people or {}).get(id, source.assessors.name(id)) for id in ids),
        queries=tuple(names),
        documents=tuple(documents),
        tools=tuple(each.data() for each in found.values()),
        k=max((each.k for each in found.values()), default=0)
        or StudySettings.from_json(source.study.settings).k,
        texts=tuple(texts),
    )


def _take_query(
    source: StudySource, query: QueryHead, number: int, found: "Mapping[Tool, _Collected]"
) -> Mapping[int, str]:
    """Take the work on a query; return its pages in the study's order."""
    works = [
        work
        for work in source.works(query, withdrawn=False, tool=None)
        if work.assignment.tool in found
    ]
    if not works:
        return queries.document_names(source.session, query.number)
    pages = works[0].names
    place = {page: at for at, page in enumerate(pages)}
    starts = queries.first_starts(source.session, [work.assignment.id for work in works])
    for work, rows in source.with_logs(works):
        begun_at = starts.get(work.assignment.id)
        found[work.assignment.tool].take(number, place, work, rows, begun_at)
    for each in found.values():
        each.end_query(number, pages)
    return pages


class _Collected:
    """What one tool collected: labels by query, and, if wanted, the logs.

    ``k`` is the greatest of the finished lists: a study's setting may have changed since.
    """

    tool: Tool

    def __init__(self, index: Mapping[int, int], *, logs: bool) -> None:
        self.k = 0
        self._index = index
        self._scores: list[Scores] = []
        self._judgments = JudgmentColumns()
        self._sessions = SessionColumns()
        self._logs = logs

    def take(
        self,
        query: int,
        place: Mapping[int, int],
        work: Work,
        rows: Sequence[JudgmentRow],
        begun_at: datetime | None,
    ) -> None:
        """Take one session; of several rounds of a person the last finished one gives labels."""
        finished = self._label(work, rows)
        if self._logs:
            self._take_log(query, place, work, answers_of(rows, begun_at), finished)

    def end_query(self, query: int, pages: Mapping[int, str]) -> None:
        """Turn the labels of a query into an array."""
        raise NotImplementedError

    def data(self) -> ToolData:
        """Everything taken."""
        raise NotImplementedError

    def _label(self, work: Work, rows: Sequence[JudgmentRow]) -> bool:
        raise NotImplementedError

    def _take_log(
        self,
        query: int,
        place: Mapping[int, int],
        work: Work,
        answers: Answers,
        finished: bool,
    ) -> None:
        raise NotImplementedError

    def _assessor(self, work: Work) -> int:
        return self._index[work.assignment.user_id]


class _Pairs(_Collected):
    tool = Tool.PAIRS

    def __init__(self, index: Mapping[int, int], *, logs: bool) -> None:
        super().__init__(index, logs=logs)
        self._lists: dict[int, TopK] = {}

    def _label(self, work: Work, rows: Sequence[JudgmentRow]) -> bool:
        record = topk_record(work, rows)
        if record.complete:
            self._lists[self._assessor(work)] = record
            self.k = max(self.k, record.k)
        return record.complete

    def end_query(self, query: int, pages: Mapping[int, str]) -> None:
        """The lists as labels k + 1 - rank, ties alike, NaN where a page was no candidate then."""
        lists = list(self._lists.values())
        people = {record.assessor: number for number, record in self._lists.items()}
        place = {name: at for at, name in enumerate(pages.values())}
        names = {record.query: 0 for record in lists}
        made = list_scores(lists, names, people, [place])
        self._scores += [replace(each, query=query) for each in made]
        self._lists.clear()

    def _take_log(
        self,
        query: int,
        place: Mapping[int, int],
        work: Work,
        answers: Answers,
        finished: bool,
    ) -> None:
        plan = Plan.from_json(work.assignment.plan)
        assessor = self._assessor(work)
        self._judgments.take(assessor, query, place, answers)
        self._sessions.take(
            assessor,
            query,
            finished=finished,
            n=len(plan.order),
            k=plan.k,
            bound=proven_bound(plan, answers),
            answers=answers,
        )

    def data(self) -> ToolData:
        """The lists, the answers with their sides, the times."""
        return ToolData(
            self.tool.value,
            TITLES[self.tool],
            scores=tuple(self._scores),
            judgments=self._judgments.judgments() if self._logs else None,
            timings=self._sessions.timings() if self._logs else None,
            sessions=self._sessions.sessions() if self._logs else None,
        )


class _Grades(_Collected):
    tool = Tool.GRADES

    def __init__(self, index: Mapping[int, int], *, logs: bool) -> None:
        super().__init__(index, logs=logs)
        self._grades: dict[int, dict[str, int]] = {}

    def _label(self, work: Work, rows: Sequence[JudgmentRow]) -> bool:
        grades = grades_of(work, rows)
        if grades is not None:
            self._grades[self._assessor(work)] = grades
        return grades is not None

    def end_query(self, query: int, pages: Mapping[int, str]) -> None:
        """The grades as numbers, NaN where a page has none."""
        if self._grades:
            who = sorted(self._grades)
            given = [[self._grades[each].get(name, nan) for name in pages.values()] for each in who]
            self._scores.append(Scores(query, np.array(who), np.array(given, dtype=float)))
        self._grades.clear()

    def _take_log(
        self,
        query: int,
        _place: Mapping[int, int],
        work: Work,
        answers: Answers,
        finished: bool,
    ) -> None:
        n = len(work.assignment.plan["order"])
        self._sessions.take(
            self._assessor(work), query, finished=finished, n=n, bound=n, answers=answers
        )

    def data(self) -> ToolData:
        """The grades and the times."""
        return ToolData(
            self.tool.value,
            TITLES[self.tool],
            scores=tuple(self._scores),
            timings=self._sessions.timings() if self._logs else None,
            sessions=self._sessions.sessions() if self._logs else None,
        )


_KINDS: Mapping[Tool, type[_Collected]] = {Tool.PAIRS: _Pairs, Tool.GRADES: _Grades}


def proven_bound(plan: Plan, answers: Answers) -> int | None:
    """The most answers the session can hold: its sorter's bound and the checks asked beside it.

    None where nothing is proven: sampled questions, majorities of a pair, passes at the end.
    """
    sorter = SORTERS[plan.sorter]
    if sorter.sampled or plan.best_of > 1 or plan.recheck:
        return None
    checks = sum(each.stands and each.row.question_kind is QuestionKind.CHECK for each in answers)
    return sorter.bound(len(plan.order), plan.k) + checks
