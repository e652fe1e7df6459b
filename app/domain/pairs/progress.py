"""Estimates of the questions left, from simulated sessions that were at the same point.

The point is the number of distinct pages shown so far. Of the simulated sessions, those that
reached it after about as many questions and ties as this one, and had not passed it yet, give the
number of questions left: their mean, and the range that covers 90 % of them. The simulated
assessors differ in error rate and in ties, so that real assessors are within their range.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import NamedTuple, Self

import numpy as np

from topkapi.app.domain.pairs.answers import (
    Answer,
    ItemId,
    Judgment,
    Pair,
    Preference,
    QuestionKind,
)
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import SimulatedAssessor, true_worths
from topkapi.app.domain.pairs.sorter_run import run_plan
from topkapi.app.domain.session import Progress

_QUESTIONS_SIMULATED = (
    50_000  # limits the time for a table to a fraction of a second, for any n and k
)
_FEWEST_SESSIONS, _MOST_SESSIONS = 12, 400
_NEIGHBOURS = 1 / 6  # share of the simulated sessions that an estimate uses
_ESTIMATES = 100  # how often per session the estimate is recomputed
_TIE_WEIGHT = 3  # the number of ties predicts the rest better than the number of questions
_COVERED = 0.92  # a little over 90 % of the few neighbours, so that 90 % of all are covered
_MOST_BEHIND = 2  # times that the estimate may exceed what is shown
_KEPT_NEIGHBOURS = 256  # neighbour lists cached per table, of up to 5 kB each
_ASSESSORS = ((0.0, 0), (0.1, 0), (0.0, 5), (0.0, 0), (0.05, 0), (0.1, 5))  # (error, grades)


class ProgressTracker:
    """For every number of distinct pages shown, the count of sorting answers at that point.

    The data are stacks, so that undoing an answer costs as little as adding one. ``estimates``
    holds what was promised so far, as (answers, questions left as shown, as estimated).
    """

    def __init__(self) -> None:
        self._met: set[ItemId] = set()
        self._new: list[tuple[ItemId, ...]] = []
        self.ties = [0]  # among the first 0, 1, 2, ... sorting answers
        self.reached: list[int] = []
        self.sorted = 0
        self.estimates: list[tuple[int, float, int]] = []

    def copied(self) -> Self:
        """Return an independent copy."""
        twin = copy(self)
        twin._met = set(self._met)
        twin._new = list(self._new)
        twin.ties = list(self.ties)
        twin.reached = list(self.reached)
        twin.estimates = list(self.estimates)
        return twin

    def note(self, judgment: Judgment) -> None:
        """Count one more effective answer; a check shows no new page."""
        if judgment.kind is QuestionKind.SORT:
            self.meet((judgment.left, judgment.right), tied=judgment.answer is Answer.TIE)

    def meet(self, pair: Pair, *, tied: bool) -> None:
        """Count one more sorting answer about ``pair``."""
        new = tuple(item for item in pair if item not in self._met)
        self.sorted += 1
        self._met.update(new)
        self._new.append(new)
        self.ties.append(self.ties[-1] + tied)
        self.reached.extend(self.sorted for _ in new)

    def forget_last(self, judgment: Judgment) -> None:
        """Revert the last counted answer."""
        if judgment.kind is not QuestionKind.SORT:
            return
        new = self._new.pop()
        self._met.difference_update(new)
        if new:
            del self.reached[-len(new) :]
        self.sorted -= 1
        self.ties.pop()
        while self.estimates and self.estimates[-1][0] > self.sorted:
            self.estimates.pop()


class Left(NamedTuple):
    """Questions left: the mean of similar sessions, and the range that covers 90 % of them."""

    expected: int
    low: int
    high: int


def estimated_progress(plan: Plan, answered: int, tracker: ProgressTracker) -> Progress:
    """Estimate the questions left from similar simulated sessions."""
    table = _table_of(plan)
    left = table.left(tracker.reached, tracker.ties, tracker.sorted)
    expected = _steady_left(tracker, table)
    stretch = 1 + plan.check_share + _attention_share(plan, tracker.sorted + expected)
    return Progress(
        answered,
        round(expected * stretch),
        round(min(left.low, expected) * stretch),
        round(max(left.high, expected) * stretch),
    )


def _attention_share(plan: Plan, questions: float) -> float:
    """Return the expected questions of attention per sorting question."""
    if not plan.attention_every or not plan.gold:
        return 0.0
    return min(1 / plan.attention_every, len(plan.gold) / max(questions, 1))


def progress_within_budget(plan: Plan, answered: int, left: int, quality: float | None) -> Progress:
    """Return the rest of the budget, exact unless checks or an early end are possible."""
    share, goal = plan.check_share + _attention_share(plan, answered + left), plan.stop_at
    stretched = max(1, round(left * (1 + share)))
    low = max(1, left) if goal is None else 1
    high = max(stretched, left * (2 if share else 1))
    exact = goal is None and not share
    return Progress(answered, stretched, low, high, quality, goal, exact)


def _steady_left(tracker: ProgressTracker, table: "SimulatedProgress") -> int:
    """Return the questions left as shown, which never rise and move with every few answers.

    The rest is estimated again every ``stride`` answers. Where it is longer than what was shown,
    the number shown shrinks more slowly than by one per answer; where it is shorter, faster; so
    that both end together.
    """
    stride, shown = table.stride, tracker.estimates
    for count in range(len(shown) * stride, tracker.sorted + 1, stride):
        rest = table.left(tracker.reached, tracker.ties, count).expected
        left = float(rest)
        if shown:
            left = min(shown[-1][1], max(_shrunk(shown[-1], count), rest / _MOST_BEHIND))
        shown.append((count, left, rest))
    return max(1, round(_shrunk(shown[-1], tracker.sorted)))


def _shrunk(estimate: tuple[int, float, int], count: int) -> float:
    """Return the questions left as shown, ``count`` being at or after that of the estimate."""
    at, left, rest = estimate
    return left * max(0.0, 1 - (count - at) / rest)


def _as_simulated(plan: Plan) -> Plan:
    """Return the plan without what does not affect the number of questions.

    So one table can be used for many plans.
    """
    return replace(plan, order=tuple(range(len(plan.order))), seed="", check_share=0.0)


@lru_cache(maxsize=256)
def _table_of(plan: Plan) -> "SimulatedProgress":
    """Return the cached table for ``plan``; this is called with every answer."""
    return table_for(_as_simulated(plan))


@lru_cache(maxsize=32)
def table_for(plan: Plan) -> "SimulatedProgress":
    """Return the table of ``plan``, simulated at the first call."""
    return SimulatedProgress(plan)


class SimulatedProgress:
    """Progress and totals of simulated sessions under one plan."""

    def __init__(self, plan: Plan) -> None:
        runs = list(_simulated(plan))
        totals = np.array([[len(ties) - 1] for _, ties in runs])
        # Columns: the number of pages shown so far.
        self._reached = np.array([[0, *reached] for reached, _ in runs])
        self._ties = np.array([[ties[at] for at in (0, *reached)] for reached, ties in runs])
        self._rest = totals - self._reached
        self._stays = np.diff(self._reached, append=totals)
        self.stride = 1 + int(totals.max()) // _ESTIMATES
        self._neighbours = max(8, round(_NEIGHBOURS * len(runs)))
        self._near = lru_cache(maxsize=_KEPT_NEIGHBOURS)(self._nearest)

    def left(self, reached: Sequence[int], ties: Sequence[int], count: int) -> Left:
        """Estimate the questions left after ``count`` sorting answers."""
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
        """Return (answers until the next new page, answers left) of the most similar sessions.

        ``met`` pages have been shown after ``at`` answers, ``tied`` of which were ties.
        """
        distance = abs(self._reached[:, met] - at) + _TIE_WEIGHT * abs(self._ties[:, met] - tied)
        near = np.argsort(distance, kind="stable")[: self._neighbours]
        return list(
            zip(self._stays[near, met].tolist(), self._rest[near, met].tolist(), strict=True)
        )


def _simulated(plan: Plan) -> Iterator[tuple[list[int], list[int]]]:
    """Yield per session the answer count at each new page, and the ties up to each count."""
    random = Random(len(plan.order) * 1009 + plan.k)
    asked = 0
    for number in range(_MOST_SESSIONS):
        if number >= _FEWEST_SESSIONS and asked > _QUESTIONS_SIMULATED:
            break
        error, grades = _ASSESSORS[number % len(_ASSESSORS)]
        tracker = _tracked_run(plan, error, grades, random)
        yield tracker.reached, tracker.ties
        asked += tracker.sorted


def _tracked_run(plan: Plan, error: float, grades: int, random: Random) -> ProgressTracker:
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
