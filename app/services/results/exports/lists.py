"""Preferences between rankings: the content of `lists.jsonl`."""

from collections.abc import Iterator

from topkapi.analysis.data.exports import ListJudgment, list_lines
from topkapi.app.db.models import JudgmentRow
from topkapi.app.db.queries.judging import labeling as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.plan import ListPlan
from topkapi.app.domain.log import Entry, effective
from topkapi.app.services.results.exports.source import AssignmentRecord, StudySource


def list_preferences(source: StudySource) -> Iterator[str]:
    """Return the lines of `lists.jsonl`."""
    return list_lines(list_answers(source))


def list_answers(source: StudySource) -> Iterator[ListJudgment]:
    """Yield the effective answers of all sessions with lists."""
    for work, rows in source.all_logs(tool=Tool.LISTS):
        yield from _answers(source, work, rows)


def _answers(
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
