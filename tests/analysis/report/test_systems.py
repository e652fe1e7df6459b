"""Scores of runs and the leaderboard of systems, against counting and enumeration."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.analysis.data.runs import Run, parse_run, split_runs
from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics import MEASURES
from topkapi.analysis.report.figures import Reason
from topkapi.analysis.report.subjects.leaderboard import Ballots, leaderboard
from topkapi.analysis.report.subjects.systems import (
    RunValues,
    measures_of,
    run_values,
    system_scores,
    table_rows,
)
from topkapi.analysis.significance import randomisation_tests
from topkapi.analysis.typing import FloatArray

DOCUMENTS = st.sampled_from("abcdefg")
LABELS = st.dictionaries(DOCUMENTS, st.integers(0, 3).map(float), min_size=1, max_size=5)
RETRIEVED = st.dictionaries(DOCUMENTS, st.integers(0, 4).map(float), min_size=1)


def ranked(scores: dict[str, float]) -> list[str]:
    """Order documents as trec_eval does: by score, then by id, both descending."""
    return sorted(scores, key=lambda name: (scores[name], name), reverse=True)


def overlap(one: list[str], two: list[str], depth: int) -> float:
    shared = [len(set(one[:d]) & set(two[:d])) / d for d in range(1, depth + 1)]
    return sum(0.95 ** (d - 1) * each for d, each in enumerate(shared, start=1))


def brute_compatibility(labels: dict[str, float], run: dict[str, float]) -> float:
    """Return the best overlap of a run with any order that breaks no preference."""
    relevant = [name for name in labels if labels[name] > 0]
    depth = max(len(run), len(relevant))
    ideals = [
        list(order)
        for order in permutations(relevant)
        if all(labels[a] >= labels[b] for a, b in combinations(order, 2))
    ]
    best = (overlap(ranked(run), each, depth) / overlap(each, each, depth) for each in ideals)
    return max(best) if relevant else 0.0


@settings(max_examples=60, deadline=None)
@given(LABELS, RETRIEVED, st.integers(1, 8))
def test_compatibility_and_unjudged_documents_equal_their_enumeration(
    labels: dict[str, float], run: dict[str, float], k: int
) -> None:
    found = run_values({"q": labels, "absent": labels}, {"q": run}, ["compatibility"], k)
    assert found.values is not None
    assert found.values[:, 0].tolist() == pytest.approx([brute_compatibility(labels, run), 0.0])
    assert found.unjudged == sum(name not in labels for name in ranked(run)[:k])
    assert (found.shown, found.queries) == (min(k, len(run)), 1)


def test_every_measure_is_a_measure_of_some_labels() -> None:
    names = {*measures_of("topk", 5), *measures_of("graded", 5)}
    assert {name.split("@")[0].split(":")[0] for name in names} == set(MEASURES)
    assert measures_of("graded", 5)[0] == "ndcg@5"


@given(st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=8))
@settings(max_examples=30)
def test_p_is_near_the_share_of_all_signs(gaps: list[float]) -> None:
    total = abs(sum(gaps))
    sums = [abs(np.dot(signs, gaps)) for signs in product((1, -1), repeat=len(gaps))]
    exact = float(np.mean([each >= total - 1e-9 for each in sums]))
    found = randomisation_tests(np.array([gaps, gaps]).T)
    assert found[0] == found[1] == pytest.approx(exact, abs=0.03)


def values_of(columns: FloatArray) -> RunValues:
    width = len(measures_of("topk", 3))
    return RunValues(np.repeat(columns[:, None], width, axis=1), columns.size, 3, 10)


def test_differences_are_paired_and_corrected() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=30)
    runs = {
        "base": values_of(base),
        "up": values_of(base + 0.2 + rng.normal(size=30) / 100),
        "same": values_of(base + rng.normal(size=30) / 100 * rng.permutation([1, -1] * 15)),
        "none": RunValues(None, 0, 0, 0),
    }
    found = system_scores(runs, truth="topk", k=3, queries=30, baseline="base")
    by = {each.system: each for each in found.systems}
    assert found.systems[0].system == "up"
    assert by["none"].scores[0].mean.reason is Reason.NO_JUDGED_QUERY
    assert by["base"].scores[0].difference is None
    assert by["up"].unjudged == 0.3
    gained, lost = by["up"].score("map"), by["up"].score("wkt@3")
    assert gained.difference is not None
    assert lost.difference is not None
    assert (gained.difference.verdict, lost.difference.verdict) == ("better", "worse")
    assert gained.difference.p_holm == pytest.approx(2 * gained.difference.p)
    assert gained.difference.figure.value == pytest.approx(0.2, abs=0.02)
    interval, own = gained.difference.figure.interval, gained.mean.interval
    assert interval is not None
    assert own is not None
    assert interval.high - interval.low < 0.02 < own.high - own.low, "paired"
    same = by["same"].scores[0].difference
    assert same is not None
    assert same.verdict == "not significant"
    rows = table_rows(found)
    assert len(rows) == 1 + 4 * len(found.measures)
    assert {len(row) for row in rows} == {14}


def test_without_a_baseline_and_with_few_queries_nothing_is_compared() -> None:
    runs = {"a": values_of(np.arange(3.0))}
    found = system_scores(runs, truth="topk", k=3, queries=3)
    assert found.systems[0].scores[0].difference is None
    assert found.systems[0].scores[0].mean.no_interval is Reason.FEW_QUERIES


TEXT = "q1 Q0 a 1 2.5 bm25\n\nq1\tQ0\ta 1 .3 dense\nq2 Q0 b 7 1e-3 bm25\n"


def test_a_file_of_several_systems_is_split_by_tag() -> None:
    found = split_runs(TEXT, "runs.txt")
    runs: dict[str, Run] = {tag: parse_run(text) for tag, text in found.items()}
    assert runs == {"bm25": {"q1": {"a": 2.5}, "q2": {"b": 0.001}}, "dense": {"q1": {"a": 0.3}}}


@each_case(
    ("text", "message"),
    [
        ("q1 Q0 a 1 2.5\n", "runs.txt, line 1: 5 columns"),
        (TEXT + "q1 Q0 a 9 1 dense", "runs.txt, line 5: document a twice for query q1"),
        ("\nq1 Q0 a 1 high bm25", "runs.txt, line 2: score 'high'"),
        ("\n", "runs.txt: no lines"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str) -> None:
    with pytest.raises(BadData, match=message):
        split_runs(text, "runs.txt")


def drawn_ballots(worth: list[float], *, queries: int, people: int, seed: int) -> Ballots:
    """Let people compare all pairs of systems on every query, with an effect of the query."""
    rng = np.random.default_rng(seed)
    rows = []
    for query in range(queries):
        shown = np.array(worth) + rng.normal(size=len(worth))
        for person, (a, b) in product(range(people), combinations(range(len(worth)), 2)):
            gap = shown[a] - shown[b] + rng.logistic()
            rows.append((person, query, a, b, 0 if abs(gap) < 0.3 else int(np.sign(gap))))
    names = tuple(f"s{number}" for number in range(len(worth)))
    return Ballots(names, *np.array(rows, dtype=np.int64).T)


@pytest.mark.thorough
def test_equal_systems_seldom_differ_and_unequal_ones_do() -> None:
    claims = 0
    for seed in range(25):
        found = leaderboard(drawn_ballots([0, 0, 0], queries=12, people=2, seed=seed), draws=50)
        claims += any(row.rank > 1 for row in found.rows)
    assert claims <= 4, "5 % of 25 are expected"
    found = leaderboard(drawn_ballots([1.5, 0, 0], queries=40, people=2, seed=0))
    assert [row.rank for row in found.rows] == [1, 2, 2]
    assert found.rows[0].system == "s0"
    assert found.rows[0].alike == ()
    assert {row.alike for row in found.rows[1:]} == {("s1",), ("s2",)}
    assert all(row.worth.interval is not None for row in found.rows)


def test_sides_do_not_matter() -> None:
    one = drawn_ballots([1, 0, 0.5], queries=6, people=2, seed=3)
    two = Ballots(one.systems, one.assessors, one.queries, one.right, one.left, -one.answers)
    assert leaderboard(one, draws=20) == leaderboard(two, draws=20)


def test_systems_that_nothing_connects_do_not_differ() -> None:
    query = np.tile(np.arange(20), 2)
    left = np.repeat([0, 2], 20)
    answers = np.ones(40, dtype=np.int64)
    names = ("a", "b", "c", "d")
    found = leaderboard(Ballots(names, answers * 0, query, left, left + 1, answers), draws=20)
    alike = {row.system: set(row.alike) for row in found.rows}
    assert alike == {"a": {"c", "d"}, "b": {"c", "d"}, "c": {"a", "b"}, "d": {"a", "b"}}
    assert {(row.wins, row.losses) for row in found.rows} == {(20, 0), (0, 20)}
    assert found.agreement.overall.reason is Reason.NOTHING_SHARED


VOTES = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 3), st.sampled_from([(0, 1), (1, 0), (2, 1)])
    ).flatmap(lambda key: st.tuples(st.just(key), st.integers(-1, 1))),
    min_size=1,
    max_size=12,
    unique_by=lambda vote: (vote[0][0], vote[0][1], frozenset(vote[0][2])),
)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(VOTES)
def test_agreement_counts_pairs_of_assessors(
    votes: list[tuple[tuple[int, int, tuple[int, int]], int]],
) -> None:
    rows = [(who, query, *pair, answer) for (who, query, pair), answer in votes]
    found = leaderboard(Ballots(("a", "b", "c"), *np.array(rows).T), draws=4).agreement
    both = [
        (one[-1] * (1 if one[2] < one[3] else -1), two[-1] * (1 if two[2] < two[3] else -1))
        for one, two in combinations(rows, 2)
        if one[0] != two[0] and one[1] == two[1] and {*one[2:4]} == {*two[2:4]}
    ]
    assert found.votes == len(both)
    expected = float(np.mean([a == b for a, b in both])) if both else None
    assert found.overall.value == pytest.approx(expected)
    assert both or found.krippendorff_alpha.reason is Reason.NOTHING_SHARED
