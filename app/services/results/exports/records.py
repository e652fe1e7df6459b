"""Conversion of database rows to the records that exports write."""

from collections.abc import Iterator, Mapping, Sequence

from topkapi.analysis.data.exports import ClockEvent, LoggedEntry, PairAnswer, TopK
from topkapi.app.db.models import JudgmentRow, TimerEvent
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import GradePlan
from topkapi.app.domain.log import effective, fold, stacks
from topkapi.app.domain.outcome import grades_given, outcome
from topkapi.app.domain.pairs.answers import BAD_ANSWERS, Answer, ItemId, Judgment, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Result
from topkapi.app.domain.sessions import read_log
from topkapi.app.services.results.exports.source import AssignmentRecord

_PREFERENCE = {Answer.LEFT: "a", Answer.RIGHT: "b", Answer.TIE: "tie"}
_BESIDE = (QuestionKind.CHECK, QuestionKind.ATTENTION)
_OWN_FIELDS = frozenset({"order", "k", "sorter", "sorter_version", "seed", "gold"})


def topk_record(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> TopK:
    """Return the ground truth of a session with pairs, or its progress if unfinished."""
    stored, names = work.assignment.plan, work.names
    plan = Plan.from_json(stored)
    done, undone = stacks(read_log(work.assignment.tool, rows))
    conclusion = outcome(
        plan, done, undone=len(undone), pending_question=work.assignment.pending_question
    )
    result = conclusion or _so_far(plan, done)
    return TopK(
        study=work.study,
        query=work.query.name,
        assessor=work.assessor,
        round=work.assignment.round,
        complete=conclusion is not None,
        k=plan.k,
        ranking=_named(result.ranking, names),
        groups=tuple(_named(group, names) for group in result.groups),
        rest=_named(result.rest, names),
        bad=_named(result.bad, names),
        unjudgeable=_named(result.unjudgeable, names),
        sorter=plan.sorter,
        sorter_version=plan.sorter_version,
        seed=plan.seed,
        options={name: stored[name] for name in sorted(stored) if name not in _OWN_FIELDS},
        answered=len(done),
        entries=len(rows),
        active_ms=sum(row.active_ms for row in rows),
        wall_ms=sum(row.wall_ms for row in rows),
        begun_at=min((row.created_at for row in rows), default=None),
        finished_at=max(row.created_at for row in rows)
        if rows and conclusion is not None
        else None,
    )


def _so_far(plan: Plan, done: Sequence[Judgment]) -> Result:
    """Return the partial result of an unfinished session: only removed pages are known."""
    removed = [(each.removed, each.answer in BAD_ANSWERS) for each in done]
    bad = tuple(item for item, is_bad in removed if item is not None and is_bad)
    broken = tuple(item for item, is_bad in removed if item is not None and not is_bad)
    rest = tuple(item for item in plan.order if item not in {*bad, *broken})
    return Result((), (), rest, bad, broken)


def grades_of(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> dict[str, int] | None:
    """Return the grades of a finished session by page, from 0; None if unfinished."""
    plan = GradePlan.from_json(work.assignment.plan)
    found = grades_given(plan, effective(read_log(work.assignment.tool, rows)))
    return None if found is None else {work.names[page]: grade for page, grade in found.items()}


def log_records(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> Iterator[LoggedEntry]:
    """Yield every entry of a log, effective or undone."""
    effective_positions = _effective_positions(rows)
    graded = work.assignment.tool is Tool.GRADES
    for row in rows:
        left, right = _sides(work, row)
        yield LoggedEntry(
            study=work.study,
            query=work.query.name,
            assessor=work.assessor,
            tool=work.assignment.tool.value,
            round=work.assignment.round,
            withdrawn=work.withdrawn,
            void=work.assignment.voided_at is not None,
            position=row.position,
            entry=row.entry.value,
            kind=None if row.question_kind is None else row.question_kind.value,
            left=None if graded else left,
            right=right,
            document=left if graded else None,
            answer=row.answer,
            effective=row.position in effective_positions,
            active_ms=row.active_ms,
            wall_ms=row.wall_ms,
            note=row.note,
            at=row.created_at,
        )


def _sides(work: AssignmentRecord, row: JudgmentRow) -> tuple[str | None, str | None]:
    """Return the ids of the pages of an entry, or the systems of its two lists."""
    names, left, right = work.names, row.left_id, row.right_id
    if work.assignment.tool is Tool.LISTS:
        names = {each["id"]: each["system"] for each in work.assignment.plan["lists"]}
        left, right = row.left_ranking_id, row.right_ranking_id
    return (
        None if left is None else names.get(left),
        None if right is None else names.get(right),
    )


def preferences_in(rows: Sequence[JudgmentRow]) -> Iterator[tuple[int, int, str]]:
    """Yield left page, right page and a, b or tie of every effective answer to the sorter."""
    effective_positions = _effective_positions(rows)
    for row in rows:
        if row.position not in effective_positions or row.question_kind in _BESIDE:
            continue
        assert row.left_id is not None
        assert row.right_id is not None
        assert row.answer is not None
        preference = _PREFERENCE.get(Answer(row.answer))
        if preference is not None:
            yield row.left_id, row.right_id, preference


def pair_records(work: AssignmentRecord, rows: Sequence[JudgmentRow]) -> Iterator[PairAnswer]:
    """Yield every effective preference, by the ids of the pages."""
    names, query = work.names, work.query.name
    for left, right, preference in preferences_in(rows):
        yield PairAnswer(query, names[left], names[right], preference, work.assessor)


def clock_record(work: AssignmentRecord, event: TimerEvent) -> ClockEvent:
    """Return a clock event of a session as a record."""
    return ClockEvent(
        query=work.query.name,
        assessor=work.assessor,
        tool=work.assignment.tool.value,
        round=work.assignment.round,
        withdrawn=work.withdrawn,
        event=event.kind.value,
        reason=event.reason or "",
        active_ms=event.active_ms,
        at=event.created_at,
    )


def _effective_positions(rows: Sequence[JudgmentRow]) -> frozenset[int]:
    """Return the log positions of the effective answers."""
    return frozenset(fold((row.entry, row.position) for row in rows).done)


def _named(items: Sequence[ItemId], names: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(names[item] for item in items)
