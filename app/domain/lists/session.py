"""Sessions of tool T3: which of two rankings side by side is better, on a five-point scale.

The pairs of a session are fixed when its plan is made, or, where the most informative pair is asked
next (`active`), chosen one by one by the service, which knows the answers of the whole study. A
pair, once chosen, keeps its index in the session: through undo, redo, leaving and resuming.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from topkapi.app.domain.errors import OutOfTurn
from topkapi.app.domain.lists.plan import (
    ListPlan,
    RankingId,
    ShownList,
    SidedPair,
    hidden_name,
    unordered,
)
from topkapi.app.domain.log import Entry
from topkapi.app.domain.pairs.answers import ItemId, ShownAnswer
from topkapi.app.domain.session import (
    Choice,
    JudgingSession,
    Progress,
    SessionState,
    StoredJudgment,
    SubmittedAnswer,
)

R = TypeVar("R", RankingId, str)


_FAILS, _USEFUL = "The {} one would fail this person", "More useful, near the top"


class ListAnswer(ShownAnswer):
    """Possible answers about two rankings, as shown on the screen."""

    LEFT_MUCH = "left_much", "Left much better", _FAILS.format("right"), "strong_left"
    LEFT = "left", "Left better", _USEFUL, "left"
    SAME = "same", "The same", "No difference that matters", "tie"
    RIGHT = "right", "Right better", _USEFUL, "right"
    RIGHT_MUCH = "right_much", "Right much better", _FAILS.format("left"), "strong_right"


@dataclass(frozen=True, slots=True)
class ListComparison(Generic[R]):
    """Two rankings as they were shown, by number or by name, and the answer about them."""

    left: R
    right: R
    answer: ListAnswer


Judged = ListComparison[RankingId]


@dataclass(frozen=True, slots=True)
class AskingLists(SessionState):
    """The session waits for an answer about two rankings."""

    left: ShownList
    right: ShownList

    @property
    def shown(self) -> tuple[ItemId, ...]:
        """The distinct pages on the screen."""
        return tuple(dict.fromkeys((*self.left.documents, *self.right.documents)))


@dataclass(frozen=True, slots=True)
class ListsCompared(SessionState):
    """Every pair is answered; undo reopens the session."""

    answers: tuple[Judged, ...]


class ListSession(JudgingSession[Judged]):
    """A live session of a plan: `append` entries, read `state`, `ask` a pair when needed."""

    def __init__(
        self,
        plan: ListPlan,
        log: Iterable[Entry[Judged]] = (),
        pending_question: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.plan = plan
        self._lists = {each.id: each for each in plan.lists}
        self._asked: list[SidedPair] = [] if plan.is_active else plan.sided()
        self.extend(log)
        self.restore_pending(pending_question)

    @classmethod
    def open(cls, plan: Mapping[str, Any]) -> Self:
        """Open a session without entries from a stored plan."""
        return cls(ListPlan.from_json(plan))

    @property
    def state(self) -> AskingLists | ListsCompared:
        """The current question, or all answers."""
        if self.answered >= self.plan.size:
            return ListsCompared(tuple(self._done))
        left, right = self._pair()
        return AskingLists(self._lists[left], self._lists[right])

    @property
    def progress(self) -> Progress:
        """The exact progress: one answer per pair."""
        left = self.plan.size - self.answered
        return Progress(self.answered, left, left, left)

    @property
    def choices(self) -> Sequence[Choice]:
        """All answers as one choice, because any answer leads to the next pair.

        Empty if the next pair is chosen only after the answer.
        """
        state = self.state
        if not isinstance(state, AskingLists) or not self.knows_next:
            return ()
        answers = tuple(answer.value for answer in ListAnswer)
        return [Choice(answers, ListComparison(state.left.id, state.right.id, ListAnswer.SAME))]

    def judgment(self, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> Judged:
        """Build the answer about the two rankings shown."""
        answer = submitted.parsed(ListAnswer)
        if not isinstance(self.state, AskingLists):
            raise OutOfTurn("This query is finished; no question is open.")
        return ListComparison(*submitted.known_sides(ids), answer)

    @staticmethod
    def columns(judgment: Judged) -> dict[str, Any]:
        """Return the judgment as columns of its row."""
        return {
            "left_ranking_id": judgment.left,
            "right_ranking_id": judgment.right,
            "answer": judgment.answer.value,
        }

    @staticmethod
    def from_row(row: StoredJudgment) -> Judged:
        """Return the judgment stored in a row."""
        assert row.left_ranking_id is not None
        assert row.right_ranking_id is not None
        assert row.answer is not None
        return ListComparison(row.left_ranking_id, row.right_ranking_id, ListAnswer(row.answer))

    @staticmethod
    def matches(judgment: Judged, submitted: SubmittedAnswer, ids: Mapping[str, int]) -> bool:
        """Return whether ``submitted`` repeats a recorded judgment."""
        recorded = (judgment.left, judgment.right, judgment.answer.value)
        return recorded == (*submitted.sides(ids), submitted.answer)

    @property
    def list_ids(self) -> Mapping[str, RankingId]:
        """The ids of the rankings by hidden name; pages opened before an upgrade name systems."""
        names = {each.system: number for number, each in self._lists.items()}
        hidden = {hidden_name(self.plan.seed, name): number for name, number in names.items()}
        return {**names, **hidden}

    def choose_next(self, choose: Callable[[Any], SidedPair]) -> None:
        """Ask the pair that ``choose`` returns for this session, if none is known yet."""
        if self.needs_pair:
            self.ask(choose(self))

    @property
    def asked(self) -> frozenset[SidedPair]:
        """The pairs that this session asks or has asked, regardless of sides."""
        return frozenset(unordered(pair) for pair in self._asked)

    @property
    def needs_pair(self) -> bool:
        """Whether the next pair has yet to be chosen."""
        return self.answered == len(self._asked) and self.answered < self.plan.size

    @property
    def knows_next(self) -> bool:
        """Whether the pair after the current question is already known."""
        return min(self.answered + 1, self.plan.size - 1) < len(self._asked)

    def ask(self, pair: SidedPair) -> None:
        """Ask about ``pair`` next, on sides drawn for its index.

        The pair must not have been asked before.
        """
        assert self.needs_pair
        assert unordered(pair) not in self.asked
        self._asked.append(self.plan.on_sides(pair, len(self._asked)))

    @property
    def pending_question(self) -> dict[str, Any] | None:
        """The last chosen pair and its index, to store beside the log, which has the others."""
        if not self.plan.is_active or not self._asked:
            return None
        return {"after": len(self._asked) - 1, "pair": list(self._asked[-1])}

    def restore_pending(self, stored: Mapping[str, Any] | None) -> None:
        """Restore the chosen pair from its stored form at its index."""
        if stored is not None and self.plan.is_active and stored["after"] <= len(self._asked):
            left, right = stored["pair"]
            self._asked[stored["after"] :] = [(left, right)]

    @property
    def trusts_log(self) -> bool:
        """With `active` the choice is not reproducible, so recorded answers are trusted."""
        return self.plan.is_active

    @property
    def foresees(self) -> bool:
        """Never: the texts of the next lists must be read first."""
        return False

    @property
    def nbytes(self) -> int:
        """Approximate bytes of the rankings and of the pairs."""
        shown = sum(len(each.documents) for each in self.plan.lists)
        return 64 * shown + 200 * len(self.plan.pairs)

    def validate(self, judgment: Judged) -> None:
        """Raise if the answer is not about the two rankings on the screen."""
        state = self.state
        if not isinstance(state, AskingLists):
            raise OutOfTurn("This query is finished; no question is open.")
        if (judgment.left, judgment.right) != (state.left.id, state.right.id):
            raise OutOfTurn("This answer is about two lists that are not being asked now.")

    def _pair(self) -> SidedPair:
        """Return the current pair; if none was chosen, the first pair not asked."""
        if self.answered < len(self._asked):
            return self._asked[self.answered]
        free = next(pair for pair in self.plan.pairs if pair not in self.asked)
        return self.plan.on_sides(free, len(self._asked))

    def _take(self, judgment: Judged) -> None:
        if len(self._done) > len(self._asked):
            self._asked.append((judgment.left, judgment.right))
        for number in (judgment.left, judgment.right):
            self.seen |= set(self._lists[number].documents)

    def _take_back(self, judgment: Judged) -> None:
        """Do nothing: the pair keeps its index and is asked again."""

    def _unshare(self) -> None:
        self._asked = list(self._asked)
