"""A study as arrays: the input of reports and consensus lists."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np

from topkapi.analysis.agreement import Scores, topk_scores
from topkapi.analysis.report import StudyData, ToolData
from topkapi.analysis.typing import FloatArray
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import GradePlan
from topkapi.app.domain.outcome import grades_given, outcome
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Result
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.services.results.exports.columns import JudgmentColumns, SessionColumns
from topkapi.app.services.results.exports.logs import AnswerColumns, answers_of, read_answers
from topkapi.app.services.results.exports.source import (
    AssignmentRecord,
    ExportedQuery,
    StudySource,
    team_of,
)

JUDGED = (Tool.PAIRS, Tool.GRADES)  # the tools that judge pages


def gather(
    source: StudySource,
    *,
    tools: Sequence[Tool] = JUDGED,
    logs: bool = True,
    people: Mapping[int, str] | None = None,
    query: str | None = None,
    by_id: bool = False,
) -> StudyData:
    """Return the study as arrays, without withdrawn work; only one ``query`` if it is named.

    Without ``logs``, only the labels of finished sessions are read. ``people`` are names to show by
    user; by default, names are those of exports. Queries are in the study's order, or ``by_id``.
    """
    at_work = queries.people_at_work(
        source.session, source.study.id, machines=source.machines or source.only is not None
    )
    ids = sorted(at_work, key=source.assessors.position)
    index = {user_id: number for number, user_id in enumerate(ids)}
    collected = {tool: _KINDS[tool](index, logs=logs) for tool in tools}
    names, texts, documents = [], [], []
    wanted = (head for head in source.queries(by_id=by_id) if query in (None, head.name))
    for number, head in enumerate(wanted):
        pages = _take_query(source, head, number, collected)
        names.append(head.name)
        texts.append(head.text)
        documents.append(tuple(pages.values()))
    return StudyData(
        name=source.study.name,
        assessors=tuple((people or {}).get(id, source.assessors.name(id)) for id in ids),
        queries=tuple(names),
        documents=tuple(documents),
        tools=tuple(each.data() for each in collected.values()),
        k=max((each.k for each in collected.values()), default=0) or source.study.settings.k,
        texts=tuple(texts),
    )


def _take_query(
    source: StudySource, query: ExportedQuery, number: int, collected: "Mapping[Tool, _Collected]"
) -> Mapping[int, str]:
    """Collect the work on a query; return its pages in the study's order."""
    works = [
        work
        for work in source.works(query, withdrawn=False, tool=None)
        if work.assignment.tool in collected
    ]
    if not works:
        return queries.document_names(source.session, query.number)
    pages = works[0].names
    page_index = {page: at for at, page in enumerate(pages)}
    logs = dict(read_answers(source.session, [work.assignment.id for work in works]))
    for work in works:
        answers = logs.get(work.assignment.id) or answers_of([])
        collected[work.assignment.tool].take(number, page_index, work, answers)
    for each in collected.values():
        each.end_query(number)
    return pages


class _Collected(ABC):
    """The data of one tool: labels by query, and optionally the logs.

    ``k`` is the largest of the finished lists: the setting of the study may have changed since.
    """

    tool: Tool

    def __init__(self, index: Mapping[int, int], *, logs: bool) -> None:
        self.k = 0
        self._index = index
        self._labels: dict[int, FloatArray] = {}  # of one query
        self._scores: list[Scores] = []
        self._sessions = SessionColumns()
        self._logs = logs

    @abstractmethod
    def take(
        self,
        query: int,
        page_index: Mapping[int, int],
        work: AssignmentRecord,
        answers: AnswerColumns,
    ) -> None:
        """Take one session; of several rounds of a person the last finished one gives labels."""

    def end_query(self, query: int) -> None:
        """Turn the labels of a query into an array, NaN where a page has none."""
        if self._labels:
            who = sorted(self._labels)
            values = np.stack([self._labels[each] for each in who])
            self._scores.append(Scores(query, np.array(who), values))
        self._labels.clear()

    def data(self) -> ToolData:
        """Return the labels, and the times if logs were requested."""
        return ToolData(
            self.tool.value,
            self.tool.label,
            scores=tuple(self._scores),
            timings=self._sessions.timings() if self._logs else None,
            sessions=self._sessions.sessions() if self._logs else None,
        )


class _Pairs(_Collected):
    """Lists as labels k + 1 - rank, equal for ties; and the answers with their sides."""

    tool = Tool.PAIRS

    def __init__(self, index: Mapping[int, int], *, logs: bool) -> None:
        super().__init__(index, logs=logs)
        self._judgments = JudgmentColumns()
        self._adjudicated = JudgmentColumns()
        self._listed: set[tuple[int, str]] = set()  # queries and teams whose list was taken
        self._teams: set[int] = set()

    def take(
        self,
        query: int,
        page_index: Mapping[int, int],
        work: AssignmentRecord,
        answers: AnswerColumns,
    ) -> None:
        """Take one session; of several rounds of a person the last finished one gives labels.

        Of adjudications only the finished ones count, and only their answers. The list of a team
        is that of its first member, so that nobody agrees with themselves.
        """
        assessor = self._index[work.assignment.user_id]
        if work.adjudicates:
            if work.assignment.finished_at is not None:
                self._adjudicated.take(assessor, query, page_index, answers)
            return
        plan = Plan.from_json(work.assignment.plan)
        conclusion = outcome(
            plan,
            answers.judgments(),
            undone=answers.undone,
            pending_question=work.assignment.pending_question,
        )
        if conclusion is not None and self._is_new(query, work):
            self._labels[assessor] = _list_labels(plan, conclusion, page_index)
            self.k = max(self.k, plan.k)
        if self._logs:
            self._judgments.take(assessor, query, page_index, answers)
            self._sessions.take(
                assessor,
                query,
                finished=conclusion is not None,
                n=len(plan.order),
                k=plan.k,
                bound=proven_bound(plan, answers),
                answers=answers,
            )

    def _is_new(self, query: int, work: AssignmentRecord) -> bool:
        """Return whether the list is not that of a team whose list was taken already."""
        team = team_of(work)
        if team is None:
            return True
        self._teams.add(query)
        is_new = (query, team) not in self._listed
        self._listed.add((query, team))
        return is_new

    def data(self) -> ToolData:
        """Return the labels, the answers with their sides, and the times."""
        return replace(
            super().data(),
            judgments=self._judgments.judgments() if self._logs else None,
            adjudicated=self._adjudicated.judgments(),
            teams=frozenset(self._teams),
        )


def _list_labels(plan: Plan, result: Result, page_index: Mapping[int, int]) -> FloatArray:
    """Return labels of all pages of a query; NaN for pages without a judgment.

    These could not be judged, or were not candidates then.
    """
    groups = [[page_index[item] for item in group] for group in result.groups]
    labels = topk_scores(groups, len(page_index), plan.k)
    judged = np.zeros(len(page_index), dtype=bool)
    judged[[page_index[item] for item in plan.order]] = True
    judged[[page_index[item] for item in result.unjudgeable]] = False
    labels[~judged] = nan
    return labels


class _Grades(_Collected):
    """Grades as numbers."""

    tool = Tool.GRADES

    def take(
        self,
        query: int,
        page_index: Mapping[int, int],
        work: AssignmentRecord,
        answers: AnswerColumns,
    ) -> None:
        """Take one session; of several rounds of a person the last finished one gives labels."""
        assessor = self._index[work.assignment.user_id]
        plan = GradePlan.from_json(work.assignment.plan)
        grades = grades_given(plan, answers.gradings())
        if grades is not None:
            labels = np.full(len(page_index), nan)
            labels[[page_index[page] for page in grades]] = list(grades.values())
            self._labels[assessor] = labels
        if self._logs:
            n, done = len(plan.order), grades is not None
            self._sessions.take(assessor, query, finished=done, n=n, bound=n, answers=answers)


_KINDS: Mapping[Tool, type[_Collected]] = {Tool.PAIRS: _Pairs, Tool.GRADES: _Grades}


def proven_bound(plan: Plan, answers: AnswerColumns) -> int | None:
    """Return the maximum number of answers: the sorter's bound plus the answered checks.

    None where no bound is proven: sampled questions, majority votes per pair, final passes.
    """
    sorter = SORTERS[plan.sorter]
    if sorter.sampled or plan.best_of > 1 or plan.recheck:
        return None
    return plan.most_questions + answers.checks
