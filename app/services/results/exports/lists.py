"""Preferences between rankings: `lists.jsonl`, and the data from which gains are learned."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from topkapi.analysis.data.exports import ListJudgment
from topkapi.analysis.dcglearn import ListPreferences
from topkapi.analysis.typing import IntArray
from topkapi.app.db.models import JudgmentRow
from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.lists.plan import ListPlan
from topkapi.app.domain.log import Entry, effective
from topkapi.app.services.judging.lists.evidence import answers_in_study, as_preferences, grades_of
from topkapi.app.services.results.exports.source import AssignmentRecord, StudySource


def list_answers(source: StudySource) -> Iterator[ListJudgment]:
    """Yield the effective answers of all sessions with lists."""
    for work, rows in source.all_logs(tool=Tool.LISTS):
        yield from session_list_answers(source, work, rows)


def session_list_answers(
    source: StudySource, work: AssignmentRecord, rows: list[JudgmentRow]
) -> Iterator[ListJudgment]:
    """Yield the effective answers of a session in log order."""
    plan = ListPlan.from_json(work.assignment.plan)
    heads = queries.document_heads(source.session, work.assignment.plan["order"])
    names = {head[0]: head[1] for head in heads}
    pages = {each.id: tuple(names[page] for page in each.documents) for each in plan.lists}
    systems = {each.id: each.system for each in plan.lists}
    for row in effective(Entry(row.entry, row) for row in rows):
        left, right = row.left_ranking_id, row.right_ranking_id
        assert left is not None
        assert right is not None
        assert row.answer is not None
        yield ListJudgment(
            query=work.query.name,
            left=pages[left],
            right=pages[right],
            answer=row.answer,
            left_system=systems[left],
            right_system=systems[right],
            assessor=work.assessor,
            round=work.assignment.round,
            active_ms=row.active_ms,
        )


@dataclass(frozen=True, slots=True)
class StudyPreferences:
    """Answers about graded lists, and for each the number of its query."""

    preferences: ListPreferences
    queries: IntArray


def preferences_of(session: Session, slug: str, k: int | None = None) -> StudyPreferences:
    """Return every effective answer with the grades of the study; raise Invalid if none.

    Lists are cut to depth ``k``, by default the depth that the study showed; a larger one is
    refused, because nobody saw what comes after it.
    """
    study = required_study(session, slug)
    shown = study.settings.k
    depth = shown if k is None else k
    if depth > shown:
        raise Invalid(
            f"{slug}: its lists were shown to position {shown}, so nothing can be learned about "
            f"position {depth}. Use --k {shown} or less.",
            field="k",
        )
    answers = answers_in_study(session, study.id, depth)
    if not answers:
        raise Invalid(f"{slug}: no lists have been compared yet.", field="study")
    grades = grades_of(session, answers)
    if not grades.of:
        raise Invalid(
            f"{slug}: no page of its lists has a grade. Have them graded with the tool 'grades', "
            "or import grades with the candidates.",
            field="study",
        )
    queries = np.array([each.query_id for each in answers], dtype=np.int64)
    return StudyPreferences(as_preferences(answers, grades, depth), queries)
