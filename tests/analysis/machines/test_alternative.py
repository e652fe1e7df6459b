"""The alternative annotator test: against a plain computation, and its false approvals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.machine_data import DATA, summeval
from bench.machines import DESIGNS, GOOD, approvals
from tests.cases import each_case
from topkapi.analysis.agreement import Judgments, Scores, from_judgments
from topkapi.analysis.bounded import mean_above
from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import alternative_annotator_test, votes_as_scores
from topkapi.analysis.machines.alternative import Alignment, Unit
from topkapi.analysis.typing import FloatArray

Answers = dict[tuple[int, int], dict[int, float]]  # (query, item) -> assessor -> label


def answers_of(labels: list[Scores]) -> Answers:
    found: Answers = {}
    for number, each in enumerate(labels):
        for row, assessor in enumerate(each.assessors.tolist()):
            for item, value in enumerate(each.values[row].tolist()):
                if not np.isnan(value):
                    key = (each.query, 1000 * number + item)
                    found.setdefault(key, {})[assessor] = value
    return found


def alignment(value: float, others: list[float], align: Alignment) -> float:
    if align == "same":
        return sum(value == other for other in others) / len(others)
    return -math.sqrt(sum((value - other) ** 2 for other in others) / len(others))


def wins(
    answers: Answers, machine: int, person: int, people: list[int], align: Alignment
) -> dict[int, list[tuple[bool, bool]]]:
    """Return by query and item whether the machine, and the person, is at least as close."""
    found: dict[int, list[tuple[bool, bool]]] = {}
    for (query, _), labels in answers.items():
        others = [value for who, value in labels.items() if who in people and who != person]
        if person in labels and machine in labels and others:
            gap = alignment(labels[machine], others, align) - alignment(
                labels[person], others, align
            )
            found.setdefault(query, []).append((gap > -1e-9, gap < 1e-9))
    return found


def plain_winning_rate(ps: list[float], level: float) -> float:
    """Return the share of p values that Benjamini and Yekutieli's step-up rule rejects."""
    m = len(ps)
    harmonic = sum(1 / i for i in range(1, m + 1))
    passed = [i for i, p in enumerate(sorted(ps), start=1) if p <= level * i / (m * harmonic)]
    return max(passed, default=0) / m


@pytest.mark.parametrize("align", ["same", "near"])
@pytest.mark.skipif(not DATA.exists(), reason="the shared files of people and machines are absent")
def test_it_equals_a_plain_computation_on_real_grades(align: Alignment) -> None:
    names, labels = summeval()
    answers, people = answers_of(labels), [0, 1, 2]
    assert names[:3] == ["e0", "e1", "e2"]
    rates = set()
    for machine in range(3, len(names)):
        won = [wins(answers, machine, person, people, align) for person in people]
        by_query = [np.array([np.mean(rows, axis=0) for rows in each.values()]) for each in won]
        by_item = [np.array([row for rows in each.values() for row in rows], float) for each in won]
        for epsilon in (0.1, 0.3, 0.4):
            rates.add(agrees_with(labels, machine, align, "queries", epsilon, by_query))
            rates.add(agrees_with(labels, machine, align, "items", epsilon, by_item))
    assert len(rates) > 1


def agrees_with(
    labels: list[Scores],
    machine: int,
    align: Alignment,
    unit: Unit,
    epsilon: float,
    rows: list[FloatArray],
) -> float:
    """Compare the test with plain formulas on (n, 2) wins of machine and person.

    Over items these are the paper's, over queries the p is Gaffke's.
    """
    found = alternative_annotator_test(
        labels, machine, [0, 1, 2], align=align, epsilon=epsilon, unit=unit
    )
    assert (found.queries, found.items) == (50, 50 * 16 * 4)
    ps = []
    for each, mine in zip(found.people, rows, strict=True):
        gaps = mine[:, 0] - mine[:, 1]
        p = (
            mean_above(gaps, -epsilon, -1.0)
            if unit == "queries"
            else float(stats.ttest_1samp(gaps, -epsilon, alternative="greater").pvalue)
        )
        expected = (float(gaps.mean()), float(mine[:, 0].mean()), p)
        assert (each.advantage, each.machine_share, each.p) == pytest.approx(expected)
        ps.append(p)
    rate = plain_winning_rate(ps, 0.05)
    assert found.winning_rate == pytest.approx(rate)
    assert found.approved is (rate >= 0.5)
    share = float(np.mean([mine[:, 0].mean() for mine in rows]))
    assert found.advantage_probability == pytest.approx(share)
    return rate


@st.composite
def studies(draw: st.DrawFn) -> list[Scores]:
    """Draw labels of three people and a machine (index 5), with gaps, and sometimes another one."""
    label = st.sampled_from([0.0, 1.0, 2.0, float("nan")])
    labels = []
    for query in range(draw(st.integers(10, 14))):
        items = draw(st.integers(1, 3))
        rows = draw(
            st.lists(st.lists(label, min_size=items, max_size=items), min_size=5, max_size=5)
        )
        labels.append(Scores(query, np.array([0, 1, 2, 5, 8]), np.array(rows)))
    return labels


@pytest.mark.thorough
@settings(max_examples=40)
@given(studies(), st.sampled_from(["same", "near"]))
def test_gaps_and_other_assessors_do_not_matter(labels: list[Scores], align: Alignment) -> None:
    people, answers = [0, 1, 2], answers_of(labels)
    expected: dict[int, tuple[float, ...]] = {}
    for person in people:
        rows = wins(answers, 5, person, people, align).values()
        means = [np.mean([float(one) - float(two) for one, two in each]) for each in rows]
        if len(rows) >= 5:
            expected[person] = (len(rows), sum(map(len, rows)), round(float(np.mean(means)), 9))
    if not expected:
        with pytest.raises(BadData, match="no one can be compared"):
            alternative_annotator_test(labels, 5, people, align=align)
        return
    found = alternative_annotator_test(labels, 5, people, align=align)
    got = {
        each.assessor: (each.queries, each.items, round(each.advantage, 9)) for each in found.people
    }
    assert got == expected
    assert set(found.left_out) == set(people) - set(expected)


def test_pairs_of_pages_are_items() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (assessor, query, left, right)
        for query in range(60)
        for left, right in ((0, 1), (0, 2), (1, 2))
        for assessor in range(4)
    ]
    columns = np.array(rows).T
    # everybody prefers the lower number; people err in a third of their answers
    wrong = (rng.random(len(rows)) < 1 / 3) & (columns[0] < 3)
    turned = rng.random(len(rows)) < 0.5  # sides
    left, right = np.where(turned, columns[[3, 2]], columns[[2, 3]])
    answer = np.where(turned, -1, 1) * np.where(wrong, -1, 1)
    asked = Judgments.of(
        assessor=columns[0], query=columns[1], left=left, right=right, answer=answer
    )
    labels = votes_as_scores(from_judgments(asked, 4, 60))
    found = alternative_annotator_test(labels, 3, range(3))
    assert (found.queries, found.items, len(found.people)) == (60, 180, 3)
    assert found.approved
    assert not alternative_annotator_test(labels, 0, [1, 2, 3], epsilon=-0.05).approved


def test_few_queries_without_a_failure_do_not_approve() -> None:
    """A share epsilon of all queries can be backwards and none of them be among the n."""
    people = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    values = np.concatenate([people, [[1.0, 0.0]]])
    for n, approved in ((10, False), (30, False), (40, True)):
        labels = [Scores(query, np.arange(4), values) for query in range(n)]
        found = alternative_annotator_test(labels, 3, range(3), epsilon=0.1)
        assert [each.p for each in found.people] == pytest.approx([0.9**n] * 3, abs=1e-6)
        assert found.approved is approved


def test_people_with_few_queries_are_left_out_and_nobody_is_an_error() -> None:
    labels = [Scores(query, np.arange(4), np.ones((4, 2))) for query in range(6)]
    labels[0].values[2] = labels[1].values[2] = np.nan
    found = alternative_annotator_test(labels, 3, range(3))
    assert (found.left_out, [each.assessor for each in found.people]) == ((2,), [0, 1])
    with pytest.raises(BadData, match="at least 5 queries"):
        alternative_annotator_test(labels[:4], 3, range(3))


@pytest.mark.thorough
def test_clustered_errors_are_approved_by_the_test_over_items_only() -> None:
    found = approvals(DESIGNS["votes, 3 people, half of the queries bad"], 30, 100)
    assert found["approved_by_queries"] <= 0.05
    assert found["approved_by_items"] > 0.08


@pytest.mark.thorough
@each_case(
    ("design", "queries"),
    [
        ("votes, 3 people, a fifth of the queries at chance", 15),
        ("votes, 3 people, 10 % of the queries reversed", 10),
        ("votes, 3 people who agree, 5 % reversed", 30),
        ("votes, 3 people who agree, 10 % reversed", 30),
    ],
)
def test_machines_that_fail_on_few_queries_are_not_approved(design: str, queries: int) -> None:
    found = approvals(DESIGNS[design], queries, 200, units=("queries",))
    assert found["approved_by_queries"] <= 0.05


def test_a_machine_as_good_as_people_is_approved_with_enough_queries() -> None:
    found = approvals(GOOD["as good as people"], 60, 50, epsilon=0.1, units=("queries",))
    assert found["approved_by_queries"] >= 0.9
