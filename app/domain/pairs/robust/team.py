"""The strategy of a team: one posterior over the answers of several people."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from topkapi.app.domain.pairs.answers import Judgment, Pair, removed_by
from topkapi.app.domain.pairs.confidence import ErrorModel, ErrorWeights
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.error_prior import GENERAL, ErrorPrior
from topkapi.app.domain.pairs.robust.sorter import RobustSorter
from topkapi.app.domain.pairs.robust.strategy import RobustStrategy
from topkapi.app.domain.pairs.strategy import Done, Step

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
        self._use_priors([GENERAL if each is None else ErrorPrior.of(each) for each in priors])
        self._me, self.leased = me, frozenset(leased)
        self._members = [member for member, _ in given]
        self._answers = [judgment for _, judgment in given]

    def lend(self) -> RobustSorter | None:
        """Give away the sorter, for other members to start from; it is opened again if needed."""
        sorter, self._sorter = self._sorter, None
        return sorter

    def borrow(self, sorter: RobustSorter) -> None:
        """Start from a copy of a sorter of the same team; it may have other answers."""
        if sorter.rules == self._rules:
            self._sorter = sorter.fork()

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
        is_leased = pair in self.leased or pair[::-1] in self.leased
        return times < self._plan.pair_limit and not here & gone and not is_leased

    def step(self) -> Step:
        """Return the best pair for this member, or the list when the rules end the session."""
        index, sorter, asked = self._index, self._caught_up(), self._asked
        elsewhere = [(index[first], index[second]) for first, second in self.leased]
        indices = sorter.next_pair(asked, self._me, elsewhere)
        if indices is not None:
            return self._question(indices)
        waits = bool(elsewhere) and sorter.next_pair(asked) is not None
        return replace(self.end(), waits=waits)

    def end(self) -> TeamDone:
        """Return the list of the team as it is now."""
        found = self.conclude()
        end = self._end(found)
        removed = removed_by(self._answers)
        errors = self._errors_of(range(self.people))
        return TeamDone(
            end.ranking, end.confidence, removed, members=found.people, errors=errors
        ).of(self._me)

    def errors_of(self, member: int | None = None) -> list[list[float]]:
        """Return means and variances of a member's error model, and the error rate, to store."""
        (found,) = self._errors_of([self._me if member is None else member])
        return found

    def _errors_of(self, members: Iterable[int]) -> tuple[list[list[float]], ...]:
        sorter = self._caught_up()
        return tuple(
            [[round(value, 4) for value in values] for values in sorter.errors_of(member)]
            for member in members
        )
