"""Tool T3 at work: two rankings side by side, which one serves better, on five points.

The pairs of a session are fixed when its plan is made, or, where the most informative one is asked
next (`active`), offered one by one by whoever knows what the whole study has said. The pair asked
at a place of the session, once offered, stays there: through undo, redo, leaving and resuming.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from topkapi.app.domain.errors import OutOfTurn
from topkapi.app.domain.lists.plan import ListPlan, RankingId, ShownList, SidedPair, unordered
from topkapi.app.domain.log import Entry, LoggedSession
from topkapi.app.domain.pairs.answers import ItemId


class ListAnswer(StrEnum):
    """What a person can say about two rankings, as they stand on the screen."""

    LEFT_MUCH = "left_much"
    LEFT = "left"
    SAME = "same"
    RIGHT = "right"
    RIGHT_MUCH = "right_much"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two rankings as they were shown, and what was said of them."""

    left: RankingId
    right: RankingId
    answer: ListAnswer


@dataclass(frozen=True, slots=True)
class AskingLists:
    """The session waits for an answer about two rankings."""

    left: ShownList
    right: ShownList

    @property
    def documents(self) -> tuple[ItemId, ...]:
        """The pages on the screen, each once."""
        return tuple(dict.fromkeys((*self.left.documents, *self.right.documents)))


@dataclass(frozen=True, slots=True)
class Compared:
    """Every pair has its answer; undo reopens the session."""

    answers: tuple[Comparison, ...]


class ListSession(LoggedSession[Comparison]):
    """A plan and a log, alive; `append` an entry, read `state`, `offer` a pair where one is due."""

    def __init__(
        self,
        plan: ListPlan,
        log: Iterable[Entry[Comparison]] = (),
        offered: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.plan = plan
        self._lists = {each.id: each for each in plan.lists}
        self._asked: list[SidedPair] = [] if plan.is_active else plan.sided()
        self.extend(log)
        self.recall(offered)

    @property
    def state(self) -> AskingLists | Compared:
        """The two rankings that are asked about, or all answers."""
        if self.answered >= self.plan.size:
            return Compared(tuple(self._done))
        left, right = self._pair()
        return AskingLists(self._lists[left], self._lists[right])

    @property
    def ids(self) -> dict[str, RankingId]:
        """The numbers of the rankings by the systems that made them."""
        return {each.system: number for number, each in self._lists.items()}

    @property
    def asked(self) -> frozenset[SidedPair]:
        """The pairs this session asks or has asked, whichever way round."""
        return frozenset(unordered(pair) for pair in self._asked)

    @property
    def needs_pair(self) -> bool:
        """Whether the next pair is still to be chosen."""
        return self.answered == len(self._asked) and self.answered < self.plan.size

    @property
    def knows_next(self) -> bool:
        """Whether it is known already what follows the answer to the question that is open."""
        return min(self.answered + 1, self.plan.size - 1) < len(self._asked)

    def offer(self, pair: SidedPair) -> None:
        """Ask about ``pair`` next, on sides drawn for its place; it has not been asked before."""
        assert self.needs_pair
        assert unordered(pair) not in self.asked
        self._asked.append(self.plan.on_sides(pair, len(self._asked)))

    @property
    def offered(self) -> dict[str, Any] | None:
        """The last pair chosen and its place: to be stored with the log, which has the others."""
        if not self.plan.is_active or not self._asked:
            return None
        return {"after": len(self._asked) - 1, "pair": list(self._asked[-1])}

    def recall(self, offered: Mapping[str, Any] | None) -> None:
        """Ask at its place the pair that was ``offered``."""
        if offered is not None and self.plan.is_active and offered["after"] <= len(self._asked):
            left, right = offered["pair"]
            self._asked[offered["after"] :] = [(left, right)]

    @property
    def trusts_log(self) -> bool:
        """A chosen pair would come out otherwise today: what is recorded was asked."""
        return self.plan.is_active

    @property
    def foresees(self) -> bool:
        """The texts of the next lists have to be read first."""
        return False

    @property
    def nbytes(self) -> int:
        """The bytes of the rankings and of the pairs."""
        shown = sum(len(each.documents) for each in self.plan.lists)
        return 64 * shown + 200 * len(self.plan.pairs)

    def validate(self, judgment: Comparison) -> None:
        """Refuse an answer about other rankings than those on the screen."""
        state = self.state
        if not isinstance(state, AskingLists):
            raise OutOfTurn("This query is finished; no question is open.")
        if (judgment.left, judgment.right) != (state.left.id, state.right.id):
            raise OutOfTurn("This answer is about two lists that are not being asked now.")

    def _pair(self) -> SidedPair:
        """The pair at this place; if nobody has offered one, the first of the plan not asked."""
        if self.answered < len(self._asked):
            return self._asked[self.answered]
        free = next(pair for pair in self.plan.pairs if pair not in self.asked)
        return self.plan.on_sides(free, len(self._asked))

    def _take(self, judgment: Comparison) -> None:
        if len(self._done) > len(self._asked):
            self._asked.append((judgment.left, judgment.right))
        for number in (judgment.left, judgment.right):
            self.seen |= set(self._lists[number].documents)

    def _take_back(self, judgment: Comparison) -> None:
        """The pair stays at its place and is asked again."""

    def _part(self) -> None:
        self._asked = list(self._asked)
