"""Random draws: determined by seed and name, uniform, and reproducible."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.draws import draw_below, draw_fraction, draw_integer, shuffled


def test_draws_are_the_same_years_later() -> None:
    """Compare with fixed values, on which stored sessions depend."""
    assert draw_integer("seed", "sides", 3) == 17576034767342337595
    assert shuffled(range(8), "seed", "order") == [1, 5, 4, 7, 6, 3, 2, 0]


def test_another_name_or_seed_gives_another_draw() -> None:
    draws = {draw_integer(seed, name) for seed in ("a", "b") for name in ("x", "y", "xy")}
    assert len(draws) == 6
    assert draw_integer("a", "x", "y") != draw_integer("a", "xy")


@given(items=st.lists(st.integers(), max_size=40), seed=st.text(min_size=1, max_size=12))
def test_shuffling_keeps_every_item(items: list[int], seed: str) -> None:
    assert Counter(shuffled(items, seed, "order")) == Counter(items)


def test_fractions_and_integers_are_spread_evenly() -> None:
    counts = Counter(int(10 * draw_fraction("s", "f", number)) for number in range(5000))
    assert set(counts) == set(range(10))
    assert max(counts.values()) < 600
    counts_below = Counter(draw_below(6, "s", "p", number) for number in range(6000))
    assert max(counts_below.values()) - min(counts_below.values()) < 200


def test_every_order_of_three_is_about_as_likely() -> None:
    orders = Counter(tuple(shuffled("abc", str(seed), "order")) for seed in range(3000))
    assert len(orders) == 6
    assert max(orders.values()) - min(orders.values()) < 130
