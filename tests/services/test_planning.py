"""Plans of studies: cost and quality from simulated sessions, and what a pilot says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import Errors
from topkapi.app.services.simulation.plan_records import PlannedWork
from topkapi.app.services.simulation.planning import (
    cheapest,
    effort,
    efforts,
    settings_of,
)
from topkapi.app.services.simulation.sessions import Setting, Summary, summarise

HEAP = Setting(Plan(order=tuple(range(20)), k=5), error=0.1, ties=0, runs=400, seed=3)


@given(
    st.integers(1, 500), st.integers(1, 5), st.integers(1, 40), st.floats(1, 100), st.floats(1, 500)
)
def test_hours_are_shared_and_questions_are_those_of_all_lists(
    queries: int, lists: int, people: int, seconds: float, asked: float
) -> None:
    summary = Summary(asked, 0.0, 500, 0.9, 0.1, 0.8, 0.2, 500)
    found = effort(summary, PlannedWork(queries, lists, people, seconds), 100)
    assert found.questions == round(asked * queries * lists)
    assert found.hours == pytest.approx(asked * queries * lists * seconds / 3600, abs=0.051)
    assert found.hours_per_person * people == pytest.approx(found.hours, abs=0.06 * people + 0.06)
    low, high = found.kappa_ndcg_interval
    assert low <= 0.9 <= high <= 1.0


@pytest.mark.thorough
def test_the_interval_contains_the_mean_of_nineteen_studies_in_twenty() -> None:
    work = PlannedWork(queries=30, lists=1, people=1, seconds=10)  # seconds: a person's answer
    planned = effort(summarise(HEAP, processes=1), work, HEAP.runs)
    low, high = planned.kappa_ndcg_interval
    studies = [
        summarise(replace(HEAP, runs=30, seed=100 + seed), processes=1).kappa_ndcg_mean
        for seed in range(200)
    ]
    inside = np.mean([low <= each <= high for each in studies])
    assert inside == pytest.approx(0.95, abs=0.045)  # three standard errors of 200 studies


@pytest.mark.thorough
def test_a_sampled_sorter_is_tried_with_several_budgets_and_the_goal_takes_the_first() -> None:
    base = replace(
        HEAP,
        plan=replace(HEAP.plan, sorter="robust", pair_limit=6),
        runs=4,
        errors=Errors.NORMAL,
    )
    settings = settings_of(base)
    budgets = [each.plan.budget or 0 for each in settings]
    assert budgets == sorted(set(budgets))
    assert len(budgets) == 8
    found = list(efforts(settings[::7], PlannedWork(10, 1, 2, 12.0), processes=1))
    assert [each.questions_per_list for each in found] == [budgets[0], budgets[7]]
    assert all(each.stated is not None for each in found)
    assert cheapest(found, 0.0) is found[0]
    better = replace(found[1], kappa_ndcg=0.9)
    assert cheapest([replace(found[0], kappa_ndcg=0.7), better], 0.8) is better
    assert cheapest([replace(found[0], kappa_ndcg=0.7)], 0.71) is None
