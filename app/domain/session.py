"""The base class of judging sessions, and what every tool provides to the services.

A tool (T1 pairs, T2 grades, T3 lists) is one subclass of `JudgingSession`; the subclasses are
registered in `topkapi.app.domain.sessions`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, Self, TypeVar

from topkapi.app.domain.errors import AnswerNotAllowed, OutOfTurn
from topkapi.app.domain.log import Entry, EntryKind, UndoStacks

J = TypeVar("J")
A = TypeVar("A", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """An answer as submitted: pages (or systems) by name, and the value of the answer."""

    answer: str
    left: str | None = None
    right: str | None = None
    document: str | None = None

    def sides(self, ids: Mapping[str, int]) -> tuple[int | None, int | None]:
        """Return the ids of the left and the right item; None for unknown names."""
        return ids.get(self.left or ""), ids.get(self.right or "")

    def known_sides(self, ids: Mapping[str, int]) -> tuple[int, int]:
        """Return the ids of the left and the right item; refuse names unknown to the assignment."""
        left, right = self.sides(ids)
        if left is None or right is None:
            raise OutOfTurn("This answer is about a pair that is not being asked now.")
        return left, right

    def parsed(self, answers: type[A]) -> A:
        """Return the answer as a member of ``answers``, or refuse it."""
        try:
            return answers(self.answer)
        except ValueError:
            known = ", ".join(answers)
            raise AnswerNotAllowed(
                f"There is no answer {self.answer!r}. Use one of: {known}."
            ) from None


@dataclass(frozen=True, slots=True)
class Choice:
    """Answers that lead to the same next question, and one of them as a judgment.

    ``rare`` marks answers that are infrequent, and costly to prefetch because the sorter restarts
    without the page.
    """

    answers: tuple[str, ...]
    judgment: Any
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """Number of answers, expected number of questions left, and its 90 % range.

    ``quality`` is the expected quality of the list, where a session continues until it reaches
    ``goal``. ``exact``: the number left is known, not estimated.
    """

    answered: int
    expected_left: int
    low: int
    high: int
    quality: float | None = None
    goal: float | None = None
    exact: bool = False


class SessionState:
    """The open question or the result of a session; each tool has a class for either."""

    __slots__ = ()

    @property
    def shown(self) -> tuple[int, ...]:
        """The pages on the screen from left to right; none when the session is finished."""
        return ()


class StoredJudgment(Protocol):
    """The columns of a log row from which a judgment is read; each tool uses some of them."""

    @property
    def question_kind(self) -> Any:
        """Why the question was asked, a `QuestionKind` of T1."""

    @property
    def left_id(self) -> int | None:
        """The page on the left, or the only page."""

    @property
    def right_id(self) -> int | None:
        """The page on the right."""

    @property
    def left_ranking_id(self) -> int | None:
        """The ranking on the left."""

    @property
    def right_ranking_id(self) -> int | None:
        """The ranking on the right."""

    @property
    def answer(self) -> str | None:
        """The value of the answer."""


class JudgingSession(ABC, Generic[J]):
    """A live session: it applies one entry at a time, or rejects it and stays unchanged.

    ``seen`` holds every page that was ever answered about, including undone answers.

    Only the log is stored; a session rebuilt from the same log is in the same state.
    """

    def __init__(self) -> None:
        self.length = 0
        self.last: Entry[J] | None = None
        self.seen: set[int] = set()
        self._stacks: UndoStacks[J] = UndoStacks()

    @classmethod
    @abstractmethod
    def open(cls, plan: Mapping[str, Any]) -> Self:
        """Open a session without entries from a stored plan."""

    @property
    @abstractmethod
    def state(self) -> SessionState:
        """The open question, or the result."""

    @property
    @abstractmethod
    def progress(self) -> Progress:
        """How many questions are answered, and how many are left."""

    @property
    @abstractmethod
    def choices(self) -> Sequence[Choice]:
        """The possible answers, grouped by the next question that they lead to."""

    @abstractmethod
    def judgment(self, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> J:
        """Build the judgment about the items named by ``submitted``, which the person was shown.

        ``validate`` then checks whether it answers the open question.
        """

    @staticmethod
    @abstractmethod
    def columns(judgment: J) -> dict[str, Any]:
        """Return the judgment as columns of its row."""

    @staticmethod
    @abstractmethod
    def from_row(row: StoredJudgment) -> J:
        """Return the judgment stored in a row."""

    @staticmethod
    @abstractmethod
    def matches(judgment: J, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""

    @abstractmethod
    def validate(self, judgment: J) -> None:
        """Raise if the answer is not to the current question or is not allowed by the study."""

    @abstractmethod
    def _take(self, judgment: J) -> None:
        """Advance by an answer that has become effective; it is the last of ``_done``."""

    @abstractmethod
    def _take_back(self, judgment: J) -> None:
        """Revert an answer that is no longer effective; it has been removed from ``_done``."""

    @abstractmethod
    def _unshare(self) -> None:
        """Copy the mutable state shared with the session that this one was copied from."""

    @property
    def trusts_log(self) -> bool:
        """Whether recorded answers are applied without validating them against the question."""
        return False

    @property
    def slow(self) -> bool:
        """Whether the next question takes milliseconds to compute."""
        return False

    @property
    def foresees(self) -> bool:
        """Whether the possible next questions are fast to compute, so a reply can include them."""
        return True

    @property
    def foresees_rare(self) -> bool:
        """Whether what follows rare answers, undo and redo is fast enough to be prefetched."""
        return True

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes beyond that of any session of this length."""
        return 0

    @property
    def pending_question(self) -> dict[str, Any] | None:
        """The pending question to store beside the log, if it cannot be derived from the log."""
        return None

    def restore_pending(self, stored: Mapping[str, Any] | None) -> None:
        """Restore the pending question from its stored form.

        Most sessions derive their question from the log and ignore it.
        """

    def choose_next(self, choose: Callable[[Any], tuple[int, int]]) -> None:
        """Ask the pair that ``choose`` returns for this session, if the service must choose it."""

    @property
    def version(self) -> Any:
        """Value that differs if the state may differ, in sessions of one plan."""
        return self.length

    @property
    def open_pages(self) -> tuple[int, ...]:
        """The pages that an answer may be about."""
        return self.state.shown

    @property
    def waits(self) -> bool:
        """Whether there is no question now, although the work is not finished."""
        return False

    @property
    def share_left(self) -> int:
        """How many questions this person is expected to answer."""
        return self.progress.expected_left

    @property
    def list_ids(self) -> Mapping[str, int]:
        """The ids of the judged rankings by name; empty where pages are judged."""
        return {}

    def count_checks(self, before: tuple[int, int]) -> tuple[int, int]:
        """Return the checks and those that agreed; ``before``: as of the entry before the last."""
        return before

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
            self._take_back(self._stacks.undo())
        elif entry.kind is EntryKind.REDO:
            self._take(self._stacks.redo())
        else:
            assert entry.judgment is not None
            if not (recorded and self.trusts_log):
                self.validate(entry.judgment)
            self._take(self._stacks.answer(entry.judgment))
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
        twin._stacks = self._stacks.copied()
        twin._unshare()
        return twin

    @property
    def _done(self) -> list[J]:
        return self._stacks.done

    @property
    def _undone(self) -> list[J]:
        return self._stacks.undone


AnySession = JudgingSession[Any]
