"""The verdict: the log in the database compared with the records of the clients."""

from collections import Counter
from dataclasses import asdict, dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from bench.faults.records import Logged, Pages, Record, logged
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Document, JudgmentRow
from topkapi.app.domain.errors import AppError
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.live_sessions import LiveSessions


@dataclass
class Verdict:
    """Violations by kind, each as a sentence; there should be none."""

    entries: int = 0
    acknowledged: int = 0
    imports: int = 0  # acknowledged
    jobs: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    not_shown: list[str] = field(default_factory=list)
    unreplayable: list[str] = field(default_factory=list)
    unended: list[str] = field(default_factory=list)  # jobs

    def violations(self) -> dict[str, list[str]]:
        """Return the kinds of violations that occurred."""
        return {
            name: found for name, found in asdict(self).items() if isinstance(found, list) and found
        }


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of the log, with pages by their names."""

    position: int
    what: Logged
    note: str | None


def judge(sessions: Sessions, records: list[Record]) -> Verdict:
    """Compare every log with its record."""
    verdict = Verdict()
    with sessions.read() as session:
        for record in records:
            judge_log(record, _rows(session, record.assignment_id), verdict)
            _replay(session, record, verdict)
    return verdict


def _rows(session: Session, assignment_id: int) -> list[Row]:
    left, right = aliased(Document), aliased(Document)
    statement = (
        select(JudgmentRow, left.external_id, right.external_id)
        .outerjoin(left, left.id == JudgmentRow.left_id)
        .outerjoin(right, right.id == JudgmentRow.right_id)
        .where(JudgmentRow.assignment_id == assignment_id)
        .order_by(JudgmentRow.position)
    )
    rows = []
    for row, *names in session.execute(statement):
        pages: Pages = tuple(name for name in names if name is not None)
        rows.append(Row(row.position, (row.entry.value, pages, row.answer), row.note))
    return rows


def judge_log(record: Record, rows: list[Row], verdict: Verdict) -> None:
    """Add to ``verdict`` the violations in the log of one assignment."""
    where = f"assignment {record.assignment_id}, entry"
    verdict.entries += len(rows)
    if [row.position for row in rows] != list(range(len(rows))):
        verdict.lost.append(f"{where}s have gaps or repeat: {[row.position for row in rows]}")
    log = {row.position: row for row in rows}
    for position, expected in record.acknowledged.items():
        verdict.acknowledged += 1
        if position not in log:
            verdict.lost.append(f"{where} {position}: acknowledged {expected}, not in the log")
        elif expected != {log[position].what}:
            verdict.changed.append(
                f"{where} {position}: {expected}, in the log {log[position].what}"
            )
    for row in rows:
        _judge_row(record, row, f"{where} {row.position}", verdict)
    notes = Counter(row.note for row in rows if row.note)
    twice = [note for note, count in notes.items() if count > 1]
    verdict.doubled += [f"{where} with {note!r} is in the log twice" for note in twice]


def _judge_row(record: Record, row: Row, where: str, verdict: Verdict) -> None:
    sent = [each for each in record.sent.get(row.position, ()) if logged(each) == row.what]
    if not sent:
        verdict.invented.append(f"{where}: nobody sent {row.what}")
    elif row.note not in {each.note for each in sent}:
        verdict.changed.append(f"{where}: the note {row.note!r} is not one of those sent")
    if row.what[1] and row.what[1] not in record.shown.get(row.position, ()):
        verdict.not_shown.append(f"{where}: {row.what[1]} was never shown at this position")


def _replay(session: Session, record: Record, verdict: Verdict) -> None:
    """Replay the assignment from its log alone; check that it asks the question shown last.

    The others of a team may have finished the query while a question was on the screen, and
    reopened it (by undo) after it was shown as finished.
    """
    assignment = session.get_one(Assignment, record.assignment_id)
    user_id = assignment.user_id
    try:
        now = labeling.assignment_state(
            session, LiveSessions(), assignment_id=record.assignment_id, user_id=user_id
        )
    except (AppError, ValueError, KeyError, IndexError, AssertionError) as error:
        verdict.unreplayable.append(f"assignment {record.assignment_id}: {error!r}")
        return
    names = [now.documents[number].name for number in now.state.shown]
    seen = record.shown.get(now.position, set())
    if assignment.plan.get("together", False):
        seen = {*seen, ()} if not names else seen - {()}
    if seen and now.is_stored and tuple(names) not in seen:
        verdict.unreplayable.append(
            f"assignment {record.assignment_id}: the log leads to {names}, the server showed {seen}"
        )
