"""Tests of the cache bounded in bytes: recent values stay, too large ones are not cached."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.services.byte_cache import ByteCache


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 12)), max_size=40))
def test_it_holds_what_was_used_last_within_its_bound(steps: list[tuple[bool, int, int]]) -> None:
    cache: ByteCache[int, int] = ByteCache(20, largest=10)
    kept: dict[int, int] = {}  # in order of use
    for is_put, key, size in steps:
        if is_put:
            cache.put(key, size, size)
            kept.pop(key, None)
            if size <= 10:
                kept[key] = size
            while sum(kept.values()) > 20:
                kept.pop(next(iter(kept)))
        else:
            assert cache.get(key) == kept.get(key)
            if key in kept:
                kept[key] = kept.pop(key)
        assert cache.size == sum(kept.values()) <= 20


def test_a_value_larger_than_the_whole_is_not_kept() -> None:
    cache: ByteCache[str, str] = ByteCache(10)
    cache.put("a", "small", 10)
    cache.put("b", "large", 11)
    assert cache.get("a") == "small"
    assert cache.get("b") is None


def test_threads_leave_its_size_right() -> None:
    cache: ByteCache[int, int] = ByteCache(50)

    def use(start: int) -> None:
        for number in range(2_000):
            key = (start * number) % 97
            if cache.get(key) is None:
                cache.put(key, key, key % 7)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(1, 5)))
    kept = [key for key in range(97) if cache.get(key) is not None]
    assert cache.size == sum(key % 7 for key in kept) <= 50
