import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.analysis.agreement import brute
from tests.cases import each_case
from tests.clients import tight
from tests.simulated_study import simulated_study
from topkapi.analysis.agreement import Judgments, Scores
from topkapi.analysis.errors import BadData
from topkapi.analysis.report import Options, StudyData, ToolData, build_report
from topkapi.analysis.report.figures import Figure, Reason
from topkapi.analysis.report.page import render_page
from topkapi.analysis.report.serialise import record_of, to_json
from topkapi.analysis.report.subjects.agreement import MEASURES
from topkapi.analysis.report.subjects.comparison import Comparison

FEW = Options(draws=100, exchanges=199)


def figures(record: Any) -> Iterator[dict[str, Any]]:
    """Yield every figure of a report at any depth."""
    if isinstance(record, dict):
        if "value" in record:
            yield record
        for each in record.values():
            yield from figures(each)
    elif isinstance(record, list):
        for each in record:
            yield from figures(each)


def study(tools: tuple[ToolData, ...], assessors: int, queries: int, documents: int) -> StudyData:
    ids = tuple(f"d{d}" for d in range(documents))
    names = tuple(f"assessor {a}" for a in range(assessors))
    about = tuple(f"q{q}" for q in range(queries))
    return StudyData("Test", names, about, (ids,) * queries, tools, k=3)


def scores(seed: int, query: int, assessors: int, documents: int, gaps: float = 0.2) -> Scores:
    values = (
        np.random.default_rng(seed + query).integers(0, 3, (assessors, documents)).astype(float)
    )
    values[np.random.default_rng(query).random(values.shape) < gaps] = np.nan
    return Scores(query, np.arange(assessors), values)


@each_case("seed", range(4))
def test_pooled_figures_equal_plain_counts(seed: int) -> None:
    graded = ToolData("grades", "T2", tuple(scores(seed, q, 4, 7) for q in range(6)))
    made = study((graded,), 4, 6, 7)
    found = record_of(build_report(made, FEW))["tools"][0]["agreement"]
    votes = made.preferences(graded)
    pooled = np.sum(list(brute.tables(votes).values()), axis=0)
    both = pooled + pooled[::-1, ::-1]
    assert found["matrix"]["counts"] == (both + both.T).tolist()
    assert found["votes"] == pooled.sum()
    assert found["overall"]["value"] == pytest.approx(np.trace(pooled) / pooled.sum(), abs=1e-9)
    rated = brute.ratings(votes)
    for key, wanted in (
        ("fleiss_kappa", brute.fleiss(rated)),
        ("krippendorff_alpha", brute.alpha(rated)),
        ("gwet_ac1", brute.ac1(rated)),
    ):
        assert found[key]["value"] == pytest.approx(wanted, abs=1e-9)
        assert found[key]["low"] <= found[key]["value"] <= found[key]["high"]


def test_each_pair_of_assessors_has_its_own_table_and_interval() -> None:
    graded = ToolData("grades", "T2", tuple(scores(9, q, 4, 6) for q in range(5)))
    made = study((graded,), 4, 5, 6)
    wanted = brute.tables(made.preferences(graded))
    rows = record_of(build_report(made, FEW))["tools"][0]["pairs"]
    assert len(rows) == 6
    for row in rows:
        i, j = int(row["first"][-1]), int(row["second"][-1])
        tables = [table for (_, a, b), table in wanted.items() if (a, b) == (i, j)]
        once = np.sum(tables, axis=0)
        assert row["counts"] == (once + once[::-1, ::-1]).tolist()
        assert row["overall"]["low"] <= row["overall"]["value"] <= row["overall"]["high"]


@pytest.mark.thorough
def test_of_very_many_pairs_those_who_share_most_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = [scores(2, q, 3, 5) for q in range(6)]
    graded = ToolData("grades", "T2", (*few, scores(2, 6, 6, 5)))
    made = study((graded,), 6, 7, 5)
    whole = record_of(build_report(made, FEW))["tools"][0]
    monkeypatch.setattr("topkapi.analysis.report.subjects.pairs.MOST_PAIRS", 3)
    found = record_of(build_report(made, FEW))["tools"][0]
    assert found["agreement"] == whole["agreement"]
    assert whole["agreement"]["assessor_pairs"] == len(whole["pairs"]) > 3
    assert found["pairs"] == [row for row in whole["pairs"] if row["queries"] == 7]


def degenerate() -> Iterator[tuple[str, StudyData]]:
    one = Scores(0, np.array([0]), np.array([[2.0, 1.0, 0.0]]))
    tied = Scores(0, np.array([0, 1]), np.zeros((2, 3)))
    same = Scores(0, np.array([0, 1]), np.array([[2.0, 1.0, 0.0]] * 2))
    empty = Scores(0, np.array([0, 1]), np.full((2, 3), np.nan))
    none = Judgments.of(assessor=[], query=[], left=[], right=[], answer=[])
    yield "no tools", study((), 0, 0, 0)
    yield "nothing judged", study((ToolData("pairs", "T1"), ToolData("grades", "T2")), 2, 1, 3)
    yield "one assessor", study((ToolData("pairs", "T1", (one,)),), 1, 1, 3)
    yield "all ties", study((ToolData("pairs", "T1", (tied,)),), 2, 1, 3)
    yield (
        "all alike",
        study((ToolData("pairs", "T1", (same,)), ToolData("grades", "T2", (same,))), 2, 1, 3),
    )
    yield "all missing", study((ToolData("pairs", "T1", (empty,)),), 2, 1, 3)
    yield "no answers", study((ToolData("pairs", "T1", judgments=none),), 2, 1, 3)


@pytest.mark.thorough
@each_case(("name", "made"), list(degenerate()))
def test_what_is_undefined_says_why_in_the_record_and_on_the_page(
    name: str, made: StudyData
) -> None:
    found = build_report(made, FEW)
    json.loads(to_json(found))  # refuses NaN
    for each in figures(record_of(found)):
        assert each["value"] is not None or each["reason"], name
        if "low" in each:
            assert each["low"] is not None or each["no_interval"], name
    for about in (tool.agreement for tool in found.tools):
        reasons = {getattr(about, measure).reason for measure in MEASURES}
        assert {each == Reason.NOTHING_SHARED for each in reasons} == {not about.votes}, name
    page = render_page(found)
    words = page[page.index("<body") :]
    assert not re.search("(?<![a-z]{2})nan", words.lower())  # but Brennan
    assert "None" not in words


def test_one_query_gives_values_without_intervals() -> None:
    both = Scores(0, np.array([0, 1]), np.array([[3.0, 2.0, 1.0, 0.0], [3.0, 1.0, 2.0, 0.0]]))
    found = record_of(build_report(study((ToolData("pairs", "T1", (both,)),), 2, 1, 4), FEW))
    overall = found["tools"][0]["agreement"]["overall"]
    assert overall["value"] == pytest.approx(5 / 6)
    assert overall["no_interval"] == "one query: nothing to resample"


@pytest.mark.thorough
def test_two_tools_are_compared_and_the_words_name_the_better_one() -> None:
    found = build_report(simulated_study([0.05] * 5, queries=15, documents=20, answers=0), FEW)
    comparison = record_of(found)["comparison"]
    compared = comparison["all_pairs"]
    assert comparison["tools"] == ["pairs", "grades"]
    assert compared["chi_square"]["value"] > compared["chi_square_yates"]["value"] > 0
    assert compared["df"] == 1
    low, high = compared["difference"]["low"], compared["difference"]["high"]
    assert low <= compared["difference"]["value"] <= high


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("p", "p_strict", "all_pairs", "without_ties"),
    [
        (0.12, 0.0001, "no significant difference", "agree more with T2 grades than with T1"),
        (0.01, 0.3, "agree more with T1 pairs than with T2 grades", "no significant difference"),
    ],
)  # fmt: skip
def test_the_headline_calls_only_what_is_significant_a_difference(
    p: float, p_strict: float, all_pairs: str, without_ties: str
) -> None:
    made = build_report(simulated_study([0.05] * 3, queries=4, documents=8, k=3, answers=0), FEW)
    assert isinstance(made.comparison, Comparison)
    found = replace(
        made.comparison,
        all_pairs=replace(
            made.comparison.all_pairs, shares=(Figure(0.7), Figure(0.6)), p_queries=Figure(p)
        ),
        without_ties=replace(
            made.comparison.without_ties,
            shares=(Figure(0.8), Figure(0.9)),
            p_queries=Figure(p_strict),
        ),
    )
    page = tight(render_page(replace(made, comparison=found)))
    first, second = page.split("Over all pairs,")[1].split("Without ties,")
    assert all_pairs in first
    assert without_ties in second
    assert "70.0 % against 60.0 %, p = 0." in second.replace("\u202f", " ")


def test_every_section_is_filled_by_a_full_study() -> None:
    found = build_report(
        simulated_study([0.02, 0.1, 0.2, 0.1, 0.05], queries=10, documents=15), FEW
    )
    pairs, grades = record_of(found)["tools"]
    assert pairs["answers"]["self_consistency"]["asked"] > 100
    assert 0.4 < pairs["answers"]["left"]["value"] < 0.6
    assert pairs["answers"]["circles"]["triples"] > 0
    assert pairs["answers"]["course"][0]["part"] == "first third"
    assert pairs["effort"]["complexity"] == "O(n log k)"
    assert grades["effort"]["complexity"] == "O(n)"
    assert len(pairs["consensus"]["queries"]) == 10
    assert all(len(row["documents"]) == 10 for row in pairs["consensus"]["queries"])
    shares = [row["overall"]["value"] for row in pairs["queries_by_disagreement"]]
    assert shares == sorted(shares)


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_report() -> None:
    made = simulated_study([0.1] * 4, queries=6, documents=10)
    assert to_json(build_report(made, FEW)) == to_json(build_report(made, FEW))


def test_arrays_that_do_not_fit_are_refused() -> None:
    made = simulated_study([0.1] * 4, queries=4, documents=8)
    with pytest.raises(BadData, match="document lists"):
        replace(made, documents=made.documents[:2])
    with pytest.raises(BadData, match="scores are"):
        replace(made, documents=(("a",),) * 4)
    untimed = replace(made.tools[0], sessions=None)
    with pytest.raises(BadData, match="given together"):
        replace(made, tools=(untimed,))
