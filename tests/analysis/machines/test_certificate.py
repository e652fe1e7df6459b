"""Certificates: verdict, limits in sentences; agreement by kind of assessor."""

import json

import numpy as np
import pytest

from topkapi.analysis.agreement import Scores, agreement, from_scores, pair_tables
from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import (
    AlternativeTest,
    Certificate,
    agreement_by_kind,
    alternative_annotator_test,
    certificate,
)

VERSIONS = {"model": "m-2", "prompt": "pairs 3", "data": "sha256:ab", "program": "0.1.0"}


def labels(queries: int, people: int, *, wrong: float) -> list[Scores]:
    """Simulate people who err in a fifth of their grades, and a machine (the last)."""
    rng = np.random.default_rng(0)
    rates = np.array([*[0.2] * people, wrong])[:, None]
    truth = rng.integers(0, 3, (queries, 1, 8))
    off = (rng.random((queries, people + 1, 8)) < rates) * rng.integers(
        1, 3, (queries, people + 1, 8)
    )
    return [
        Scores(q, np.arange(people + 1), ((truth + off) % 3)[q].astype(float))
        for q in range(queries)
    ]


def comparison(queries: int = 80, people: int = 3, *, wrong: float = 0.2) -> AlternativeTest:
    return alternative_annotator_test(labels(queries, people, wrong=wrong), people, range(people))


def issued(test: AlternativeTest) -> Certificate:
    return certificate(test, question="grades", versions=VERSIONS, issued="2026-11-17")


def test_a_certificate_names_what_was_tested() -> None:
    found = issued(comparison())
    assert (found.verdict, found.people, found.queries, found.items) == (
        "may replace a person",
        3,
        80,
        640,
    )
    record = json.loads(found.to_json())
    assert {name: record[name] for name in VERSIONS} == VERSIONS
    assert record["format"] == "topkapi-certificate-1"
    assert [each["won"] for each in record["test"]["people"]] == [True] * 3


def test_limits_say_what_is_not_shown() -> None:
    good, poor = issued(comparison()), issued(comparison(12, 2, wrong=0.6))
    assert poor.verdict == "not shown"
    more = [each for each in poor.limits if each not in good.limits]
    assert more == [
        "Not shown does not mean that the machine is worse: with more queries or people the same "
        "machine may pass.",
        "Only 2 people were compared; at least 3 are recommended.",
        "Only 12 queries were compared; at least 50 are recommended.",
    ]
    assert any("10% more of the items" in each for each in good.limits)


def test_what_is_no_certificate_is_refused() -> None:
    test = comparison()
    with pytest.raises(BadData, match="version of: prompt, program"):
        certificate(test, question="grades", versions={"model": "m", "data": "d"}, issued="")
    by_item = alternative_annotator_test(labels(30, 3, wrong=0.2), 3, range(3), unit="items")
    with pytest.raises(BadData, match="over queries"):
        issued(by_item)


def test_agreement_is_that_of_each_kind_alone() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 4, (9, 5, 6)).astype(float)
    values[:, 4] = values[:, 3]  # two machines alike
    votes = from_scores([Scores(q, np.arange(5), each) for q, each in enumerate(values)], 5, 9)
    people, mixed, machines = agreement_by_kind(votes, {3, 4}, draws=100)
    assert [each.assessor_pairs for each in (people, mixed, machines)] == [3, 6, 1]
    assert (machines.overall, machines.kappa) == (1.0, 1.0)
    alone = from_scores([Scores(q, np.arange(3), each[:3]) for q, each in enumerate(values)], 3, 9)
    table = pair_tables(alone).pooled()
    assert people.overall == pytest.approx(float(agreement(table)))
    assert people.decided == pytest.approx(float(agreement(table, ties=False)))
    assert people.votes == table.sum()
    assert people.overall_ends is not None
    assert people.overall_ends[0] < people.overall < people.overall_ends[1]
