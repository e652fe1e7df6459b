"""Work for people who come one by one: every query as often as promised, nobody a query twice."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.crowds import Slot, next_work
from topkapi.app.domain.enums import Tool

TOOLS = st.sampled_from([(Tool.PAIRS,), (Tool.PAIRS, Tool.GRADES), (Tool.LISTS,)])


@given(st.integers(1, 12), TOOLS, st.integers(1, 4), st.integers(1, 6), st.text(max_size=4))
def test_people_take_every_slot_once(
    queries: int, tools: tuple[Tool, ...], rounds: int, count: int, seed: str
) -> None:
    taken: list[Slot[int]] = []
    while True:
        work = next_work(
            range(queries), tools, rounds=rounds, taken=taken, met=set(), count=count, seed=seed
        )
        if not work:
            break
        assert len({query for query, _, _ in work}) == len(work) <= count
        used = Counter(tool for _, tool, _ in work)
        if taken == [] and len(work) == count:
            assert max(used.values()) - min(used[tool] for tool in tools) <= 1
        taken += work
    assert sorted(taken) == sorted(
        (query, tool, number)
        for query in range(queries)
        for tool in tools
        for number in range(rounds)
    )


@given(st.sets(st.integers(0, 9)))
def test_a_query_that_was_met_is_not_given_again(met: set[int]) -> None:
    work = next_work(range(10), (Tool.PAIRS,), rounds=2, taken=(), met=met, count=10, seed="tulips")
    assert {query for query, _, _ in work} == set(range(10)) - met
    assert {number for _, _, number in work} <= {0}
