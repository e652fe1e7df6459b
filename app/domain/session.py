"""Tool T1 at work: where the answers that stand leave the contest.

State is the log. A session is rebuilt from it at any time; kept alive, it takes one entry in the
time of one question.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.answers import (
    BAD_ANSWERS,
    UNJUDGEABLE_ANSWERS,
    Answer,
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
from app.domain.errors import AnswerNotAllowed, OutOfTurn
from app.domain.log import Entry, LoggedSession
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


class PairSession(LoggedSession[Judgment]):
    """Tool T1 at work: a plan and a log, alive; `append` an entry, read `state`."""

    def __init__(self, plan: Plan, log: Iterable[Entry[Judgment]] = ()) -> None:
        super().__init__()
        self.plan = plan
        self.milestones = Milestones()
        self._restart()
        self.extend(log)

    @property
    def state(self) -> State:
        """What is asked next, or the result."""
        if self._ranking is not None:
            return Finished(self._result(self._ranking))
        check = due_check(self.plan, self._done, self.milestones.sorted)
        return Asking(check or self._sort_question())

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

    def _take_back(self, judgment: Judgment) -> None:
        self.milestones.forget_last(judgment)
        if judgment.kind is QuestionKind.SORT or judgment.removed is not None:
            self._restart()

    def _take(self, judgment: Judgment) -> None:
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
