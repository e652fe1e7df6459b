"""Sorter runs with a simulated assessor: the cost of a sorter and the quality of its list."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from math import exp, sqrt
from random import Random
from typing import Any, TypeVar

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.confidence import ErrorWeights
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    AtRandom,
    Errors,
    SimulatedAssessor,
    true_worths,
)
from topkapi.app.domain.pairs.sorter_run import run_plan
from topkapi.app.domain.pairs.sorters.ranking import Ranking
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.simulation.votes import Session

T = TypeVar("T")

REPEATS = 6  # how often a sampling sorter may ask a pair with independent errors
SESSIONS = 10  # that count, of each person with finished queries
RATES_VARY = 0.2  # standard deviation of the log error rates of people with finished queries


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """A sampled sorter's estimates of its list's quality and of the assessor's error rate."""

    quality: float
    overlap: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class Company:
    """Who answers, and what is known beforehand.

    ``team`` people are asked, the first ``at_random`` of them answer at random. ``ranker``
    is the correlation of a ranker's scores with the true worths, None without a ranker. People have
    finished ``queries`` queries before the session that counts.
    """

    team: int = 1
    at_random: int = 0
    ranker: float | None = None
    queries: int = 0


ALONE = Company()


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated session: number of questions, final list, and true worths.

    In sessions that replay votes, ``filled`` counts the answers about pairs without a real vote,
    and ``own`` are the worths by all votes of the people who answered.
    """

    judgments: int
    ranking: tuple[ItemId, ...]
    worth: tuple[float, ...]
    estimate: RunEstimate | None = None
    filled: int = 0
    own: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """The end of a session; ``evidence`` of each person's errors, if it was asked for."""

    judgments: int
    ranking: tuple[ItemId, ...]
    estimate: RunEstimate | None = None
    evidence: tuple[Any, ...] = ()


def judge(
    plan: Plan,
    people: Sequence[Assessor],
    *,
    guide: tuple[float, ...] | None = None,
    known: Sequence[ErrorWeights] = (),
    learn: bool = False,
) -> Judged:
    """Run the sorter of ``plan`` with ``people``, who are asked in turn.

    A sampled sorter tells them apart, and uses the scores of a ranker and what is ``known`` of each
    person; to ``learn`` more, it adds the evidence of their errors.
    """
    if not SORTERS[plan.sorter].sampled:
        running = _in_turn(run_plan(plan, plan.order, {}), len(people))
        asked, ranking = _answered(running, people)
        return Judged(asked, _listed(ranking, plan.k))
    from topkapi.app.domain.pairs.robust.error_prior import GENERAL, ErrorPrior
    from topkapi.app.domain.pairs.robust.strategy import rules_of
    from topkapi.app.domain.simulation.robust_runs import play  # loads NumPy

    team = len(people)
    priors = tuple(map(ErrorPrior.of, known)) or (GENERAL,) * team
    rules = replace(rules_of(plan), priors=priors, guide=guide)
    swap = team > 1 or learn or bool(known)
    sorter, turns = play(people, plan.order, plan.k, rules, seed=plan.seed, swap=swap)
    found = sorter.conclude()
    return Judged(
        sum(turns),
        tuple(plan.order[index] for index in found.ranking),
        RunEstimate(found.kappa_ndcg().mean, found.overlap().mean, found.error_rate),
        tuple(sorter.evidence()) if learn else (),
    )


def _answered(
    running: Generator[tuple[Pair, int], Preference, T], people: Sequence[Assessor]
) -> tuple[int, T]:
    """Answer every question as the person who is asked; return their number and the result."""
    asked = 0
    try:
        pair, person = next(running)
        while True:
            asked += 1
            pair, person = running.send(people[person].prefer(pair))
    except StopIteration as stop:
        return asked, stop.value


def _in_turn(
    running: Generator[Pair, Preference, T], team: int
) -> Generator[tuple[Pair, int], Preference, T]:
    """Ask ``team`` people in turn what a sorter that does not tell them apart asks."""
    turns = cycle(range(team))
    try:
        pair = next(running)
        while True:
            pair = running.send((yield pair, next(turns)))
    except StopIteration as stop:
        result: T = stop.value
        return result


def _listed(ranking: Ranking, k: int) -> tuple[ItemId, ...]:
    return tuple([item for items in ranking for item in items][:k])


def replay_votes(plan: Plan, sessions: Iterable[Session], seed: str) -> Iterator[Run]:
    """Yield a run of ``plan`` for each session, over as many items as the session has.

    A list cannot be longer than the items, and a budget is that of ``plan``. What people's earlier
    sessions say about their errors is known.
    """

    def played(
        name: str, session: Session, known: Sequence[ErrorWeights], *, learn: bool
    ) -> Judged:
        mine = replace(plan, order=tuple(range(len(session.worth))), seed=f"{seed}/{name}")
        return judge(mine, session.people, known=known, learn=learn)

    for number, session in enumerate(sessions):
        earlier = [
            played(f"{number}/{place}", before, (), learn=True)
            for place, before in enumerate(session.earlier)
        ]
        known = _known(earlier) if earlier else ()
        ended = played(str(number), session, known, learn=False)
        filled = sum(person.filled for person in session.people)
        yield Run(
            ended.judgments, ended.ranking, session.worth, ended.estimate, filled, session.own
        )


def simulate(
    plan: Plan,
    *,
    error: float,
    grades: int,
    runs: int,
    seed: str,
    errors: Errors = Errors.UNIFORM,
    persistent: bool = False,
    company: Company = ALONE,
    lists: int = 1,
) -> Iterator[Run]:
    """Yield runs; every ``lists`` of them are of one query, the next has newly drawn worths.

    The plan's order must consist of the indices 0 to n - 1. People with finished queries are drawn
    again every `SESSIONS` runs, each with an error rate of their own around ``error``.
    """
    random = Random(seed)
    rates = [error] * company.team
    known: Sequence[ErrorWeights] = ()

    def drawn() -> tuple[list[float], tuple[float, ...] | None]:
        worth = true_worths(len(plan.order), grades, random, errors)
        rho = company.ranker
        return worth, None if rho is None else ranker_scores(worth, rho, random)

    def played(
        name: str, worth: list[float], guide: tuple[float, ...] | None, *, learn: bool = False
    ) -> Judged:
        people: list[Assessor] = [
            AtRandom(random)
            if number < company.at_random
            else SimulatedAssessor(
                worth, error=rate, errors=errors, persistent=persistent, random=random
            )
            for number, rate in enumerate(rates)
        ]
        mine = replace(plan, seed=f"{seed}/{name}")
        return judge(mine, people, guide=guide, known=known, learn=learn)

    for number in range(runs):
        if company.queries and number % SESSIONS == 0:
            rates = [_near(error, random) for _ in rates]
            known = ()
            earlier = range(company.queries)
            known = _known([played(f"{number}/{each}", *drawn(), learn=True) for each in earlier])
        if number % lists == 0:
            worth, guide = drawn()
        ended = played(str(number), worth, guide)
        yield Run(ended.judgments, ended.ranking, tuple(worth), ended.estimate)


def _known(finished: Sequence[Judged]) -> list[ErrorWeights]:
    """Return what the finished queries of a team say about each person's errors."""
    from topkapi.app.domain.pairs.robust.study_errors import study_priors  # loads NumPy

    people = range(len(finished[0].evidence))
    found = study_priors(
        {person: [each.evidence[person] for each in finished] for person in people}
    )
    return [found[person] for person in people]


def _near(error: float, random: Random) -> float:
    """Draw a person's error rate around the mean one."""
    return min(0.45, error * exp(random.gauss(0.0, RATES_VARY)))


def ranker_scores(worth: Sequence[float], correlation: float, random: Random) -> tuple[float, ...]:
    """Return scores of a ranker with this expected correlation with the worths."""
    mean = sum(worth) / len(worth)
    spread = sqrt(sum((each - mean) ** 2 for each in worth) / len(worth)) or 1.0
    noise = sqrt(1.0 - correlation**2)
    return tuple(
        correlation * (each - mean) / spread + noise * random.gauss(0.0, 1.0) for each in worth
    )
