"""Rotation with growth: queries and assessors are added, work is withdrawn, rounds are added."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from topkapi.app.domain.assignment.growth import (
    Existing,
    Growth,
    GrowthStep,
    Move,
    NobodyFree,
    fill,
    grow,
    rebalance,
)
from topkapi.app.domain.assignment.rotation import (
    AssignmentSpec,
    legal_rounds,
    odd_ring_missing,
    pairs_of,
    rotation,
)
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid

BOTH = (Tool.PAIRS, Tool.GRADES)
ALL = (Tool.PAIRS, Tool.GRADES, Tool.LISTS)
Work = AssignmentSpec[int, int]
tool_sets = st.sampled_from([BOTH, (Tool.PAIRS,), ALL])


@dataclass
class Running:
    """A study while it runs: its queries, its work and its steps."""

    tools: tuple[Tool, ...]
    queries: int = 0
    work: set[Work] = field(default_factory=set)
    withdrawn: set[Work] = field(default_factory=set)
    steps: list[GrowthStep[int, int]] = field(default_factory=list)

    def met(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for work in self.work | self.withdrawn:
            found.setdefault(work.query, set()).add(work.assessor)
        return found

    def grow(self, people: Sequence[int], rounds: int) -> Growth[int, int]:
        grown = grow(
            range(self.queries),
            people,
            self.tools,
            rounds=rounds,
            seed="s",
            earlier=self.steps,
            existing=Existing(self.work, self.met()),
        )
        self.work |= set(grown.added)
        self.steps += [grown.step] if grown.step else []
        return grown


@dataclass(frozen=True)
class Event:
    """Added queries, the chosen people, the rounds, and which assignments are withdrawn before."""

    queries: int
    people: int
    absent: frozenset[int]
    rounds: int
    withdrawn: frozenset[int]


events = st.lists(
    st.builds(
        Event,
        queries=st.integers(0, 9),
        people=st.integers(2, 8),
        absent=st.frozensets(st.integers(0, 7), max_size=1),
        rounds=st.integers(1, 3),
        withdrawn=st.frozensets(st.integers(0, 30), max_size=3),
    ),
    min_size=1,
    max_size=4,
)


def happened(study: Running, event: Event) -> Growth[int, int]:
    study.queries += event.queries
    ordered = sorted(study.work, key=repr)
    lost = {ordered[index] for index in event.withdrawn if index < len(ordered)}
    study.work, study.withdrawn = study.work - lost, study.withdrawn | lost
    people = [person for person in range(event.people) if person not in event.absent]
    return study.grow(people, event.rounds)


def lived(
    tools: tuple[Tool, ...], history: list[Event]
) -> Iterator[tuple[Running, Event, Growth[int, int]]]:
    """Yield a study after each event of a history in which nothing is refused."""
    study = Running(tools)
    for event in history:
        try:
            grown = happened(study, event)
        except Invalid:
            assume(False)
        yield study, event, grown


@given(tools=tool_sets, history=events)
def test_nobody_meets_a_query_twice_and_every_query_is_judged_as_often_as_promised(
    tools: tuple[Tool, ...], history: list[Event]
) -> None:
    for study, event, _ in lived(tools, history):
        met = Counter((work.assessor, work.query) for work in [*study.work, *study.withdrawn])
        assert set(met.values()) <= {1}
        judged = Counter((work.query, work.tool, work.round) for work in study.work)
        promised = product(range(study.queries), tools, range(event.rounds))
        assert all(judged[slot] == 1 for slot in promised)
        assert set(judged.values()) <= {1}


@given(tools=tool_sets, history=events)
def test_a_refusal_is_justified(tools: tuple[Tool, ...], history: list[Event]) -> None:
    study = Running(tools)
    for event in history:
        try:
            happened(study, event)
        except Invalid:
            people = set(range(event.people)) - event.absent
            assert any(_short(study, query, people, event.rounds) for query in range(study.queries))
            return


def _short(study: Running, query: int, people: set[int], rounds: int) -> bool:
    mine = [work for work in study.work if work.query == query and work.round < rounds]
    free = people - study.met().get(query, set())
    return len(study.tools) * rounds - len(mine) > len(free)


@given(tools=tool_sets, history=events)
def test_loads_of_new_queries_differ_by_at_most_one(
    tools: tuple[Tool, ...], history: list[Event]
) -> None:
    for _, _, grown in lived(tools, history):
        if grown.step is not None:
            mine = set(grown.step.queries)
            loads = Counter(work.assessor for work in grown.added if work.query in mine)
            counts = [loads[person] for person in grown.step.people]
            assert max(counts) - min(counts) <= 1


@given(tools=st.sampled_from([BOTH, (Tool.PAIRS,)]), data=st.data())
def test_steps_of_the_same_people_have_loads_that_differ_by_at_most_one(
    tools: tuple[Tool, ...], data: st.DataObject
) -> None:
    """Further queries and further rounds, as many as are legal, with the same people throughout."""
    m = data.draw(st.integers(2, 8))
    most = legal_rounds(m, len(tools))
    study = Running(tools)
    for rounds in sorted(data.draw(st.lists(st.integers(1, most), min_size=1, max_size=3))):
        study.queries += data.draw(st.integers(0, 12))
        grown = study.grow(range(m), rounds)
        for step in study.steps:
            mine = set(step.queries)
            loads = Counter(work.assessor for work in grown.added if work.query in mine)
            assert _spread(loads, m) <= 1


def _spread(loads: Counter[int], m: int) -> int:
    counts = [loads[person] for person in range(m)]
    return max(counts) - min(counts)


@given(tools=tool_sets, history=events)
def test_what_was_assigned_stays(tools: tuple[Tool, ...], history: list[Event]) -> None:
    for study, event, _ in lived(tools, history):
        before = set(study.work)
        again = study.grow(range(event.people), event.rounds)
        assert not again.added
        assert study.work == before


@given(m=st.integers(4, 9), first=st.integers(1, 12), more=st.integers(1, 12))
def test_a_new_assessor_gets_a_share_of_new_queries(m: int, first: int, more: int) -> None:
    study = Running(BOTH, queries=first)
    study.grow(range(m), 2)
    study.queries += more + m  # enough for everyone
    grown = study.grow(range(m + 1), 2)
    assert any(work.assessor == m for work in grown.added)


@given(
    needs=st.lists(
        st.tuples(st.integers(1, 2), st.frozensets(st.integers(0, 3))), min_size=1, max_size=5
    )
)
def test_gaps_are_filled_as_evenly_as_possible(needs: list[tuple[int, frozenset[int]]]) -> None:
    people = range(4)
    missing = [(query, BOTH[n], 0) for query, (count, _) in enumerate(needs) for n in range(count)]
    met = {query: barred for query, (_, barred) in enumerate(needs)}
    best = _best_spread(missing, met)
    if best is None:
        with pytest.raises(NobodyFree):
            fill(missing, people, met)
        return
    made = fill(missing, people, met)
    assert len({(work.assessor, work.query) for work in made}) == len(missing)
    assert all(work.assessor not in met[work.query] for work in made)
    assert sorted(_slot(work) for work in made) == sorted(missing)
    assert _spread(Counter(work.assessor for work in made), 4) == best


def _slot(work: Work) -> tuple[int, Tool, int]:
    return work.query, work.tool, work.round


def _best_spread(
    missing: list[tuple[int, Tool, int]], met: dict[int, frozenset[int]]
) -> int | None:
    """Return the smallest difference of loads over all ways to fill the slots, by enumeration."""
    loads: set[tuple[int, ...]] = {(0, 0, 0, 0)}
    for query in {slot[0] for slot in missing}:
        count = sum(slot[0] == query for slot in missing)
        free = [person for person in range(4) if person not in met[query]]
        chosen = {frozenset(each) for each in product(free, repeat=count)}
        sets = [each for each in chosen if len(each) == count]
        loads = {
            tuple(n + (i in each) for i, n in enumerate(old)) for old in loads for each in sets
        }
    return min((max(each) - min(each) for each in loads), default=None)


@given(data=st.data(), m=st.integers(2, 6), added=st.integers(0, 2), queries=st.integers(1, 14))
def test_rebalancing_keeps_the_rule_and_evens_out(
    data: st.DataObject, m: int, added: int, queries: int
) -> None:
    study = Running((Tool.PAIRS,), queries=queries)
    study.grow(range(m), data.draw(st.integers(1, m)))
    work = sorted(study.work, key=repr)
    begun = set(data.draw(st.lists(st.sampled_from(work), max_size=6)))
    waiting = [each for each in work if each not in begun]
    others = Counter(each.assessor for each in begun)
    people = range(m + added)
    moves = rebalance(waiting, people, study.met(), others)
    after = (study.work - {move.work for move in moves}) | {_moved(move) for move in moves}
    assert not {move.work for move in moves} & begun
    assert len({(each.assessor, each.query) for each in after}) == len(study.work)
    assert Counter(map(_slot, after)) == Counter(map(_slot, study.work))
    loads = Counter(each.assessor for each in after)
    before = Counter(each.assessor for each in study.work)
    assert _spread(loads, m + added) <= max(1, _spread(before, m + added))
    assert (
        rebalance([each for each in after if each not in begun], people, _met(after), others) == []
    )


def _moved(move: Move[int, int]) -> Work:
    return AssignmentSpec(move.taker, move.work.query, move.work.tool, move.work.round)


def _met(work: set[Work]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for each in work:
        found.setdefault(each.query, set()).add(each.assessor)
    return found


def test_a_new_assessor_takes_a_share_of_unbegun_work() -> None:
    study = Running((Tool.PAIRS,), queries=12)
    study.grow(range(3), 1)
    moves = rebalance(sorted(study.work, key=repr), range(4), study.met(), {})
    assert [move.taker for move in moves] == [3, 3, 3]
    assert Counter(move.work.assessor for move in moves) == {0: 1, 1: 1, 2: 1}


@pytest.mark.parametrize("queries", [4, 6, 8, 12, 20])
@pytest.mark.parametrize("tool", BOTH)
def test_two_rounds_of_four_people_pair_more_than_two_of_them(queries: int, tool: Tool) -> None:
    work = rotation(range(queries), range(4), BOTH, rounds=2, seed="s")
    met = pairs_of(work, tool)
    assert all(len(others) > 1 for others in met.values())
    assert odd_ring_missing(met) == (queries < 8)


@given(m=st.integers(4, 12), n=st.integers(0, 60))
def test_with_enough_queries_the_pairs_form_an_odd_ring(m: int, n: int) -> None:
    for tools in (BOTH, (Tool.PAIRS,)):
        work = rotation(range(m * m + n), range(m), tools, rounds=2, seed="s")
        assert not any(odd_ring_missing(pairs_of(work, tool)) for tool in tools)


def test_pairs_that_form_no_odd_ring_are_found() -> None:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    for edges, missing in ((ring, True), ([*ring, (0, 2)], False), ([], False), ([(0, 1)], True)):
        work = [
            AssignmentSpec(person, query, Tool.PAIRS, number)
            for query, pair in enumerate(edges)
            for number, person in enumerate(pair)
        ]
        assert odd_ring_missing(pairs_of(work, Tool.PAIRS)) == missing
