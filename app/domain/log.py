"""The append-only log of a session, and the undo and redo stacks derived from it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Self, TypeVar

from topkapi.app.domain.errors import NothingToRedo, NothingToUndo

J = TypeVar("J")


class EntryKind(StrEnum):
    """The three kinds of log entries."""

    ANSWER = "answer"
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class Entry(Generic[J]):
    """One entry of a log; only an answer carries a judgment."""

    kind: EntryKind
    judgment: J | None = None


def answer(judgment: J) -> Entry[J]:
    """Return a log entry for an answer."""
    return Entry(EntryKind.ANSWER, judgment)


@dataclass(slots=True)
class UndoStacks(Generic[J]):
    """The effective answers (``done``), and the undone answers that can be redone.

    This is the only place with the rule of undo and redo: a new answer discards what was undone.
    """

    done: list[J] = field(default_factory=list)
    undone: list[J] = field(default_factory=list)

    def answer(self, judgment: J) -> J:
        """Make a new answer effective."""
        self.undone.clear()
        self.done.append(judgment)
        return judgment

    def undo(self) -> J:
        """Undo and return the last effective answer."""
        if not self.done:
            raise NothingToUndo("There is no answer to undo.")
        self.undone.append(self.done.pop())
        return self.undone[-1]

    def redo(self) -> J:
        """Make the answer that was undone last effective again, and return it."""
        if not self.undone:
            raise NothingToRedo("There is nothing to redo.")
        self.done.append(self.undone.pop())
        return self.done[-1]

    def copied(self) -> Self:
        """Return an independent copy."""
        return type(self)(list(self.done), list(self.undone))


def fold(log: Iterable[tuple[EntryKind, J]]) -> UndoStacks[J]:
    """Return the stacks after ``log``; the second part of an undo or redo is ignored."""
    stacks: UndoStacks[J] = UndoStacks()
    for kind, judgment in log:
        if kind is EntryKind.UNDO:
            stacks.undo()
        elif kind is EntryKind.REDO:
            stacks.redo()
        else:
            stacks.answer(judgment)
    return stacks


def stacks(log: Iterable[Entry[J]]) -> tuple[list[J], list[J]]:
    """Return the effective answers, and the undone answers that can be redone."""
    folded = fold((entry.kind, entry.judgment) for entry in log)
    return _judgments(folded.done), _judgments(folded.undone)


def effective(log: Iterable[Entry[J]]) -> list[J]:
    """Return the effective answers: those left after every undo and redo."""
    return stacks(log)[0]


def _judgments(stack: Iterable[J | None]) -> list[J]:
    return [judgment for judgment in stack if judgment is not None]
