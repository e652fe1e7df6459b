"""Plans of studies: cost and quality from simulated sessions, and what a pilot says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bench.planning import held, pool_of
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import Errors
from topkapi.app.domain.simulation.runs import simulate
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.simulation import planning
from topkapi.app.services.simulation.plan_records import Pilot, PlannedWork, PlanOptions
from topkapi.app.services.simulation.planning import (
    cheapest,
    effort,
    efforts,
    mean_of_study,
    settings_of,
)
from topkapi.app.services.simulation.sessions import Results, Setting, run_setting

HEAP = Setting(Plan(order=tuple(range(20)), k=5), error=0.1, ties=0, runs=400, seed=3)


@given(
    st.integers(1, 500), st.integers(1, 5), st.integers(1, 40), st.floats(1, 100), st.floats(1, 500)
)
def test_hours_are_shared_and_questions_are_those_of_all_lists(
    queries: int, lists: int, people: int, seconds: float, asked: float
) -> None:
    quality = np.array([0.8, 1.0, 0.9, 0.9])
    results = Results(np.full(4, asked), quality, quality - 0.1, [], 0, [], [])
    found = effort(results, PlannedWork(queries, lists, people, seconds), 1)
    assert found.questions == round(asked * queries * lists)
    assert found.hours == pytest.approx(asked * queries * lists * seconds / 3600, abs=0.051)
    assert found.hours_per_person * people == pytest.approx(found.hours, abs=0.06 * people + 0.06)
    low, high = found.kappa_ndcg_interval
    assert low <= 0.9 <= high <= 1.0


def test_the_lists_of_a_query_count_less_than_those_of_others() -> None:
    """Two lists per query, by analysis of variance; four are as many with less noise within."""
    rng = np.random.default_rng(1)
    table = 0.5 + 0.05 * (rng.normal(size=(60, 1)) + rng.normal(size=(60, 2)))
    plain = []
    for lists in (2, 4):
        groups = list(table)
        anova = stats.f_oneway(*groups).statistic
        within = np.mean([group.var(ddof=1) for group in groups])
        between = within * (anova - 1) / 2  # of the queries themselves
        error = (between + within / 2) / 60 + (between + within / lists) / 30
        of_means = np.mean(table, axis=1).var(ddof=1) * (1 / 60 + 1 / 30)
        of_lists = error - of_means
        freedom = error**2 / (of_means**2 / 59 + of_lists**2 / 60)
        half = stats.t.ppf(0.975, freedom) * np.sqrt(error)
        plain.append((table.mean() - half, table.mean() + half))
    work = PlannedWork(queries=30, lists=2, people=1, seconds=20)  # seconds: a person's answer
    found = [mean_of_study(table.ravel(), replace(work, lists=lists), 2) for lists in (2, 4)]
    assert found == [pytest.approx(each, abs=0.00051) for each in plain]
    alone = mean_of_study(table.ravel(), replace(work, queries=60, lists=1), 1)
    assert found[0][1] - found[0][0] > alone[1] - alone[0], "sixty lists of thirty queries"


@pytest.mark.thorough
@pytest.mark.parametrize("lists", [1, 2, 4])
def test_the_interval_contains_the_mean_of_nineteen_studies_in_twenty(lists: int) -> None:
    pool = pool_of(lists, 600, "heap", processes=1)
    inside = held(pool.kappa_ndcg.reshape(-1, lists), lists, 30, 400)
    assert inside == pytest.approx(0.95, abs=0.035)  # three standard errors of 400 studies


def test_simulated_people_repeat_their_errors_as_often_as_the_study_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Setting] = []

    def noted(setting: Setting, **_: object) -> Results:
        seen.append(setting)
        return run_setting(replace(HEAP, runs=4, lists=setting.lists), processes=1)

    monkeypatch.setattr(planning, "run_setting", noted)
    planning.plan(n=20, k=5, lists=3, runs=5)
    own = StudySettings(sorter="robust", pair_limit=3, goal="members", together=True, budget=31)
    planning.planned(PlanOptions(n=20, k=5), Pilot(settings=own))
    usual, study = seen[0], seen[-1]
    assert (usual.plan.pair_limit, usual.persistent, usual.lists, usual.runs) == (1, True, 2, 6)
    assert (study.plan.pair_limit, study.plan.goal, study.plan.sorter) == (3, "members", "robust")
    assert 31 in [each.plan.budget for each in seen[8:]]
    planning.planned(PlanOptions(n=20, k=5, sorter="heap"), Pilot(error=0.3))
    planning.plan(n=20, k=5, sorter="heap", error=0.05)
    assert usual.errors is Errors.PEOPLE
    assert [(each.errors, each.error) for each in seen[-2:]] == [
        (Errors.NORMAL, 0.3),
        (Errors.NORMAL, 0.05),
    ]
    with pytest.raises(Invalid, match="draws its own"):
        planning.plan(error=0.05, error_model=Errors.PEOPLE)


def test_the_lists_of_a_query_share_its_worths() -> None:
    plan = Plan(order=tuple(range(6)), k=2)
    runs = list(simulate(plan, error=0.2, grades=0, runs=6, seed="s", lists=3))
    assert [each.worth for each in runs] == [runs[0].worth] * 3 + [runs[3].worth] * 3
    assert runs[0].worth != runs[3].worth
    assert len({(each.judgments, each.ranking) for each in runs[:3]}) > 1


@pytest.mark.thorough
def test_a_sampled_sorter_is_tried_with_several_budgets_and_the_goal_takes_the_first() -> None:
    base = replace(
        HEAP, plan=replace(HEAP.plan, sorter="robust", pair_limit=6), runs=4, errors=Errors.NORMAL
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
