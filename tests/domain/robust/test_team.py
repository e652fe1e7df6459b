"""Several people and a ranker in one posterior: exact on small cases, and one person as ever."""

from contextlib import suppress
from math import erf, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.error_prior import RANGES, TEAM_ALIKE, ErrorPrior, moved
from topkapi.app.domain.pairs.robust.posterior import Posterior, standardized
from topkapi.app.domain.pairs.robust.sampled import Rules, sampled_run
from topkapi.app.domain.pairs.robust.sorter import TRIAL, Answered, Removed, RobustSorter
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    AtRandom,
    Errors,
    SimulatedAssessor,
    true_worths,
)

FloatArray = NDArray[np.float64]
FIRST, SECOND, TIE = Preference.FIRST, Preference.SECOND, Preference.TIE
TEAM = (ErrorPrior.of_team(), ErrorPrior.of_team())
TOLD = [
    Answered((0, 1), FIRST, 0),
    Answered((1, 2), FIRST, 0),
    Answered((2, 0), SECOND, 0),
    Answered((0, 1), SECOND, 1),
    Answered((2, 1), FIRST, 1),
    Answered((0, 2), TIE, 1),
]


class Weighted:
    """Draws from the prior of two people and a ranker, weighted by the likelihood."""

    def __init__(self, told: list[Answered], guide: list[float] | None, draws: int = 600_000):
        rng = np.random.default_rng(7)
        self.people = [prior.draw(draws, rng) for prior in TEAM]
        evenness = self.people[0][:, 3]
        apart = rng.standard_normal(draws) * sqrt(2 / TEAM_ALIKE)  # widths of people are alike
        self.people[1][:, 1] = self.people[0][:, 1] * np.exp(apart)
        noise = rng.standard_normal((3, draws))
        self.rho = rng.uniform(-0.97, 0.97, draws) if guide else np.zeros(draws)
        x = np.array(guide or [0.0, 0.0, 0.0])[:, None]
        self.scores = self.rho * x + np.sqrt(1 - self.rho**2) * noise
        grid = np.linspace(-6, 6, 20_001)
        shares = np.interp(self.scores, grid, [0.5 * (1 + erf(each / sqrt(2))) for each in grid])
        worth = (1 - evenness) * self.scores + evenness * (shares - 0.5) * sqrt(12)
        weights = np.ones(draws)
        for column, (low, high) in enumerate(RANGES[:2]):  # draws outside are not clipped here
            for person in self.people:
                weights *= (person[:, column] > low) & (person[:, column] < high)
        for each in told:
            lapse, width, ratio, _, side = self.people[each.person].T
            mine = [one.preference for one in told if one.person == each.person]
            ties = mine.count(TIE) / (len(mine) + 1)
            ratio = ratio if ties else np.zeros(draws)
            apart = (worth[each.pair[0]] - worth[each.pair[1]]) / width
            first = (1 - lapse) * _logistic(apart - ratio) + lapse * (1 - ties) * side
            second = (1 - lapse) * _logistic(-apart - ratio) + lapse * (1 - ties) * (1 - side)
            weights *= {FIRST: first, SECOND: second, TIE: 1 - first - second}[each.preference]
        self.weights = weights / weights.sum()

    def mean(self, values: FloatArray) -> float:
        return float(self.weights @ values)


def _logistic(values: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -500, 500))))


@pytest.mark.thorough
@pytest.mark.parametrize("guide", [None, [1.2, 0.1, -1.3]], ids=["alone", "ranker"])
def test_two_people_and_a_ranker_are_those_of_weighted_prior_draws(
    guide: list[float] | None,
) -> None:
    scaled = None if guide is None else standardized(guide).tolist()
    exact = Weighted(TOLD, scaled)
    chains = 3000
    posterior = Posterior(3, np.random.default_rng(1), priors=TEAM, guide=guide, chains=chains)
    for each in TOLD:
        posterior.record(each.pair, each.preference, each.person)
    states = np.arange(1, chains + 1, dtype=np.uint64) << np.uint64(40)
    scores, models, rhos = [], [], []
    for sweep in range(160):
        posterior.move(range(3), states)
        posterior.move_models(states)
        if sweep >= 60:
            scores.append(posterior.z.mean(axis=0))
            models.append([moved(posterior.errors_of(each)).mean(axis=0) for each in (0, 1)])
            rhos.append(posterior.rhos.mean() if guide else 0.0)
    for item, found in enumerate(np.mean(scores, axis=0)):
        assert found == pytest.approx(exact.mean(exact.scores[item]), abs=0.03)
    for person, found in enumerate(np.mean(models, axis=0)):
        expected = moved(exact.people[person])
        for column in (0, 1, 4, *((2,) if person else ())):
            assert found[column] == pytest.approx(exact.mean(expected[:, column]), abs=0.1)
    assert np.mean(models, axis=0)[0][3] == pytest.approx(
        exact.mean(exact.people[0][:, 3]), abs=0.03
    )
    assert np.mean(rhos) == pytest.approx(exact.mean(exact.rho), abs=0.02)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seed", "goal", "ties", "last_asked", "ranking"),
    [
        (1, Goal.ORDER, False, [(8, 11), (1, 3), (1, 10)], (17, 11, 8, 14, 10)),
        (2, Goal.ORDER, True, [(17, 0), (17, 8), (14, 11)], (13, 17, 5, 14, 18)),
        (3, Goal.MEMBERS, True, [(7, 12), (17, 10), (15, 5)], (11, 17, 7, 16, 8)),
    ],
)
def test_one_person_is_asked_what_version_2_asked_before_there_were_teams(
    seed: int, goal: Goal, ties: bool, last_asked: list[Pair], ranking: tuple[int, ...]
) -> None:
    """Compare what the draws lead to, which the order of a processor's sums does not change."""
    sorter = RobustSorter(20, 5, seed=seed, span=30, limit=2, goal=goal)
    asked: list[Pair] = []
    for number in range(30):
        pair = sorter.ask()
        assert pair is not None
        asked.append(pair)
        right = (pair[0] * 7 % 20 > pair[1] * 7 % 20) != (number % 9 == 5)
        sorter.take(Answered(pair, TIE if ties and number % 7 == 3 else FIRST if right else SECOND))
        if number == 20:
            sorter.take(Removed(4))
    assert (asked[-3:], sorter.conclude().ranking) == (last_asked, ranking)


def _played(
    people: int, at_random: int, guide: tuple[float, ...] | None = None, seed: int = 3
) -> tuple[RobustSorter, list[float]]:
    random = Random(seed)
    worth = true_worths(20, 0, random, Errors.NORMAL)
    team = SimulatedAssessor(worth, error=0.08, errors=Errors.NORMAL, random=random)
    priors = (ErrorPrior.of_team(),) * people
    sorter = RobustSorter(20, 5, seed=seed, span=60, limit=6, priors=priors, guide=guide)
    for number in range(40 * people):
        person = number % people
        pair = sorter.ask(person)
        assert pair is not None
        told = team.prefer(pair) if person >= at_random else random.choice((FIRST, SECOND))
        sorter.take(Answered(pair, told, person))
    return sorter, worth


def _distance(posterior: Posterior, pair: Pair) -> float:
    return float((posterior.u[:, pair[0]] - posterior.u[:, pair[1]]).mean())


@pytest.mark.thorough
def test_a_person_who_answers_at_random_is_found_out_and_weighs_little() -> None:
    sorter, worth = _played(3, 1, seed=4)
    found = sorter.conclude()
    lapses = [1 / (1 + np.exp(-means[0])) for means, _ in found.people]
    assert lapses[0] > 0.5 > 0.3 > max(lapses[1:])
    best = sorted(range(20), key=lambda item: -worth[item])[:5]
    assert len(set(found.ranking) & set(best)) >= 4
    lost = np.zeros(
        3
    )  # distance of good pages, if a person says six times that the lower is better
    for better, worse in ((0, 3), (0, 4), (1, 4)):
        pair = found.ranking[better], found.ranking[worse]
        for person in range(3):
            twin = sorter._posterior.fork()
            for _ in range(6):
                twin.resample(pair, SECOND, 0.5, person)
            lost[person] += _distance(sorter._posterior, pair) - _distance(twin, pair)
    assert 2 * abs(lost[0]) < min(lost[1:])


@pytest.mark.thorough
@pytest.mark.parametrize("rho", [0.0, 0.9], ids=["useless", "good"])
def test_the_worth_of_a_ranker_is_learned(rho: float) -> None:
    random = Random(11)
    found = []
    for seed in range(4):
        worth = true_worths(20, 0, Random(seed), Errors.NORMAL)
        noise = [random.gauss(0, 1) for _ in worth]
        guide = tuple(
            100 * (rho * w + sqrt(1 - rho**2) * e) for w, e in zip(worth, noise, strict=True)
        )
        sorter, _ = _played(1, 0, guide, seed)
        ranker = sorter.conclude().ranker
        assert ranker is not None
        found.append(ranker[0] - float(np.corrcoef(guide, worth)[0, 1]))
    assert abs(np.mean(found)) < 0.2


def test_a_ranker_says_where_to_begin_and_a_flat_one_changes_nothing() -> None:
    guide = tuple(float(item) for item in range(12))
    first = RobustSorter(12, 3, seed=1, span=20, guide=guide).ask()
    assert first is not None
    assert first != (0, 1)
    flat = RobustSorter(12, 3, seed=1, span=20, guide=(3.0,) * 12)
    plain = RobustSorter(12, 3, seed=1, span=20)
    for sorter in (flat, plain):
        for _ in range(5):
            pair = sorter.ask()
            assert pair is not None
            sorter.take(Answered(pair, FIRST))
    assert np.array_equal(flat._posterior.u, plain._posterior.u)


@given(
    steps=st.lists(st.tuples(st.integers(0, 1), st.sampled_from([FIRST, SECOND, TIE])), max_size=9),
    count=st.integers(0, 9),
)
@settings(max_examples=15)
def test_a_team_rewinds_and_forks_to_the_same_state(
    steps: list[tuple[int, Preference]], count: int
) -> None:
    def opened() -> RobustSorter:
        guide = (0.3, 2.0, -1.0, 0.4, 0.0)
        return RobustSorter(5, 2, seed=4, span=9, limit=2, priors=TEAM, guide=guide, chains=20)

    told, straight = opened(), opened()
    asked: list[Answered] = []
    for person, preference in steps:
        pair = told.ask(person)
        assert pair is not None
        asked.append(Answered(pair, preference, person))
        told.take(asked[-1])
    told.fork().take(Answered((0, 1), FIRST, 1))
    told.rewind(min(count, len(asked)))
    for each in asked[: min(count, len(asked))]:
        straight.take(each)
    for name in ("u", "z", "errors", "rhos"):
        states = [getattr(sorter._posterior, name) for sorter in (told, straight)]
        assert np.array_equal(*states)


def test_a_pair_that_is_open_elsewhere_is_not_asked() -> None:
    sorter = RobustSorter(3, 1, seed=1, span=4, limit=1, priors=TEAM)
    opened: list[Pair] = []
    while (pair := sorter.ask(len(opened) % 2, opened)) is not None:
        opened.append(pair)
    assert sorted(tuple(sorted(pair)) for pair in opened) == [(0, 1), (0, 2), (1, 2)]
    assert sorter.ask() == (0, 1)


@pytest.mark.thorough
def test_who_answers_at_random_is_asked_less_once_that_is_clear() -> None:
    random = Random(5)
    worth = true_worths(20, 0, random, Errors.NORMAL)
    careful = SimulatedAssessor(worth, error=0.08, errors=Errors.NORMAL, random=random)
    people: list[Assessor] = [AtRandom(random), careful, careful]
    rules = Rules(120, limit=6, priors=(ErrorPrior.of_team(),) * 3)
    run = sampled_run(tuple(range(20)), 5, rules, seed="r", swap=True)
    turns = [0, 0, 0]
    pair, person = next(run)
    with suppress(StopIteration):
        while True:
            turns[person] += 1
            pair, person = run.send(people[person].prefer(pair))
    assert sum(turns) == 120
    assert turns[0] >= TRIAL
    assert turns[0] < min(turns[1:]) - 10, "the others are asked instead"


def test_one_person_is_asked_whatever_they_answer() -> None:
    random = Random(5)
    run = sampled_run(tuple(range(9)), 3, Rules(30, limit=6), seed="r")
    pair, person = next(run)
    asked = 1
    with suppress(StopIteration):
        while True:
            assert person == 0
            pair, person = run.send(AtRandom(random).prefer(pair))
            asked += 1
    assert asked == 30
