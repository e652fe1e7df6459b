"""Rotation: folds, rounds, and the rule that no assessor judges a query with two tools."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.app.domain.assignment.rotation import (
    AssignmentSpec,
    RuleBroken,
    folds,
    legal_rounds,
    refuse_breach,
    rotation,
    ruled_tools,
)
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid

BOTH = (Tool.PAIRS, Tool.GRADES)
ALL = (Tool.PAIRS, Tool.GRADES, Tool.LISTS)
assessor_counts = st.integers(2, 12)
query_counts = st.integers(0, 60)
seeds = st.text(max_size=8)


def names(count: int) -> list[str]:
    return [f"a{number}" for number in range(count)]


@given(m=assessor_counts, n=query_counts, seed=seeds, data=st.data())
def test_nobody_meets_a_query_twice_and_each_is_judged_once_per_tool_and_round(
    m: int, n: int, seed: str, data: st.DataObject
) -> None:
    tools = data.draw(st.sampled_from([BOTH, (Tool.PAIRS,), (Tool.GRADES,), ALL]))
    most = legal_rounds(m, len(tools))
    if most == 0:
        return
    rounds = data.draw(st.integers(1, most))
    shares = rotation(range(n), names(m), tools, rounds=rounds, seed=seed)
    met = Counter((share.assessor, share.query) for share in shares)
    judged = Counter((share.query, share.tool, share.round) for share in shares)
    assert set(met.values()) <= {1}
    assert judged == {
        (query, tool, number): 1 for query in range(n) for tool in tools for number in range(rounds)
    }


@given(m=assessor_counts, n=query_counts, seed=seeds, data=st.data())
def test_totals_of_a_round_differ_by_at_most_one(
    m: int, n: int, seed: str, data: st.DataObject
) -> None:
    tools = data.draw(st.sampled_from([BOTH, (Tool.PAIRS,)]))
    shares = rotation(range(n), names(m), tools, rounds=legal_rounds(m, len(tools)), seed=seed)
    for number in range(legal_rounds(m, len(tools))):
        totals = Counter(share.assessor for share in shares if share.round == number)
        counts = [totals[name] for name in names(m)]
        assert max(counts) - min(counts) <= 1


@given(m=assessor_counts, n=query_counts)
def test_one_round_more_than_legal_is_refused_with_how_to_fix_it(m: int, n: int) -> None:
    for tools in (BOTH, (Tool.PAIRS,)):
        rounds = legal_rounds(m, len(tools)) + 1
        with pytest.raises(Invalid, match=f"at least {rounds * len(tools)} assessors"):
            rotation(range(n), names(m), tools, rounds=rounds, seed="")


@given(m=assessor_counts, n=query_counts, seed=seeds)
def test_a_further_round_leaves_the_earlier_ones_as_they_were(m: int, n: int, seed: str) -> None:
    most = legal_rounds(m, 2)
    whole = rotation(range(n), names(m), BOTH, rounds=most, seed=seed)
    for rounds in range(1, most):
        part = rotation(range(n), names(m), BOTH, rounds=rounds, seed=seed)
        assert whole[: len(part)] == part


@given(m=assessor_counts, n=query_counts, seed=seeds)
def test_a_legal_rotation_never_breaches_its_own_rule(m: int, n: int, seed: str) -> None:
    taken: list[AssignmentSpec[str, int]] = []
    for share in rotation(range(min(n, 15)), names(m), BOTH, rounds=legal_rounds(m, 2), seed=seed):
        refuse_breach(share, taken, BOTH)
        taken.append(share)


@given(n=query_counts, m=assessor_counts)
def test_folds_are_where_the_formula_puts_them(n: int, m: int) -> None:
    cut = folds(range(n), m)
    for number, fold in enumerate(cut):
        assert list(fold) == list(range(number * n // m, (number + 1) * n // m))
    assert [query for fold in cut for query in fold] == list(range(n))


def test_the_grid_of_a_small_study_by_hand() -> None:
    shares = rotation(range(5), names(5), BOTH, rounds=2, seed="s")
    fold = {
        share.query: int(share.assessor[1]) for share in shares[:10] if share.tool is Tool.PAIRS
    }
    for share in shares:
        shift = 2 * share.round + BOTH.index(share.tool)
        assert fold[share.query] == (int(share.assessor[1]) + shift) % 5


def test_one_assessor_cannot_serve_two_tools() -> None:
    with pytest.raises(Invalid, match="no assessor may judge a query with two tools"):
        rotation(range(4), ["a"], BOTH, rounds=1, seed="")


def test_one_assessor_and_one_tool_make_one_round() -> None:
    shares = rotation(range(4), ["a"], (Tool.PAIRS,), rounds=1, seed="")
    assert sorted(share.query for share in shares) == [0, 1, 2, 3]
    with pytest.raises(Invalid):
        rotation(range(4), ["a"], (Tool.PAIRS,), rounds=2, seed="")


def test_with_fewer_queries_than_assessors_some_have_nothing() -> None:
    shares = rotation(range(2), names(5), (Tool.PAIRS,), rounds=1, seed="x")
    assert len({share.assessor for share in shares}) == 2


@each_case(
    ("queries", "assessors", "tools", "rounds", "field"),
    [
        ([1, 2], ["a", "a"], BOTH, 1, "assessors"),
        ([1, 1], ["a", "b"], BOTH, 1, "queries"),
        ([1, 2], ["a", "b"], (), 1, "tools"),
        ([1, 2], ["a", "b"], (Tool.PAIRS, Tool.PAIRS), 1, "tools"),
        ([1, 2], ["a", "b"], BOTH, 0, "rounds"),
        ([1, 2], [], BOTH, 1, "assessors"),
    ],
)
def test_nonsense_is_refused(
    queries: list[int], assessors: list[str], tools: tuple[Tool, ...], rounds: int, field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        rotation(queries, assessors, tools, rounds=rounds, seed="")
    assert refused.value.field == field


def test_lists_are_outside_the_rule_unless_the_study_says_otherwise() -> None:
    assert ruled_tools(ALL, lists_in_rotation=False) == BOTH
    assert ruled_tools((Tool.LISTS, Tool.PAIRS), lists_in_rotation=True) == (Tool.PAIRS, Tool.LISTS)
    taken = [AssignmentSpec("a", 1, Tool.PAIRS, 0)]
    refuse_breach(AssignmentSpec("a", 1, Tool.LISTS, 0), taken, BOTH)
    with pytest.raises(RuleBroken, match="with two tools"):
        refuse_breach(AssignmentSpec("a", 1, Tool.LISTS, 0), taken, ALL)


def test_each_breach_has_its_own_message() -> None:
    taken = [AssignmentSpec("a", 1, Tool.PAIRS, 0)]
    with pytest.raises(RuleBroken, match="already has this query"):
        refuse_breach(AssignmentSpec("a", 1, Tool.PAIRS, 1), taken, BOTH)
    with pytest.raises(RuleBroken, match="with two tools"):
        refuse_breach(AssignmentSpec("a", 1, Tool.GRADES, 1), taken, BOTH)
    with pytest.raises(RuleBroken, match=r"In round 1 .* someone else"):
        refuse_breach(AssignmentSpec("b", 1, Tool.PAIRS, 0), taken, BOTH)
    refuse_breach(AssignmentSpec("b", 1, Tool.PAIRS, 1), taken, BOTH)
    refuse_breach(AssignmentSpec("b", 1, Tool.GRADES, 0), taken, BOTH)
    refuse_breach(AssignmentSpec("a", 2, Tool.GRADES, 0), taken, BOTH)
