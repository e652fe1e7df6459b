"""The append-only log of a session, and the undo and redo stacks derived from it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

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


def effective(log: Iterable[Entry[J]]) -> list[J]:
    """Return the effective answers: those left after every undo and redo."""
    return stacks(log)[0]


def stacks(log: Iterable[Entry[J]]) -> tuple[list[J], list[J]]:
    """Return the effective answers, and the undone answers that can be redone."""
    done: list[J] = []
    undone: list[J] = []
    for entry in log:
        if entry.kind is EntryKind.UNDO:
            undone.append(done.pop())
        elif entry.kind is EntryKind.REDO:
            done.append(undone.pop())
        else:
            assert entry.judgment is not None
            done.append(entry.judgment)
            undone.clear()
    return done, undone


class LoggedSession(ABC, Generic[J]):
    """A live session: it applies one entry at a time, or rejects it and stays unchanged.

    ``seen`` holds every page that was ever answered about, including undone answers.

    Only the log is stored; a session rebuilt from the same log is in the same state.
    """

    def __init__(self) -> None:
        self.length = 0
        self.last: Entry[J] | None = None
        self.seen: set[int] = set()
        self._done: list[J] = []
        self._undone: list[J] = []

    @abstractmethod
    def validate(self, judgment: J) -> None:
        """Raise if the answer is not to the current question or is not allowed by the study."""

    @abstractmethod
    def _take(self, judgment: J) -> None:
        """Advance by an answer that has become effective; it is the last of ``_done``."""

    @abstractmethod
    def _take_back(self, judgment: J) -> None:
        """Revert an answer that is no longer effective; it has been removed from ``_done``."""

    @property
    def trusts_log(self) -> bool:
        """Whether recorded answers are applied without validating them against the question."""
        return False

    @property
    def foresees(self) -> bool:
        """Whether the possible next questions are fast to compute, so a reply can include them."""
        return True

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes beyond that of any session of this length."""
        return 0

    @property
    def offered(self) -> dict[str, Any] | None:
        """Pending question to store beside the log, where it cannot be derived from the log."""
        return None

    def recall(self, offered: Mapping[str, Any] | None) -> None:
        """Restore the pending question from ``offered``.

        Most sessions derive their question from the log and ignore it.
        """

    @property
    def effective(self) -> Sequence[J]:
        """The effective answers."""
        return tuple(self._done)

    @property
    def answered(self) -> int:
        """Number of effective answers."""
        return len(self._done)

    @property
    def can_undo(self) -> bool:
        """Whether there is an answer to undo."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether an answer was undone and no new one given since."""
        return bool(self._undone)

    def append(self, entry: Entry[J], *, recorded: bool = False) -> None:
        """Apply one entry, or raise and stay unchanged.

        ``recorded``: the entry comes from the stored log.
        """
        if entry.kind is EntryKind.UNDO:
            self._undo()
        elif entry.kind is EntryKind.REDO:
            self._redo()
        else:
            assert entry.judgment is not None
            if not (recorded and self.trusts_log):
                self.validate(entry.judgment)
            self._undone.clear()
            self._make_effective(entry.judgment)
        self.length += 1
        self.last = entry

    def extend(self, log: Iterable[Entry[J]]) -> None:
        """Apply the entries of a stored log."""
        for entry in log:
            self.append(entry, recorded=True)

    def fork(self) -> Self:
        """Return an independent copy of the session in the same state."""
        twin = copy(self)
        twin.seen = set(self.seen)
        twin._done = list(self._done)
        twin._undone = list(self._undone)
        twin._unshare()
        return twin

    @abstractmethod
    def _unshare(self) -> None:
        """Copy the mutable state shared with the session that this one was copied from."""

    def _undo(self) -> None:
        if not self._done:
            raise NothingToUndo("There is no answer to undo.")
        judgment = self._done.pop()
        self._undone.append(judgment)
        self._take_back(judgment)

    def _redo(self) -> None:
        if not self._undone:
            raise NothingToRedo("There is nothing to redo.")
        self._make_effective(self._undone.pop())

    def _make_effective(self, judgment: J) -> None:
        self._done.append(judgment)
        self._take(judgment)
