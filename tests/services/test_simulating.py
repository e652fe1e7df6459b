"""Tests of the figures of the sorters: questions and quality of the lists, n = 50, k = 10."""

import pytest

from tests.cases import each_case
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.services.simulation.sessions import Setting, Summary, summarise


def simulated(
    sorter: str,
    *,
    error: float = 0.0,
    ties: int = 0,
    reuse: bool = False,
    recheck: int = 0,
    best_of: int = 1,
    runs: int = 1000,
) -> Summary:
    plan = Plan(tuple(range(50)), 10, sorter, reuse_answers=reuse, recheck=recheck, best_of=best_of)
    return summarise(Setting(plan, error=error, ties=ties, runs=runs, seed=1))


@each_case(
    ("sorter", "questions"),
    [("heap", 150.4), ("heap-bottom-up", 136.3), ("insertion", 115.3), ("tournament", 90.6)],
)
def test_questions_when_every_pair_is_asked(sorter: str, questions: float) -> None:
    summary = simulated(sorter)
    assert summary.judgments_mean == pytest.approx(questions, rel=0.02)
    assert summary.kappa_ndcg_mean == pytest.approx(1.0)
    assert summary.overlap_mean == pytest.approx(1.0)
    assert summary.judgments_max <= summary.bound


@pytest.mark.parametrize(("sorter", "questions"), [("heap", 135.2), ("heap-bottom-up", 119.6)])
def test_questions_when_answers_are_reused(sorter: str, questions: float) -> None:
    assert simulated(sorter, reuse=True).judgments_mean == pytest.approx(questions, rel=0.02)


@each_case(
    ("sorter", "quality"),
    [("heap", 0.784), ("heap-bottom-up", 0.848), ("insertion", 0.774), ("tournament", 0.739)],
)
def test_quality_with_a_judge_who_errs_one_time_in_ten(sorter: str, quality: float) -> None:
    assert simulated(sorter, error=0.1).kappa_ndcg_mean == pytest.approx(quality, abs=0.02)


def test_rechecking_and_asking_three_times_buy_quality() -> None:
    rechecked = simulated("insertion", error=0.1, recheck=2)
    assert rechecked.kappa_ndcg_mean == pytest.approx(0.854, abs=0.02)
    assert rechecked.judgments_mean == pytest.approx(137, rel=0.02)
    thrice = simulated("tournament", error=0.1, best_of=3)
    assert thrice.kappa_ndcg_mean == pytest.approx(0.927, abs=0.02)
    assert thrice.judgments_mean == pytest.approx(197, rel=0.02)


def test_ties_shorten_buckets_and_cost_it_nothing_without_them() -> None:
    assert simulated("buckets", ties=5).judgments_mean <= 67
    assert simulated("buckets").judgments_mean <= 100
    assert simulated("heap", ties=5).judgments_mean == pytest.approx(121, rel=0.02)
    assert simulated("tournament", ties=5).judgments_mean == pytest.approx(91.5, rel=0.02)


def test_the_result_depends_on_the_seed_and_not_on_the_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = simulated("heap", error=0.1, runs=600)
    monkeypatch.setattr("topkapi.app.services.simulation.sessions.os.cpu_count", lambda: 1)
    assert simulated("heap", error=0.1, runs=600) == many


def test_equal_grades_in_any_order_are_a_perfect_list() -> None:
    summary = simulated("heap", ties=3, runs=200)
    assert summary.kappa_ndcg_mean == pytest.approx(1.0)
