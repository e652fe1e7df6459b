"""``judgments.jsonl``: the whole log of every session, one entry per line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from topkapi.analysis.data.exports.codec import json_lines, read_json_lines
from topkapi.analysis.data.exports.rounds import InRound


@dataclass(frozen=True, slots=True)
class LoggedEntry(InRound):
    """One entry of a session's log.

    ``entry`` is answer, undo or redo; undo and redo carry no question. ``kind`` is sort,
    check or attention; ``left`` and ``right`` are the pages as shown on the screen (pairs),
    ``document`` the page that was graded (grades). ``effective``: the answer is not
    undone at the end of the log; ``withdrawn``: an administrator withdrew the session.
    """

    study: str
    query: str
    assessor: str
    tool: str
    round: int
    withdrawn: bool
    position: int
    entry: str
    kind: str | None
    left: str | None
    right: str | None
    document: str | None
    answer: str | None
    effective: bool
    active_ms: int
    wall_ms: int
    note: str | None
    at: datetime


def judgment_lines(records: Iterable[LoggedEntry]) -> Iterator[str]:
    """Yield the lines of ``judgments.jsonl``."""
    return json_lines(records)


def read_judgments(path: str | Path) -> list[LoggedEntry]:
    """Read ``judgments.jsonl``, plain or gzip."""
    return read_json_lines(path, LoggedEntry)
