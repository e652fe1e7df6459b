"""Errors learned from a study: evidence against numeric integration, and the prior from it."""

from math import log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.robust.error_prior import ErrorPrior
from topkapi.app.domain.pairs.robust.posterior import Posterior
from topkapi.app.domain.pairs.robust.sampled import Rules, sampled_run
from topkapi.app.domain.pairs.robust.study_errors import (
    CELLS,
    SIDES,
    _cells,
    evidence,
    study_priors,
)
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    AtRandom,
    Errors,
    SimulatedAssessor,
    true_worths,
)

FloatArray = NDArray[np.float64]
FIRST, SECOND = Preference.FIRST, Preference.SECOND
TOLD = [FIRST] * 7 + [SECOND] * 2


@pytest.mark.thorough
def test_the_evidence_is_the_likelihood_integrated_over_the_scores() -> None:
    chains = 4000
    posterior = Posterior(2, np.random.default_rng(1), chains=chains)
    for preference in TOLD:
        posterior.record((0, 1), preference)
    states = np.arange(1, chains + 1, dtype=np.uint64) << np.uint64(40)
    for _ in range(60):
        posterior.move(range(2), states)
        posterior.move_models(states)
    found = evidence(posterior)[:CELLS]
    apart = np.linspace(-9, 9, 6001)  # the difference of two scores is normal with variance 2
    density = np.exp(-(apart**2) / 4)
    density /= density.sum()
    exact = np.array(
        [
            density @ (first**7 * (1 - first) ** 2) if even == 0 else np.nan
            for lapse, width, even in _cells()
            for first in [
                lapse / 2 + (1 - lapse) / (1 + np.exp(-np.clip(apart / width, -500, 500)))
            ]
        ]
    )
    normal = ~np.isnan(exact)
    ratios = found[normal] / exact[normal]
    likely = exact[normal] > exact[normal].max() / 20
    assert ratios[likely] / ratios[likely].mean() == pytest.approx(1.0, abs=0.15)


def _queries(person: str, count: int) -> list[FloatArray]:
    found = []
    for query in range(count):
        random = Random(f"{person}/{query}")
        worth = true_worths(14, 0, random)
        someone: Assessor = SimulatedAssessor(worth, error=0.1, errors=Errors.EVEN, random=random)
        if person == "random":
            someone = AtRandom(random)
        elif person == "left":
            someone = _Left()
        run = sampled_run(tuple(range(14)), 4, Rules(40, limit=6), seed=f"q{query}", swap=True)
        pair, _ = next(run)
        while True:
            try:
                pair, _ = run.send(someone.prefer(pair))
            except StopIteration as stop:
                found.extend(stop.value[2].evidence())
                break
    return found


class _Left:
    def prefer(self, pair: tuple[int, int]) -> Preference:
        assert pair
        return FIRST


@pytest.mark.thorough
def test_a_study_tells_careful_people_from_those_who_answer_at_random_or_always_left() -> None:
    found = study_priors({name: _queries(name, 6) for name in ("careful", "random", "left")})
    lapse = {name: 1 / (1 + np.exp(-means[0])) for name, (means, _) in found.items()}
    side = {name: means[4] for name, (means, _) in found.items()}
    assert lapse["careful"] < 0.1 < 0.6 < min(lapse["random"], lapse["left"])
    assert side["left"] > 1.5 > 1.0 > abs(side["random"])
    assert found["careful"][0][1] > log(0.05), "errors between close pages have a width"


evidences = st.lists(
    st.integers(0, 10**6).map(
        lambda seed: np.log(np.random.default_rng(seed).uniform(0.2, 2, CELLS + len(SIDES)))
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
    for person, (means, precisions) in found.items():
        assert again[person][0] == pytest.approx(means, abs=2e-4)
        assert again[person][1] == pytest.approx(precisions, rel=1e-3)
        prior = ErrorPrior.of(means, precisions)
        assert prior.means == means
        assert prior.table().shape == (5, 6)
        assert min(precisions) > 0


def test_who_has_finished_nothing_gets_the_prior_of_the_population() -> None:
    sure = np.full(CELLS + len(SIDES), -14.0)
    sure[39] = sure[CELLS + 3] = 0.0  # normal spacing
    alone = study_priors({"new": []})["new"]
    found = study_priors({"new": [], **{f"p{number}": [sure] for number in range(5)}})
    shift = [abs(found["new"][0][column] - found["p0"][0][column]) for column in (0, 1)]
    before = [abs(alone[0][column] - found["p0"][0][column]) for column in (0, 1)]
    assert shift[0] < before[0] / 2
    assert shift[1] < before[1] / 2
    assert found["p0"][1][0] > found["new"][1][0], "the population is less sure than one person"
    assert alone[0][3] > 0.9, "spacing is even,"
    assert found["new"][0][3] < 0.1, "unless the queries of the study say normal"
