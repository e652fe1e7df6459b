"""Errors learned from a study: evidence against numeric integration, and the prior from it."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.robust.error_prior import (
    CELLS,
    GENERAL,
    LAPSES,
    TAUS,
    ErrorPrior,
    error_rates,
)
from topkapi.app.domain.pairs.robust.normal import distribution
from topkapi.app.domain.pairs.robust.posterior import Posterior
from topkapi.app.domain.pairs.robust.sorter import Rules
from topkapi.app.domain.pairs.robust.study_errors import study_priors
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    AtRandom,
    Errors,
    SimulatedAssessor,
    true_worths,
)
from topkapi.app.domain.simulation.robust_runs import play

FloatArray = NDArray[np.float64]
FIRST, SECOND = Preference.FIRST, Preference.SECOND
TOLD = [FIRST, FIRST, SECOND, FIRST, FIRST, FIRST, SECOND, FIRST, FIRST]


def test_the_evidence_is_nearly_the_likelihood_integrated_over_the_scores() -> None:
    posterior = Posterior(2, (GENERAL,))
    for preference in TOLD:
        posterior.take((0, 1), preference)
    found = posterior.evidence_of(0)
    apart = np.linspace(-9, 9, 6001)  # the difference of two scores over tau: variance 2
    density = np.exp(-(apart**2) / 4)
    density /= density.sum()
    first = distribution(TAUS[:, None, None] * apart)
    chance = LAPSES[:, None] / 2 + (1 - LAPSES[:, None]) * first
    exact = np.log((density * chance**7 * (1 - chance) ** 2).sum(axis=2))
    likely = exact > exact.max() - 2
    assert likely.sum() > 8
    shift = (found - exact)[likely]
    assert shift - shift.mean() == pytest.approx(0.0, abs=0.35)


def _queries(person: str, count: int) -> list[FloatArray]:
    found = []
    for query in range(count):
        random = Random(f"{person}/{query}")
        worth = true_worths(14, 0, random)
        someone: Assessor = SimulatedAssessor(worth, error=0.1, errors=Errors.EVEN, random=random)
        if person == "random":
            someone = AtRandom(random)
        rules = Rules(40, limit=6)
        sorter, _ = play([someone], range(14), 4, rules, seed=f"q{query}", swap=True)
        found.extend(sorter.evidence())
    return found


@pytest.mark.thorough
def test_a_study_tells_careful_people_from_those_who_answer_at_random() -> None:
    found = study_priors({name: _queries(name, 6) for name in ("careful", "random")})
    shares = {name: np.exp(ErrorPrior.of(logs).cells) for name, logs in found.items()}
    rates = {name: float((each * error_rates()).sum()) for name, each in shares.items()}
    assert rates["careful"] < 0.2 < 0.35 < rates["random"]


evidences = st.lists(
    st.integers(0, 10**6).map(
        lambda seed: np.log(np.random.default_rng(seed).uniform(0.2, 2, CELLS))
    ),
    max_size=4,
)


@given(study=st.lists(evidences, min_size=1, max_size=4), data=st.data())
@settings(max_examples=25)
def test_priors_do_not_depend_on_the_order_of_people_and_queries(
    study: list[list[FloatArray]], data: st.DataObject
) -> None:
    named = dict(enumerate(study))
    people = data.draw(st.permutations(list(named)))
    turned = {person: data.draw(st.permutations(named[person])) for person in people}
    found, again = study_priors(named), study_priors(turned)
    for person, logs in found.items():
        assert again[person] == pytest.approx(logs, abs=2e-3)
        assert ErrorPrior.of(logs).logs == pytest.approx(logs, abs=2e-3)
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=0.01)


def test_who_has_finished_nothing_gets_the_prior_of_the_population() -> None:
    sure = np.full(CELLS, -14.0)
    sure[20] = 0.0
    alone = study_priors({"new": []})["new"]
    found = study_priors({"new": [], **{f"p{number}": [sure] for number in range(5)}})
    assert alone == pytest.approx(GENERAL.logs, abs=0.01)
    assert found["p0"][20] > found["new"][20] > alone[20] + 1
