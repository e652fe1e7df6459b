"""The strategy of a team: one posterior over the answers of several people."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from topkapi.app.domain.pairs.answers import Judgment, Pair, QuestionKind, removed_by
from topkapi.app.domain.pairs.confidence import ErrorModel, ErrorWeights
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.error_prior import ErrorPrior, usual_priors
from topkapi.app.domain.pairs.robust.sampled import next_pair
from topkapi.app.domain.pairs.robust.sorter import Answered, Event, Removed, RobustSorter
from topkapi.app.domain.pairs.robust.strategy import RobustStrategy
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step

TeamAnswer = tuple[int, Judgment]  # the index of the member, and the answer


@dataclass(frozen=True, slots=True)
class TeamDone(Done):
    """The list of a team, with the error model of each member, and what is stored of it."""

    members: tuple[ErrorModel, ...] = ()
    errors: tuple[list[list[float]], ...] = ()

    def of(self, member: int) -> "TeamDone":
        """Return it with the error model of a member."""
        assert self.confidence is not None
        return replace(self, confidence=replace(self.confidence, error_model=self.members[member]))


class TeamStrategy(RobustStrategy):
    """The answers of all members in the order in which they became effective.

    Alone, without `join`, it is a team of one. ``leased`` are the pairs that are open on the
    screens of others.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._members: list[int] = []  # whose each answer is
        self._me = 0
        self.leased: frozenset[Pair] = frozenset()

    def join(
        self,
        given: Sequence[TeamAnswer],
        me: int,
        priors: Sequence[ErrorWeights | None],
        leased: Collection[Pair],
    ) -> None:
        """Continue from ``given``, all effective answers of the team, as its member ``me``.

        ``priors`` has what the study says about the errors of each member, if anything.
        """
        usual = usual_priors(len(priors))
        self._use_priors([usual[0] if each is None else ErrorPrior.of(each) for each in priors])
        self._me, self.leased = me, frozenset(leased)
        self._members = [member for member, _ in given]
        self._answers = [judgment for _, judgment in given]
        self._count_asked()

    def use_prior(self, prior: ErrorWeights) -> None:
        """Start from a prior of this member."""
        priors = list(self._rules.priors)
        priors[self._me] = ErrorPrior.of(prior)
        self._use_priors(priors)

    def _use_priors(self, priors: Sequence[ErrorPrior]) -> None:
        if tuple(priors) != self._rules.priors:
            self._rules, self._sorter = replace(self._rules, priors=tuple(priors)), None

    def lend(self) -> RobustSorter | None:
        """Give away the sorter, for other members to start from; it is opened again if needed."""
        sorter, self._sorter = self._sorter, None
        return sorter

    def borrow(self, sorter: RobustSorter) -> None:
        """Start from a copy of a sorter of the same team; it may have other answers."""
        if sorter.priors == self._rules.priors:
            self._sorter = sorter.fork()

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:  # noqa: ARG002 (of every strategy)
        """Add an answer of this member."""
        self._answers.append(judgment)
        self._members.append(self._me)
        self._count_asked()

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:  # noqa: ARG002 (of every strategy)
        """Remove the last answer of this member."""
        last = len(self._members) - 1 - self._members[::-1].index(self._me)
        assert self._answers[last] == judgment
        del self._answers[last], self._members[last]
        self._count_asked()

    def _count_asked(self) -> None:
        self._asked = sum(each.kind is QuestionKind.SORT for each in self._answers)

    @property
    def answered(self) -> int:
        """The number of effective answers of the team."""
        return len(self._answers)

    @property
    def people(self) -> int:
        """The number of members."""
        return len(self._rules.priors)

    def is_open(self, pair: Pair) -> bool:
        """Return whether the pair may be asked: not on another screen, nor asked too often."""
        here = set(pair)
        times = sum(here == {each.left, each.right} for each in self._answers)
        gone = {item for items in removed_by(self._answers) for item in items}
        return times < self._plan.pair_limit and not here & gone and not self._is_leased(pair)

    def _is_leased(self, pair: Pair) -> bool:
        return pair in self.leased or pair[::-1] in self.leased

    def step(self) -> Step:
        """Return the best pair for this member, or the list when the rules end the session."""
        index = self._index
        elsewhere = [(index[first], index[second]) for first, second in self.leased]
        indices = None
        if self._asked < self._rules.budget:
            indices = next_pair(self._caught_up(), self._rules, self._asked, self._me, elsewhere)
        if indices is not None:
            pair = self._plan.order[indices[0]], self._plan.order[indices[1]]
            return AskPair(pair, self.quality())
        end = self.end()
        waits = bool(elsewhere) and next_pair(self._caught_up(), self._rules, self._asked)
        return replace(end, waits=bool(waits))

    def end(self) -> TeamDone:
        """Return the list of the team as it is now."""
        found = self.conclude()
        end = self._end(found)
        removed = removed_by(self._answers)
        errors = tuple(map(self.errors_of, range(self.people)))
        return TeamDone(
            end.ranking, end.confidence, removed, members=found.people, errors=errors
        ).of(self._me)

    def errors_of(self, member: int | None = None) -> list[list[float]]:
        """Return means and variances of a member's error model, and the error rate, to store."""
        found = self._caught_up().errors_of(self._me if member is None else member)
        return [[round(value, 4) for value in values] for values in found]

    def _caught_up(self) -> RobustSorter:
        """Return the sorter, rewound to the answers it shares with the team's, and updated."""
        self._applied = 0
        steps = [] if self._sorter is None else self._sorter.steps
        events = self._events()
        pairs = zip(steps, events, strict=False)
        shared = next(
            (number for number, (one, other) in enumerate(pairs) if one != other),
            min(len(steps), len(events)),
        )
        self._sorter = self._sorter or self._opened()
        if shared < len(steps):
            self._sorter.rewind(shared)
        for event in events[shared:]:
            self._sorter.take(event)
        return self._sorter

    def _events(self) -> list[Event]:
        """Return the answers as steps of the sorter, but those about pages removed before them."""
        gone: set[int] = set()
        events: list[Event] = []
        for member, judgment in zip(self._members, self._answers, strict=True):
            if gone & {judgment.left, judgment.right}:
                continue
            if (item := judgment.removed) is not None:
                gone.add(item)
                events.append(Removed(self._index[item]))
            else:
                pair = self._index[judgment.left], self._index[judgment.right]
                events.append(Answered(pair, judgment.answer.preference(), member))
        return events
