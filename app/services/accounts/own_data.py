"""A person's own data as JSON: account, consent, training, jobs, and all work with its log."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session, aliased

from topkapi.app.db.models import (
    ApiToken,
    Assignment,
    CrowdWorker,
    Document,
    EntryLink,
    Flag,
    Highlight,
    Job,
    JudgmentRow,
    PracticeAnswer,
    PracticeItem,
    Query,
    Study,
    StudyAccess,
    TimerEvent,
    Training,
    User,
)
from topkapi.app.db.queries.assignments.manual_assignment import state_of
from topkapi.app.domain.enums import Tool

Record = Mapping[str, Any]
_BATCH = 100  # assignments read at a time


def own_data(session: Session, user: User) -> Iterator[str]:
    """Yield one JSON object in parts; at most a hundred assignments are in memory at a time."""
    head = {
        "account": _account(user),
        "consent": _consent(session, user.id),
        "tokens": _records(session, _tokens(user.id)),
        "studies": _records(session, _studies(user.id)),
        "training": _records(session, _trainings(user.id)),
        "practice_answers": _records(session, _practice(user.id)),
        "highlights": _records(session, _highlights(user.id)),
        "jobs": _records(session, _jobs(user.id)),
    }
    yield _text(head)[:-1] + ', "assignments": ['
    for number, work in enumerate(_work(session, user.id)):
        yield (",\n" if number else "\n") + _text(work)
    yield "\n]}\n"


def _account(user: User) -> Record:
    names = ("id", "email", "name", "role", "openid", "keys", "created_at", "disabled_at")
    return {name: getattr(user, name) for name in names}


def _consent(session: Session, user_id: int) -> Record | None:
    statement = (
        select(CrowdWorker, EntryLink.consent, EntryLink.consent_digest)
        .outerjoin(EntryLink, EntryLink.id == CrowdWorker.link_id)
        .where(CrowdWorker.user_id == user_id)
    )
    found = session.execute(statement).one_or_none()
    if found is None:
        return None
    worker, text, digest = found
    return {
        "platform": worker.platform,
        "worker_id": worker.worker_id,
        "consented_at": worker.consented_at,
        "text": text,
        "text_sha256": digest,
    }


def _tokens(user_id: int) -> Select[*tuple[Any, ...]]:
    times = (ApiToken.created_at, ApiToken.expires_at, ApiToken.last_used_at, ApiToken.revoked_at)
    columns = (ApiToken.name, ApiToken.scope, *times)
    return select(*columns).where(ApiToken.user_id == user_id).order_by(ApiToken.id)


def _studies(user_id: int) -> Select[*tuple[Any, ...]]:
    statement = select(Study.slug.label("study")).join(StudyAccess)
    return statement.where(StudyAccess.user_id == user_id).order_by(Study.id)


def _trainings(user_id: int) -> Select[*tuple[Any, ...]]:
    columns = (Training.confirmed_at, Training.passed_at, Training.agreed, Training.asked)
    statement = select(Study.slug.label("study"), *columns).join_from(
        Training, Study, Study.id == Training.study_id
    )
    return statement.where(Training.user_id == user_id).order_by(Study.id)


def _practice(user_id: int) -> Select[*tuple[Any, ...]]:
    columns = (PracticeAnswer.attempt, PracticeAnswer.answer, PracticeAnswer.created_at)
    statement = select(PracticeItem.external_id.label("question"), *columns).join_from(
        PracticeAnswer, PracticeItem, PracticeItem.id == PracticeAnswer.item_id
    )
    return statement.where(PracticeAnswer.user_id == user_id).order_by(PracticeAnswer.created_at)


def _highlights(user_id: int) -> Select[*tuple[Any, ...]]:
    statement = select(Query.external_id.label("query"), Highlight.terms).join_from(
        Highlight, Query, Query.id == Highlight.query_id
    )
    return statement.where(Highlight.user_id == user_id).order_by(Highlight.query_id)


def _jobs(user_id: int) -> Select[*tuple[Any, ...]]:
    columns = (Job.kind, Job.parameters, Job.state, Job.created_at, Job.finished_at)
    statement = select(Study.slug.label("study"), *columns).join_from(
        Job, Study, Study.id == Job.study_id
    )
    return statement.where(Job.created_by == user_id).order_by(Job.id)


def _work(session: Session, user_id: int) -> Iterator[Record]:
    last = 0
    while rows := _assignments(session, user_id, last):
        last = rows[-1][0].id
        ids = [row.id for row, *_ in rows]
        parts = {
            "judgments": _grouped(session, _judgments(ids)),
            "timer_events": _grouped(session, _timers(ids)),
            "flags": _grouped(session, _flags(ids)),
        }
        for row, query, text, slug, archived_at in rows:
            about = {"study": slug, "query": query, "query_text": text, "tool": row.tool}
            logs = {name: found.get(row.id, []) for name, found in parts.items()}
            if row.tool is Tool.LISTS:  # the systems behind the lists stay hidden
                logs["flags"] = [{**flag, "shown": []} for flag in logs["flags"]]
            if archived_at is None:  # whose answers are known stays hidden until the study ends
                logs["judgments"] = [
                    {**entry, "question_kind": None} for entry in logs["judgments"]
                ]
            yield {**about, **_times(row), **logs}


def _times(row: Assignment) -> Record:
    names = ("answered", "active_ms", "created_at", "finished_at", "withdrawn_at", "voided_at")
    return {
        "round": row.round,
        "round_number": row.round + 1,
        "state": state_of(row),
        **{name: getattr(row, name) for name in names},
    }


def _assignments(session: Session, user_id: int, after: int) -> Sequence[Row[*tuple[Any, ...]]]:
    statement = (
        select(Assignment, Query.external_id, Query.text, Study.slug, Study.archived_at)
        .join(Query, Query.id == Assignment.query_id)
        .join(Study, Study.id == Query.study_id)
        .where(Assignment.user_id == user_id, Assignment.id > after)
        .order_by(Assignment.id)
        .limit(_BATCH)
    )
    return session.execute(statement).all()


def _judgments(ids: Sequence[int]) -> Select[*tuple[Any, ...]]:
    left, right = aliased(Document), aliased(Document)
    names = ("position", "entry", "question_kind", "answer", "note", "active_ms", "wall_ms")
    return (
        select(
            JudgmentRow.assignment_id,
            *(getattr(JudgmentRow, name) for name in names),
            JudgmentRow.created_at,
            left.external_id.label("left"),
            right.external_id.label("right"),
            JudgmentRow.left_ranking_id.label("left_list"),
            JudgmentRow.right_ranking_id.label("right_list"),
        )
        .outerjoin(left, left.id == JudgmentRow.left_id)
        .outerjoin(right, right.id == JudgmentRow.right_id)
        .where(JudgmentRow.assignment_id.in_(ids))
        .order_by(JudgmentRow.assignment_id, JudgmentRow.position)
    )


def _timers(ids: Sequence[int]) -> Select[*tuple[Any, ...]]:
    columns = (TimerEvent.kind, TimerEvent.reason, TimerEvent.active_ms, TimerEvent.created_at)
    statement = select(TimerEvent.assignment_id, *columns)
    return statement.where(TimerEvent.assignment_id.in_(ids)).order_by(TimerEvent.id)


def _flags(ids: Sequence[int]) -> Select[*tuple[Any, ...]]:
    columns = (Flag.position, Flag.shown, Flag.reason, Flag.created_at, Flag.handled_at)
    statement = select(Flag.assignment_id, *columns)
    return statement.where(Flag.assignment_id.in_(ids)).order_by(Flag.id)


def _grouped(session: Session, statement: Select[*tuple[Any, ...]]) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for row in _records(session, statement):
        entry = dict(row)
        found.setdefault(entry.pop("assignment_id"), []).append(entry)
    return found


def _records(session: Session, statement: Select[*tuple[Any, ...]]) -> list[Record]:
    return [dict(row) for row in session.execute(statement).mappings()]


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
