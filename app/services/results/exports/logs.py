"""Logs by columns: how a report reads a million entries without an object for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from topkapi.analysis.efficiency.logs import timed_answers
from topkapi.app.db.queries.results import exports as queries
from topkapi.app.domain.grades.session import Grading
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import Answer, Judgment, QuestionKind
from topkapi.app.domain.timing import elapsed_ms

_KIND = {kind.value: kind for kind in QuestionKind} | {None: QuestionKind.SORT}
_ANSWER = {answer.value: answer for answer in Answer}
CHECK = QuestionKind.CHECK.value


@dataclass(slots=True)
class Answers:
    """The answers of a log, taken back or not, by columns; ``undone`` of them wait for a redo.

    Times are in milliseconds; that of an undo or redo is with the answer it was about. Kinds of
    questions and answers are the words that are stored.
    """

    kind: Sequence[str | None]
    left: Sequence[Any]
    right: Sequence[Any]
    answer: Sequence[str]
    active_ms: Sequence[int]
    wall_ms: Sequence[int]
    stands: Sequence[bool]
    undone: int = 0

    def __len__(self) -> int:
        return len(self.answer)

    def judgments(self) -> list[Judgment]:
        """The answers to pairs that stand."""
        columns = zip(self.kind, self.left, self.right, self.answer, self.stands, strict=True)
        return [
            Judgment(_KIND[kind], left, right, _ANSWER[answer])
            for kind, left, right, answer, stands in columns
            if stands
        ]

    def gradings(self) -> list[Grading]:
        """The grades that stand."""
        columns = zip(self.left, self.answer, self.stands, strict=True)
        return [Grading(page, grade) for page, grade, stands in columns if stands]

    @property
    def checks(self) -> int:
        """How many checks were answered, of the answers that stand."""
        pairs = zip(self.kind, self.stands, strict=True)
        return sum(stands and kind == CHECK for kind, stands in pairs)


class _Timed(NamedTuple):
    """What `timed_answers` needs of an entry, and where the entry stands."""

    entry: str
    active_ms: int
    wall_ms: int
    place: int


def answers_of(rows: Sequence[Sequence[Any]], waited_ms: int = 0) -> Answers:
    """The answers of one log from rows as `plain_logs` reads them.

    The log counts the wall time of the first answer from when the work was given out; days in a
    queue are no work, so here it is ``waited_ms``, the time since the clock first started, and the
    active time at least.
    """
    if not rows:
        return Answers((), (), (), (), (), (), ())
    _, entry, kind, left, right, answer, active, wall = zip(*rows, strict=True)
    first = max(active[0], min(wall[0], waited_ms))
    walls = (first, *wall[1:])
    if EntryKind.UNDO.value not in entry:
        return Answers(kind, left, right, answer, active, walls, (True,) * len(rows))
    log = map(_Timed, entry, active, walls, range(len(rows)))
    timed = timed_answers(log)
    places = [each.row.place for each in timed]
    return Answers(
        [kind[place] for place in places],
        [left[place] for place in places],
        [right[place] for place in places],
        [answer[place] for place in places],
        [each.active_ms for each in timed],
        [each.wall_ms for each in timed],
        [each.effective for each in timed],
        undone=_waiting(entry),
    )


def _waiting(entries: Sequence[str]) -> int:
    """How many answers a redo could bring back at the end of a log."""
    undone = 0
    for entry in entries:
        undone = 0 if entry == EntryKind.ANSWER else undone + (1 if entry == EntryKind.UNDO else -1)
    return undone


def read_answers(session: Session, assignment_ids: Sequence[int]) -> Iterator[tuple[int, Answers]]:
    """Each assignment of ``assignment_ids`` that has a log, with its answers."""
    starts = queries.first_starts(session, assignment_ids)
    firsts = queries.first_entries(session, assignment_ids)
    for number, rows in groupby(queries.plain_logs(session, assignment_ids), key=itemgetter(0)):
        yield number, answers_of(list(rows), _waited(starts.get(number), firsts[number]))


def _waited(begun_at: datetime | None, first_at: datetime) -> int:
    return 0 if begun_at is None else elapsed_ms(begun_at, first_at)
