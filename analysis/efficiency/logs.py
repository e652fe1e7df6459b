"""The answers of a log with the time each took."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

E = TypeVar("E")


@dataclass(slots=True)
class TimedAnswer(Generic[E]):
    """An answer, its time with undo and redo of it included, and whether it is effective."""

    row: E
    active_ms: int
    wall_ms: int
    effective: bool = False


def timed_answers(entries: Iterable[E]) -> list[TimedAnswer[E]]:
    """Return the answers of one session's log in their order, undone or not.

    An entry has ``entry`` (answer, undo or redo), ``active_ms`` and ``wall_ms``, be it a record of
    an export or a row of a database. An undo or redo has time of its own; it goes to the answer it
    was about, so that the time of a query loses nothing.

    >>> from collections import namedtuple
    >>> Entry = namedtuple("Entry", "entry active_ms wall_ms")
    >>> log = [Entry("answer", 5, 6), Entry("answer", 3, 3), Entry("undo", 1, 2)]
    >>> [(each.active_ms, each.wall_ms, each.effective) for each in timed_answers(log)]
    [(5, 6, True), (4, 5, False)]
    """
    answers: list[TimedAnswer[E]] = []
    done: list[TimedAnswer[E]] = []
    undone: list[TimedAnswer[E]] = []
    for each_row in entries:
        row: Any = each_row
        if row.entry == "answer":
            done.append(TimedAnswer(row, row.active_ms, row.wall_ms))
            answers.append(done[-1])
            undone.clear()
            continue
        giver, taker = (done, undone) if row.entry == "undo" else (undone, done)
        taker.append(giver.pop())
        taker[-1].active_ms += row.active_ms
        taker[-1].wall_ms += row.wall_ms
    for each in done:
        each.effective = True
    return answers
