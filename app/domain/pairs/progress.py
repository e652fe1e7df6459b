"""How much is left, told from simulated sessions that stood where this one stands.

A milestone is the number of distinct pages met. Of the simulated sessions, those that reached it
after about as many questions and ties as this one, and had not left it yet, show how many questions
were still to come: their mean, and the range that holds nine in ten. The simulated assessors differ
in error and in ties, so a real one falls among them.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from random import Random
from typing import NamedTuple

from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.progress_tracker import ProgressTracker
from topkapi.app.domain.pairs.session import Asking, PairSession
from topkapi.app.domain.pairs.simulated_assessors import SimulatedAssessor, true_worths
from topkapi.app.domain.pairs.sorter_run import run_plan

_QUESTIONS_SIMULATED = (
    50_000  # holds the time of a table at a fraction of a second, for any n and k
)
_FEWEST_SESSIONS, _MOST_SESSIONS = 12, 400
_NEIGHBOURS = 1 / 6  # the share of the simulated sessions that an estimate looks at
_ESTIMATES = 100  # how often in a session the estimate is made anew
_TIE_WEIGHT = 3  # a tie more or less says more about what is to come than a question more or less
_COVERED = 0.92  # a little over nine in ten of the few alike, so that nine in ten of all are held
_KEPT_NEIGHBOURS = 256  # lists of neighbours kept with a table, of up to 5 kB each
_ASSESSORS = ((0.0, 0), (0.1, 0), (0.0, 5), (0.0, 0), (0.05, 0), (0.1, 5))  # (error, grades)


@dataclass(frozen=True, slots=True)
class Progress:
    """Answers given, questions expected to be left, and the range that holds nine ends in ten.

    ``quality`` is the expected quality of the list, where a session goes on until it reaches
    ``goal``. ``exact``: the number left is known, not guessed.
    """

    answered: int
    expected_left: int
    low: int
    high: int
    quality: float | None = None
    goal: float | None = None
    exact: bool = False


class Left(NamedTuple):
    """Questions left: the mean of like sessions, and the range that holds nine in ten of them."""

    expected: int
    low: int
    high: int


def progress_of(session: PairSession) -> Progress:
    """How far ``session`` is; the share answered never falls but by an undo."""
    answered = session.answered
    if not isinstance(session.state, Asking):
        return Progress(answered, 0, 0, 0)
    left_exactly = session.strategy.left()
    if left_exactly is not None:
        return _within_budget(session, left_exactly)
    tracker = session.tracker
    table = _table_of(session.plan)
    left = table.left(tracker.reached, tracker.ties, tracker.sorted)
    told = _steady_left(tracker, table)
    stretch = 1 + session.plan.check_share
    return Progress(
        answered,
        round(told * stretch),
        round(min(left.low, told) * stretch),
        round(max(left.high, told) * stretch),
    )


def _within_budget(session: PairSession, left: int) -> Progress:
    """The rest of a budget: exact, but for checks to come and an end at some quality."""
    share, goal = session.plan.check_share, session.plan.stop_at
    stretched = max(1, round(left * (1 + share)))
    low = max(1, left) if goal is None else 1
    high = max(stretched, left * (2 if share else 1))
    exact = goal is None and not share
    return Progress(session.answered, stretched, low, high, session.quality, goal, exact)


def _steady_left(tracker: ProgressTracker, table: "Table") -> int:
    """Questions left, estimated anew at every ``stride`` answers and counted down in between.

    An estimate is held down so that answered / (answered + left) never falls behind the last one.
    """
    stride, ties = table.stride, tracker.ties
    for count in range(len(tracker.told) * stride, tracker.sorted + 1, stride):
        left = table.left(tracker.reached, ties, count).expected
        if count > 1:
            before = max(1, tracker.told[-1][1] - (stride - 1))
            left = max(1, min(left, before * count // (count - 1)))
        tracker.told.append((count, left))
    count, left = tracker.told[-1]
    return max(1, left - (tracker.sorted - count))


def _as_simulated(plan: Plan) -> Plan:
    """The plan without what does not change the number of questions: one table serves many."""
    return replace(plan, order=tuple(range(len(plan.order))), seed="", check_share=0.0)


@lru_cache(maxsize=256)
def _table_of(plan: Plan) -> "Table":
    """The table for ``plan``, which is looked up with every answer."""
    return table_for(_as_simulated(plan))


@lru_cache(maxsize=32)
def table_for(plan: Plan) -> "Table":
    """The table of ``plan``, simulated at the first call."""
    return Table(plan)


class Table:
    """Milestones and totals of simulated sessions under one plan."""

    def __init__(self, plan: Plan) -> None:
        self._sessions = [(*run, len(run[1]) - 1) for run in _simulated(plan)]
        self._n = len(plan.order)
        self.stride = 1 + max(total for *_, total in self._sessions) // _ESTIMATES
        self._neighbours = max(8, round(_NEIGHBOURS * len(self._sessions)))
        self._near = lru_cache(maxsize=_KEPT_NEIGHBOURS)(self._nearest)

    def left(self, reached: Sequence[int], ties: Sequence[int], count: int) -> Left:
        """Questions left when ``count`` sorting answers had been given."""
        met = bisect_right(reached, count)
        since = count - (reached[met - 1] if met else 0)
        near = self._near(met, count - since, ties[count - since])
        lefts = sorted(total - since for stays, total in near if stays > since)
        if not lefts:
            lefts = sorted(max(1, total - stays) for stays, total in near)
        tail = (1 - _COVERED) / 2
        low = lefts[int(tail * len(lefts))]
        high = lefts[int((1 - tail) * len(lefts))]
        return Left(max(1, round(sum(lefts) / len(lefts))), max(1, low), max(1, high))

    def _nearest(self, met: int, at: int, tied: int) -> list[tuple[int, int]]:
        """Stay and rest of the sessions most like one that met so many pages by then."""
        rows = []
        for reached, ties, total in self._sessions:
            then = reached[met - 1] if met else 0
            leaves = reached[met] if met < self._n else total
            unlike = abs(then - at) + _TIE_WEIGHT * abs(ties[then] - tied)
            rows.append((unlike, leaves - then, total - then))
        rows.sort(key=itemgetter(0))
        return [(stays, rest) for _, stays, rest in rows[: self._neighbours]]


def _simulated(plan: Plan) -> Iterator[tuple[list[int], list[int]]]:
    """Per session: the count at which each number of pages was met, and the ties by every count."""
    random = Random(len(plan.order) * 1009 + plan.k)
    asked = 0
    for number in range(_MOST_SESSIONS):
        if number >= _FEWEST_SESSIONS and asked > _QUESTIONS_SIMULATED:
            break
        error, grades = _ASSESSORS[number % len(_ASSESSORS)]
        tracker = _milestones_of_run(plan, error, grades, random)
        yield tracker.reached, tracker.ties
        asked += tracker.sorted


def _milestones_of_run(plan: Plan, error: float, grades: int, random: Random) -> ProgressTracker:
    grades = grades if plan.allow_ties else 0
    worth = true_worths(len(plan.order), grades, random)
    assessor = SimulatedAssessor(worth, error=error, random=random)
    running = run_plan(plan, plan.order, {})
    tracker = ProgressTracker()
    try:
        pair = next(running)
        while True:
            preference = assessor.prefer(pair)
            tracker.meet(pair, tied=preference is Preference.TIE)
            pair = running.send(preference)
    except StopIteration:
        return tracker
