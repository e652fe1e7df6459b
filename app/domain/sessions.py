"""The judging tools by name, each with its class of sessions."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import UNJUDGEABLE, GradeSession
from topkapi.app.domain.lists.session import ListAnswer, ListSession
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.answers import Answer
from topkapi.app.domain.pairs.session import PairSession
from topkapi.app.domain.pairs.team_session import TeamSession
from topkapi.app.domain.session import AnySession, StoredJudgment

SESSIONS: Mapping[Tool, type[AnySession]] = {
    Tool.PAIRS: PairSession,
    Tool.GRADES: GradeSession,
    Tool.LISTS: ListSession,
}


def open_session(tool: Tool, plan: Mapping[str, Any]) -> AnySession:
    """Open a session without entries from a stored plan."""
    return (TeamSession if plan.get("together") else SESSIONS[tool]).open(plan)


def answer_name(tool: Tool, answer: str) -> str:
    """Return the name of an answer, as its button shows it."""
    if tool is Tool.GRADES:
        return "Cannot judge" if answer == UNJUDGEABLE else answer.capitalize()
    return (Answer(answer) if tool is Tool.PAIRS else ListAnswer(answer)).label


def asks_nothing(tool: Tool, plan: Mapping[str, Any]) -> bool:
    """Return whether a session of the plan is finished before its first question.

    The first question of a sampled sorter is slow to compute, so it is computed only if a target
    quality may be reached without any.
    """
    if tool is Tool.LISTS:
        return not plan["size"]
    few = len(plan["order"]) < (2 if tool is Tool.PAIRS else 1)
    return few or (plan.get("stop_at") is not None and not open_session(tool, plan).state.shown)


class StoredEntry(StoredJudgment, Protocol):
    """A row of the log."""

    @property
    def entry(self) -> EntryKind:
        """Whether the row is an answer, an undo or a redo."""


def read_log(tool: Tool, rows: Iterable[StoredEntry]) -> Iterator[Entry[Any]]:
    """Yield the entries that the rows of a log store."""
    from_row = SESSIONS[tool].from_row
    for row in rows:
        yield Entry(row.entry, from_row(row) if row.entry is EntryKind.ANSWER else None)
