"""A session at work: the log, its effective answers, and where they leave the contest.

State is the log. A session is rebuilt from it at any time; kept alive, it takes one entry in the
time of one question. Undo and redo are entries too: `effective` is two stacks.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.answers import (
    BAD_ANSWERS,
    UNJUDGEABLE_ANSWERS,
    Answer,
    Entry,
    EntryKind,
    ItemId,
    Judgment,
    Pair,
    Preference,
    Question,
    QuestionKind,
)
from app.domain.checks import due_check
from app.domain.contest import Contest, contest, sorted_pair
from app.domain.draws import draw_integer
from app.domain.errors import AnswerNotAllowed, NothingToRedo, NothingToUndo, OutOfTurn
from app.domain.milestones import Milestones
from app.domain.plan import Plan
from app.domain.sorting import ItemClass, Ranking


@dataclass(frozen=True, slots=True)
class Result:
    """Top-k ground truth: the ordered list, its ties, and what stands outside it.

    ``groups`` covers ``ranking`` and may reach beyond it: the last tie class is kept whole.
    """

    ranking: tuple[ItemId, ...]
    groups: tuple[ItemClass, ...]
    rest: tuple[ItemId, ...]
    bad: tuple[ItemId, ...]
    unjudgeable: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """The session waits for an answer to ``question``."""

    question: Question


@dataclass(frozen=True, slots=True)
class Finished:
    """The session has its result; undo reopens it."""

    result: Result


State = Asking | Finished


def effective(log: Iterable[Entry]) -> list[Judgment]:
    """The answers that stand after every undo and redo."""
    done: list[Judgment] = []
    undone: list[Judgment] = []
    for entry in log:
        if entry.kind is EntryKind.UNDO:
            undone.append(done.pop())
        elif entry.kind is EntryKind.REDO:
            done.append(undone.pop())
        else:
            assert entry.judgment is not None
            done.append(entry.judgment)
            undone.clear()
    return done


class Session:
    """A plan and a log, alive: `append` an entry, read `state`."""

    def __init__(self, plan: Plan, log: Iterable[Entry] = ()) -> None:
        self.plan = plan
        self.length = 0
        self.last: Entry | None = None
        self.seen: set[ItemId] = set()
        self._done: list[Judgment] = []
        self._undone: list[Judgment] = []
        self.milestones = Milestones()
        self._restart()
        for entry in log:
            self.append(entry)

    @property
    def state(self) -> State:
        """What is asked next, or the result."""
        if self._ranking is not None:
            return Finished(self._result(self._ranking))
        check = due_check(self.plan, self._done, self.milestones.sorted)
        return Asking(check or self._sort_question())

    @property
    def effective(self) -> tuple[Judgment, ...]:
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

    def append(self, entry: Entry) -> None:
        """Take one entry, or refuse it and stay as before."""
        if entry.kind is EntryKind.UNDO:
            self._undo()
        elif entry.kind is EntryKind.REDO:
            self._redo()
        else:
            assert entry.judgment is not None
            self.validate(entry.judgment)
            self._undone.clear()
            self._take(entry.judgment)
        self.length += 1
        self.last = entry

    def validate(self, judgment: Judgment) -> None:
        """Refuse an answer to another question, or one that the study does not offer."""
        state = self.state
        if not isinstance(state, Asking):
            raise OutOfTurn("This query is finished; no question is open.")
        if judgment.question != state.question:
            raise OutOfTurn("This answer is about a pair that is not being asked now.")
        if not self.plan.allows(judgment.answer):
            raise AnswerNotAllowed(
                f"This study does not offer the answer {judgment.answer.value!r}."
            )

    def _undo(self) -> None:
        if not self._done:
            raise NothingToUndo("No answer is left to take back.")
        taken_back = self._done.pop()
        self._undone.append(taken_back)
        self.milestones.forget_last(taken_back)
        if taken_back.kind is QuestionKind.SORT or taken_back.removed is not None:
            self._restart()

    def _redo(self) -> None:
        if not self._undone:
            raise NothingToRedo("Nothing was taken back since the last answer.")
        self._take(self._undone.pop())

    def _take(self, judgment: Judgment) -> None:
        self._done.append(judgment)
        self.seen |= {judgment.left, judgment.right}
        self.milestones.note(judgment)
        if judgment.removed is not None:
            self._restart()
        elif judgment.kind is QuestionKind.SORT:
            self._advance(_as_asked(judgment, self._pair))

    def _restart(self) -> None:
        """Begin again with the answers that stand and without the pages they take out."""
        removed = {item for judgment in self._done if (item := judgment.removed) is not None}
        recorded: dict[Pair, list[Preference]] = {}
        for judgment in self._done:
            if judgment.kind is QuestionKind.SORT and judgment.answer.is_preference:
                pair = sorted_pair((judgment.left, judgment.right))
                recorded.setdefault(pair, []).append(_as_asked(judgment, pair))
        items = [item for item in self.plan.order if item not in removed]
        self._contest: Contest = contest(self.plan, items, recorded)
        self._pair: Pair = (0, 0)
        self._ranking: Ranking | None = None
        self._advance(None)

    def _advance(self, preference: Preference | None) -> None:
        try:
            self._pair = (
                next(self._contest) if preference is None else self._contest.send(preference)
            )
        except StopIteration as stop:
            self._ranking = stop.value

    def _sort_question(self) -> Question:
        """The contest's pair on its sides: of every two questions one is turned, by the seed."""
        number = self.milestones.sorted
        turned = draw_integer(self.plan.seed, "sides", number // 2) + number & 1
        left, right = self._pair[::-1] if turned else self._pair
        return Question(QuestionKind.SORT, left, right)

    def _result(self, ranking: Ranking) -> Result:
        listed = [item for items in ranking for item in items]
        top = tuple(listed[: self.plan.k])
        bad = _removed_by(self._done, BAD_ANSWERS)
        unjudgeable = _removed_by(self._done, UNJUDGEABLE_ANSWERS)
        outside = {*top, *bad, *unjudgeable}
        return Result(
            ranking=top,
            groups=_covering(ranking, self.plan.k),
            rest=tuple(item for item in self.plan.order if item not in outside),
            bad=bad,
            unjudgeable=unjudgeable,
        )


def _as_asked(judgment: Judgment, pair: Pair) -> Preference:
    """The answer as a statement about ``pair`` rather than about left and right."""
    preference = judgment.answer.preference()
    return preference if judgment.left == pair[0] else preference.swapped()


def _removed_by(judgments: Iterable[Judgment], answers: frozenset[Answer]) -> tuple[ItemId, ...]:
    return tuple(
        item
        for judgment in judgments
        if judgment.answer in answers and (item := judgment.removed) is not None
    )


def _covering(ranking: Ranking, k: int) -> tuple[ItemClass, ...]:
    """The classes that hold the first ``k`` items."""
    groups: list[ItemClass] = []
    covered = 0
    for items in ranking:
        if covered >= k:
            break
        groups.append(items)
        covered += len(items)
    return tuple(groups)
