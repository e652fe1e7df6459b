"""The report on preferences between lists: figures by hand, and a page that escapes names."""

import numpy as np
import pytest

from topkapi.analysis.dcglearn import ListPreferences
from topkapi.analysis.dcglearn.replication.simulated import random_pairs, true_gains
from topkapi.analysis.report.page import render_lists
from topkapi.analysis.report.serialise import record_of, to_json
from topkapi.analysis.report.subjects.lists import Duels, list_report, system_table


def duels(*rows: tuple[int, int, int, int], systems: tuple[str, ...] = ("a", "b", "c")) -> Duels:
    columns = np.array(rows, dtype=np.int64).T
    return Duels(systems, *columns)


BY_HAND = duels((0, 0, 1, 2), (0, 1, 2, 0), (1, 2, 0, -1), (1, 1, 0, 1))


def test_shares_wins_and_duels_by_hand() -> None:
    found = record_of(list_report(BY_HAND, None, "no grades"))
    rows = {row["system"]: row for row in found["systems"]}
    assert [row["system"] for row in found["systems"]] == ["a", "b", "c"]
    assert rows["a"]["share"]["value"] == pytest.approx(2 / 3)
    assert (rows["a"]["wins"], rows["a"]["losses"], rows["a"]["same"]) == (2, 1, 0)
    assert rows["b"]["share"]["value"] == pytest.approx(1.5 / 3)
    assert rows["c"]["share"]["value"] == pytest.approx(0.5 / 2)
    assert found["duels"] == [[0, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert found["left"] == {"left": 2, "decided": 3, "p": 1.0}
    assert found["counts"] == {"left_much": 1, "left": 1, "same": 1, "right": 1, "right_much": 0}
    assert (found["learned"], found["why_not"]) == (None, "no grades")


def test_points_sum_to_the_comparisons_and_intervals_hold_the_share() -> None:
    draws = np.random.default_rng(3)
    left = draws.integers(0, 4, 300)
    right = (left + draws.integers(1, 4, 300)) % 4
    answers = draws.integers(-2, 3, 300)
    many = Duels(("a", "b", "c", "d"), draws.integers(0, 20, 300), left, right, answers)
    rows = [record_of(row) for row in system_table(many)]
    assert sum(row["share"]["value"] * row["compared"] for row in rows) == pytest.approx(300)
    for row in rows:
        assert row["share"]["low"] <= row["share"]["value"] <= row["share"]["high"]
        assert row["wins"] + row["losses"] + row["same"] == row["compared"]


def test_one_query_has_no_interval() -> None:
    (one, *_) = system_table(duels((0, 0, 1, 1), (0, 0, 1, 2), systems=("a", "b")))
    first = record_of(one)
    assert first["share"]["low"] is None
    assert "one query" in first["share"]["no_interval"]


@pytest.mark.thorough
def test_learned_gains_are_those_of_the_library() -> None:
    pool = random_pairs(60, true_gains(1).table, np.random.default_rng(1))
    answers = np.sign(pool.signs).astype(np.int64)
    graded = ListPreferences(pool.left, pool.right, answers, 5)
    numbers = np.arange(60)
    found = list_report(
        Duels(("a", "b"), numbers % 12, numbers % 2, 1 - numbers % 2, answers), graded
    )
    record = record_of(found)
    assert len(record["learned"]["gain_shares"]) == 5
    assert record["learned"]["validation"]["learned"]["all"] > 0.7
    page = render_lists(found)
    for words in ("Which systems win", "What a grade is worth", "What a position is worth"):
        assert words in page
    assert page.count("<polyline") == 6
    assert "NaN" not in to_json(found)


def test_names_are_escaped_and_a_reason_stands_where_nothing_is_learned() -> None:
    hostile = ("<script>a</script>", '"><img src=x onerror=alert(1)>', "c&d")
    named = Duels(hostile, BY_HAND.queries, BY_HAND.left, BY_HAND.right, BY_HAND.answers)
    page = render_lists(list_report(named, None, "no page has a grade <b>"))
    assert "<script>" not in page
    assert "<img" not in page
    assert "&lt;script&gt;a" in page
    assert "no page has a grade &lt;b&gt;" in page
