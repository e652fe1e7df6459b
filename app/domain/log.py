"""The append-only log of a session, and the two stacks that undo and redo make of it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

from topkapi.app.domain.errors import NothingToRedo, NothingToUndo

J = TypeVar("J")


class EntryKind(StrEnum):
    """The three things a log can hold."""

    ANSWER = "answer"
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class Entry(Generic[J]):
    """One line of a log; only an answer carries a judgment."""

    kind: EntryKind
    judgment: J | None = None


def answer(judgment: J) -> Entry[J]:
    """An entry that answers a question."""
    return Entry(EntryKind.ANSWER, judgment)


def effective(log: Iterable[Entry[J]]) -> list[J]:
    """The answers that stand after every undo and redo."""
    return stacks(log)[0]


def stacks(log: Iterable[Entry[J]]) -> tuple[list[J], list[J]]:
    """The answers that stand, and those taken back that a redo would bring back."""
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
    """A session kept alive: it takes one entry at a time, or refuses it and stays as it was.

    ``seen`` holds every page an answer was ever given about, taken back or not.

    Nothing but the log is ever stored; a session built anew from the same log is the same session.
    """

    def __init__(self) -> None:
        self.length = 0
        self.last: Entry[J] | None = None
        self.seen: set[int] = set()
        self._done: list[J] = []
        self._undone: list[J] = []

    @abstractmethod
    def validate(self, judgment: J) -> None:
        """Refuse an answer to a question that is not asked, or one the study does not offer."""

    @abstractmethod
    def _take(self, judgment: J) -> None:
        """Go on from an answer that now stands; it is the last of ``_done``."""

    @abstractmethod
    def _take_back(self, judgment: J) -> None:
        """Go back behind an answer that no longer stands; it has left ``_done``."""

    @property
    def trusts_log(self) -> bool:
        """Whether recorded answers are taken without holding them against the question asked."""
        return False

    @property
    def foresees(self) -> bool:
        """Whether it is told quickly what follows each answer, so that a reply can wait for it."""
        return True

    @property
    def nbytes(self) -> int:
        """The bytes this session takes beyond what any of its length does, about."""
        return 0

    @property
    def offered(self) -> dict[str, Any] | None:
        """What is to be stored beside the log, where the next question is drawn at random."""
        return None

    def recall(self, offered: Mapping[str, Any] | None) -> None:
        """Ask what was ``offered`` when the log was this long; most sessions know it anyway."""

    @property
    def effective(self) -> Sequence[J]:
        """The answers that stand."""
        return tuple(self._done)

    @property
    def answered(self) -> int:
        """How many answers stand."""
        return len(self._done)

    @property
    def can_undo(self) -> bool:
        """Whether an answer is there to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether an answer was taken back and nothing said since."""
        return bool(self._undone)

    def append(self, entry: Entry[J], *, recorded: bool = False) -> None:
        """Take one entry, or refuse it and stay as before; ``recorded``: the log has it already."""
        if entry.kind is EntryKind.UNDO:
            self._undo()
        elif entry.kind is EntryKind.REDO:
            self._redo()
        else:
            assert entry.judgment is not None
            if not (recorded and self.trusts_log):
                self.validate(entry.judgment)
            self._undone.clear()
            self._stand(entry.judgment)
        self.length += 1
        self.last = entry

    def extend(self, log: Iterable[Entry[J]]) -> None:
        """Take the entries of a log."""
        for entry in log:
            self.append(entry, recorded=True)

    def fork(self) -> Self:
        """A session at the same place that can go on without this one."""
        twin = copy(self)
        twin.seen = set(self.seen)
        twin._done = list(self._done)
        twin._undone = list(self._undone)
        twin._part()
        return twin

    @abstractmethod
    def _part(self) -> None:
        """Let go of what is shared with the session this one was copied from."""

    def _undo(self) -> None:
        if not self._done:
            raise NothingToUndo("No answer is left to take back.")
        judgment = self._done.pop()
        self._undone.append(judgment)
        self._take_back(judgment)

    def _redo(self) -> None:
        if not self._undone:
            raise NothingToRedo("Nothing was taken back since the last answer.")
        self._stand(self._undone.pop())

    def _stand(self, judgment: J) -> None:
        self._done.append(judgment)
        self._take(judgment)
