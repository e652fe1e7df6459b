"""Several people and a ranker in one posterior: exact on small cases, and one person as ever."""

from math import sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.error_prior import GENERAL, LAPSES, TAUS
from topkapi.app.domain.pairs.robust.normal import distribution
from topkapi.app.domain.pairs.robust.posterior import (
    CORRELATION_SHARES,
    CORRELATIONS,
    Posterior,
    standardized,
)
from topkapi.app.domain.pairs.robust.sorter import TRIAL, Answered, RobustSorter, Rules
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    AtRandom,
    Errors,
    SimulatedAssessor,
    true_worths,
)
from topkapi.app.domain.simulation.robust_runs import play

FloatArray = NDArray[np.float64]
FIRST, SECOND, TIE = Preference.FIRST, Preference.SECOND, Preference.TIE
TEAM = (GENERAL, GENERAL)
TOLD = [
    Answered((0, 1), FIRST, 0),
    Answered((1, 2), FIRST, 0),
    Answered((2, 0), SECOND, 0),
    Answered((0, 1), SECOND, 1),
    Answered((2, 1), FIRST, 1),
    Answered((0, 2), SECOND, 1),
]


class Weighted:
    """Draws from the prior of two people and a ranker, weighted by the likelihood."""

    def __init__(self, told: list[Answered], guide: list[float] | None, draws: int = 600_000):
        rng = np.random.default_rng(7)
        shares = np.exp(GENERAL.cells)
        shares /= shares.sum()
        tau = TAUS[rng.choice(TAUS.size, draws, p=shares.sum(axis=1))]
        by_lapse = shares.sum(axis=0)  # the general prior of lapses is the same for every tau
        self.lapses = [LAPSES[rng.choice(LAPSES.size, draws, p=by_lapse)] for _ in TEAM]
        self.rho = (
            rng.choice(CORRELATIONS, draws, p=CORRELATION_SHARES) if guide else np.zeros(draws)
        )
        x = np.array(guide or [0.0, 0.0, 0.0])[:, None]
        noise = rng.standard_normal((3, draws))
        self.scores = self.rho * x + np.sqrt(1 - self.rho**2) * noise
        weights = np.ones(draws)
        for each in told:
            lapse = self.lapses[each.person]
            apart = tau * (self.scores[each.pair[0]] - self.scores[each.pair[1]])
            first = lapse / 2 + (1 - lapse) * distribution(apart)
            weights *= first if each.preference is FIRST else 1 - first
        self.weights = weights / weights.sum()

    def mean(self, values: FloatArray) -> float:
        return float(self.weights @ values)


@pytest.mark.parametrize("guide", [None, [1.2, 0.1, -1.3]], ids=["alone", "ranker"])
def test_two_people_and_a_ranker_are_nearly_those_of_weighted_prior_draws(
    guide: list[float] | None,
) -> None:
    scaled = None if guide is None else standardized(guide).tolist()
    exact = Weighted(TOLD, scaled)
    posterior = Posterior(3, TEAM, guide)
    for each in TOLD:
        posterior.take(each.pair, each.preference, each.person)
    posterior.refine()
    scores, points = posterior.draw(20_000, np.random.default_rng(3), 3)
    scores /= TAUS[posterior.taus[points], None]
    for item, found in enumerate(scores.mean(axis=0)):
        assert found == pytest.approx(exact.mean(exact.scores[item]), abs=0.08)
    for person in (0, 1):
        found = posterior.cells_of(person).sum(axis=0) @ LAPSES
        assert found == pytest.approx(exact.mean(exact.lapses[person]), abs=0.05)
    assert posterior.rhos[points].mean() == pytest.approx(exact.mean(exact.rho), abs=0.04)


def _played(
    people: int, at_random: int, guide: tuple[float, ...] | None = None, seed: int = 3
) -> tuple[RobustSorter, list[float]]:
    random = Random(seed)
    worth = true_worths(20, 0, random, Errors.NORMAL)
    team = SimulatedAssessor(worth, error=0.08, errors=Errors.NORMAL, random=random)
    priors = (GENERAL,) * people
    sorter = RobustSorter(20, 5, Rules(limit=6, priors=priors, guide=guide), str(seed))
    for number in range(40 * people):
        person = number % people
        pair = sorter.ask(person)
        assert pair is not None
        told = team.prefer(pair) if person >= at_random else random.choice((FIRST, SECOND))
        sorter.take(Answered(pair, told, person))
    return sorter, worth


def _distance(posterior: Posterior, pair: Pair) -> float:
    scores, _ = posterior.draw(4000, np.random.default_rng(1), 20)
    return float((scores[:, pair[0]] > scores[:, pair[1]]).mean())


@pytest.mark.thorough
def test_a_person_who_answers_at_random_is_found_out_and_weighs_little() -> None:
    sorter, worth = _played(3, 1, seed=4)
    found = sorter.conclude()
    lapses = [1 / (1 + np.exp(-means[0])) for means, _ in found.people]
    assert lapses[0] > 0.5 > 0.3 > max(lapses[1:])
    best = sorted(range(20), key=lambda item: -worth[item])[:5]
    assert len(set(found.ranking) & set(best)) >= 4
    lost = np.zeros(3)  # chance of the better page, if a person says six times that it is worse
    for better, worse in ((0, 3), (0, 4), (1, 4)):
        pair = found.ranking[better], found.ranking[worse]
        for person in range(3):
            twin = sorter._posterior.fork()
            for _ in range(6):
                twin.take(pair, SECOND, person)
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
        learned = sorter._posterior.weights @ sorter._posterior.rhos
        found.append(learned - float(np.corrcoef(guide, worth)[0, 1]))
    assert abs(np.mean(found)) < 0.2


def test_a_ranker_says_where_to_begin_and_a_flat_one_changes_nothing() -> None:
    guide = tuple(float(item) for item in range(12))
    first = RobustSorter(12, 3, Rules(guide=guide), "1").ask()
    assert first is not None
    assert first != (0, 1)
    flat = RobustSorter(12, 3, Rules(guide=(3.0,) * 12), "1")
    plain = RobustSorter(12, 3, Rules(), "1")
    for sorter in (flat, plain):
        for _ in range(5):
            pair = sorter.ask()
            assert pair is not None
            sorter.take(Answered(pair, FIRST))
    assert flat.ask() == plain.ask()
    assert flat.conclude().ranking == plain.conclude().ranking


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([FIRST, SECOND, TIE])), max_size=15
    ),
    count=st.integers(0, 15),
)
@settings(max_examples=15)
def test_a_team_rewinds_and_forks_to_the_same_state(
    steps: list[tuple[int, Preference]], count: int
) -> None:
    def opened() -> RobustSorter:
        guide = (0.3, 2.0, -1.0, 0.4, 0.0)
        return RobustSorter(5, 2, Rules(limit=3, priors=TEAM, guide=guide), "4")

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
    for name in ("_mean", "_cov", "logs", "lapse_logs", "asked"):
        states = [getattr(sorter._posterior, name) for sorter in (told, straight)]
        assert np.array_equal(*states)


def test_a_pair_that_is_open_elsewhere_is_not_asked() -> None:
    sorter = RobustSorter(3, 1, Rules(priors=TEAM), "1")
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
    rules = Rules(120, limit=6, priors=(GENERAL,) * 3)
    _, turns = play(people, range(20), 5, rules, seed="r", swap=True)
    assert sum(turns) == 120
    assert turns[0] >= TRIAL
    assert turns[0] < min(turns[1:]) - 10, "the others are asked instead"


def test_one_person_is_asked_whatever_they_answer() -> None:
    random = Random(5)
    _, turns = play([AtRandom(random)], range(9), 3, Rules(30, limit=6), seed="r")
    assert turns == [30]
