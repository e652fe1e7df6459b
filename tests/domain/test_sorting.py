"""Sorters: a correct top k for any true order, within the proven number of questions."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.strategies import EXACT_SORTERS, orders
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.sorters.ranking import Ranking
from topkapi.app.domain.pairs.sorters.registry import (
    SORTERS,
    heap_bound,
    insertion_bound,
    tournament_bound,
)


def prefer(worth: Mapping[int, float], pair: Pair) -> Preference:
    first, second = worth[pair[0]], worth[pair[1]]
    if first == second:
        return Preference.TIE
    return Preference.FIRST if first > second else Preference.SECOND


def sort_all(
    name: str, items: Sequence[int], k: int, worth: Mapping[int, float]
) -> tuple[Ranking, list[Pair]]:
    sort = SORTERS[name].sort
    assert sort is not None
    sorter = sort(items, k)
    asked: list[Pair] = []
    try:
        pair = next(sorter)
        while True:
            asked.append(pair)
            pair = sorter.send(prefer(worth, pair))
    except StopIteration as stop:
        ranking: Ranking = stop.value
    return ranking, asked


@st.composite
def truths(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[int, float]]:
    items = draw(orders())
    grades = st.floats(0, 1) if draw(st.booleans()) else st.integers(0, 3).map(float)
    return items, {item: draw(grades) for item in items}


def test_insertion_puts_an_item_behind_its_equals() -> None:
    ranking, _ = sort_all("insertion", (4, 2, 9), 3, dict.fromkeys((4, 2, 9), 1.0))
    assert [item for group in ranking for item in group] == [4, 2, 9]


@pytest.mark.parametrize("name", EXACT_SORTERS)
@given(truth=truths(), k=st.integers(1, 30))
def test_the_ranking_is_a_correct_top_k(
    name: str, truth: tuple[tuple[int, ...], dict[int, float]], k: int
) -> None:
    items, worth = truth
    ranking, _ = sort_all(name, items, k, worth)
    listed = [item for group in ranking for item in group]
    assert len(set(listed)) == len(listed)
    expected = sorted(worth.values(), reverse=True)[:k]
    assert [worth[item] for item in listed][:k] == expected
    assert len(listed) >= min(k, len(items))


@pytest.mark.parametrize("name", EXACT_SORTERS)
@given(truth=truths(), k=st.integers(1, 30))
def test_the_number_of_questions_keeps_to_the_proven_bound(
    name: str, truth: tuple[tuple[int, ...], dict[int, float]], k: int
) -> None:
    items, worth = truth
    _, asked = sort_all(name, items, k, worth)
    assert len(asked) <= SORTERS[name].bound(len(items), k)
    assert all(first != second for first, second in asked)


@given(truth=truths(), k=st.integers(1, 30))
def test_buckets_puts_equals_in_one_class_and_keeps_the_last_class_whole(
    truth: tuple[tuple[int, ...], dict[int, float]], k: int
) -> None:
    items, worth = truth
    ranking, _ = sort_all("buckets", items, k, worth)
    for group in ranking:
        assert {worth[item] for item in group} == {worth[group[0]]}
        assert set(group) == {item for item in items if worth[item] == worth[group[0]]}
        assert list(group) == sorted(group, key=items.index), "document order within a class"
    assert sum(len(group) for group in ranking[:-1]) < k


def test_bounds_worked_by_hand() -> None:
    # Two levels under the root of seven: build 2*2 + 2*(2*1), final 2*2+2*2+2*2+2*1+2*1.
    assert heap_bound(7, 7) == 8 + 2 * 2 * 3 + 2 * 2
    assert heap_bound(8, 7) == heap_bound(7, 7) + 1 + 2 * 2
    assert insertion_bound(4, 4) == 0 + 1 + 2 + 2
    assert insertion_bound(6, 4) == 5 + 2 * (1 + 2)
    assert tournament_bound(50, 10) == 94
    assert [tournament_bound(n, 1) for n in (0, 1, 2, 8)] == [0, 0, 1, 7]


@pytest.mark.thorough
@each_case("name", EXACT_SORTERS)
def test_the_bound_of_three_items_is_reached(name: str) -> None:
    """Try all sequences of answers: the bound must be reached, or nearly."""
    most = 0
    sort = SORTERS[name].sort
    assert sort is not None
    for code in range(3**8):
        answers = [list(Preference)[code // 3**digit % 3] for digit in range(8)]
        sorter = sort((1, 2, 3), 3)
        asked = 0
        try:
            next(sorter)
            for each in answers:
                asked += 1
                sorter.send(each)
        except StopIteration:
            most = max(most, asked)
    assert 2 <= most <= SORTERS[name].bound(3, 3)
    assert most >= SORTERS[name].bound(3, 3) - 1
