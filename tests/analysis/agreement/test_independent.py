"""Statistics against other people's implementations, or plain loops, on awkward data.

What has such a test beside its own module is not repeated here.
"""

from itertools import pairwise, permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from tests.analysis.agreement import brute
from tests.cases import each_case
from tests.kappa import cohen_kappa_score
from topkapi.analysis.aggregation import consensus_of
from topkapi.analysis.agreement import (
    Judgments,
    Scores,
    from_scores,
    left_bias,
    pair_tables,
    permute_queries,
    rating_sums,
    rbo_matrix,
    resamples,
)
from topkapi.analysis.agreement.consistency import LeftBias
from topkapi.analysis.efficiency import Sessions, Timings, drift
from topkapi.analysis.report.serialise import record_of
from topkapi.analysis.report.subjects.agreement import pooled
from topkapi.analysis.typing import FloatArray, IntArray

seeds = st.integers(0, 10**6)


def votes_in(table: IntArray) -> tuple[list[int], list[int]]:
    """Return the votes of the two assessors of a table one by one."""
    cells = [(i, j) for i in range(3) for j in range(3) for _ in range(int(table[i, j]))]
    return [i for i, _ in cells], [j for _, j in cells]


def _mean(values: list[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


@given(seed=seeds, depth=st.integers(1, 4))
def test_rbo_compares_the_pages_that_both_judged(seed: int, depth: int) -> None:
    """Return the mean over every way to break ties, without pages that are not judged."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (2, 4)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    found = rbo_matrix(values, depth=depth, persistence=0.8)[0, 1]
    values[:, np.isnan(values).any(axis=0)] = np.nan
    depth = min(depth, int((~np.isnan(values[0])).sum()))
    assume(depth > 0)
    ways = [_overlaps(a, b, depth) for a in _orders(values[0]) for b in _orders(values[1])]
    overlap = np.mean(ways, axis=0)
    ranks = np.arange(1, depth + 1)
    expected = overlap[-1] / depth * 0.8**depth + 0.25 * (overlap / ranks * 0.8**ranks).sum()
    assert found == pytest.approx(expected, abs=1e-9)


def _orders(values: FloatArray) -> list[list[int]]:
    """Yield every ranking that the scores allow, without pages that are not judged."""
    judged = [place for place in range(values.size) if not np.isnan(values[place])]
    return [
        list(order)
        for order in permutations(judged)
        if all(values[a] >= values[b] for a, b in pairwise(order))
    ]


def _overlaps(one: list[int], two: list[int], depth: int) -> list[int]:
    return [len({*one[:d]} & {*two[:d]}) for d in range(1, depth + 1)]


# Answers, each with the number of its query.
answers = st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 8)), min_size=1, max_size=39).map(
    np.array
)


def bias_of(given_answers: IntArray) -> LeftBias:
    answer, query = given_answers.T
    side = {"left": np.zeros(len(answer)), "right": np.ones(len(answer))}
    nobody = np.zeros(len(answer))
    return left_bias(Judgments.of(assessor=nobody, query=query, **side, answer=answer))


@given(length=st.integers(1, 39))
def test_ties_alone_say_nothing_about_a_side(length: int) -> None:
    found = bias_of(np.array([(0, number % 3) for number in range(length)]))
    assert (found.left, found.total) == (0, 0)
    assert np.isnan([found.share, found.p, found.p_queries]).all()


@given(given_answers=answers)
def test_the_side_test_is_the_binomial_one(given_answers: IntArray) -> None:
    found, answer = bias_of(given_answers), given_answers[:, 0]
    left, total = int((answer > 0).sum()), int((answer != 0).sum())
    assert (found.left, found.total) == (left, total)
    assume(total)
    chances = [comb(total, x) / 2**total for x in range(total + 1)]
    extreme = sum(c for c in chances if c <= chances[left] * (1 + 1e-9))
    assert found.p == pytest.approx(extreme, abs=1e-9)


@given(given_answers=answers, query=st.integers(0, 8))
def test_one_query_cannot_be_flipped(given_answers: IntArray, query: int) -> None:
    given_answers[:, 1] = query
    assert np.isnan(bias_of(given_answers).p_queries)


@given(given_answers=answers)
def test_the_side_test_flips_queries(given_answers: IntArray) -> None:
    found, (answer, query) = bias_of(given_answers), given_answers.T
    excess = [int(answer[query == q].sum()) for q in sorted({*query[answer != 0].tolist()})]
    assume(len(excess) >= 2)
    signs = product((1, -1), repeat=len(excess))
    sums = [abs(sum(s * e for s, e in zip(flip, excess, strict=True))) for flip in signs]
    exact = np.mean([each >= abs(sum(excess)) for each in sums])
    assert found.p_queries == pytest.approx(exact, abs=0.025)  # 9,999 flips drawn: five deviations


@given(seed=seeds)
def test_tools_of_single_queries_are_exchanged_as_if_all_choices_were_listed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tool = [0, 0, 1, 1, 1]  # then two queries with both tools
    total = np.zeros((7, 2))
    total[np.arange(5), tool] = rng.integers(1, 20, 5)
    total[5:] = rng.integers(1, 20, (2, 2))
    same = np.floor(total * rng.random((7, 2)))
    found = permute_queries(same, total)
    hits, ways = 0, list(product(sorted(set(permutations(tool))), (0, 1), (0, 1)))
    for way, *turned in ways:
        votes = np.zeros((2, 2))
        for query, side in enumerate(way):
            votes[:, side] += [same[query].sum(), total[query].sum()]
        for query, turn in enumerate(turned, start=5):
            for side in (0, 1):
                votes[:, side ^ turn] += [same[query, side], total[query, side]]
        shares = votes[0] / votes[1]
        hits += abs(shares[0] - shares[1]) >= abs(found.difference) - 1e-12
    assert (found.exact, found.exchanges) == (True, len(ways))
    assert found.p == pytest.approx(hits / len(ways), abs=1e-12)


def test_drift_is_the_slope_of_a_regression_with_a_level_a_session() -> None:
    rng = np.random.default_rng(5)
    session = np.sort(rng.integers(0, 6, 80))
    position = np.concatenate([np.arange(n) for n in np.bincount(session) if n])
    active = rng.lognormal(2, 0.7, 80) * (rng.random(80) > 0.1)  # some took no time at all
    stands = rng.random(80) > 0.2
    timings = Timings.of(session=session, position=position, active=active, effective=stands)
    sessions = Sessions.of(assessor=np.arange(6) % 2, query=np.arange(6) // 2, n=20, k=5)
    kept = stands & (active > 0)
    columns = [position / 100.0, *(session == each for each in range(6))]
    design = np.stack(columns, axis=1)[kept].astype(float)
    slope = np.linalg.lstsq(design, np.log(active[kept]), rcond=None)[0][0]
    found = drift(timings, sessions, resamples(np.ones(3), draws=20))[0]
    assert found == pytest.approx(np.exp(slope), rel=1e-9)


@each_case(("assessors", "queries"), [(1, 4), (2, 1), (3, 5), (5, 8)])
def test_every_pooled_figure_and_interval_equals_plain_resampling(
    assessors: int, queries: int
) -> None:
    """Lay out each resample vote by vote, queries repeated as often as drawn."""
    preferences = brute.random_preferences(assessors * 7, assessors, queries, 5)
    tables = pair_tables(preferences)
    used = np.bincount(tables.query, minlength=queries)
    drawn = resamples(used, draws=60, seed=2)
    found = record_of(pooled(tables, rating_sums(preferences), None, drawn))
    counted = brute.tables(preferences)
    whole = np.ones(queries, dtype=int)
    scale = (drawn.n_used - 1) / drawn.n_used if drawn.n_used > 1 else 1.0
    times = (drawn.weights * scale).round().astype(int)
    for name, value in _plain(counted, whole).items():
        assert _number(found[name]["value"]) == pytest.approx(value, abs=1e-9, nan_ok=True)
    if drawn.n_used < 2:
        assert "low" not in found["overall"] or found["overall"]["low"] is None
        return
    resampled = [_plain(counted, np.where(used > 0, row, 0)) for row in times]
    tail = stats.norm.cdf(stats.t.ppf(0.025, drawn.freedom))
    for name in ("overall", "cohen_kappa"):
        ends = np.nanquantile([each[name] for each in resampled], [tail, 1 - tail])
        assert [found[name]["low"], found[name]["high"]] == pytest.approx(ends, abs=1e-9)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _plain(counted: dict[tuple[int, int, int], FloatArray], times: IntArray) -> dict[str, float]:
    table = np.zeros((3, 3))
    for (query, _, _), counts in counted.items():
        table += times[query] * counts
    one, two = votes_in(table.astype(int))
    one, two = one + [2 - vote for vote in one], two + [2 - vote for vote in two]
    if len({(first, second) for _, first, second in counted}) > 1:
        one, two = one + two, two + one
    kappa = float(cohen_kappa_score(one, two)) if one else float("nan")
    same = [a == b for a, b in zip(one, two, strict=True)]
    return {"overall": _mean(same), "cohen_kappa": kappa}


@given(seed=seeds, documents=st.integers(2, 5), people=st.integers(1, 4))
def test_a_consensus_of_few_pages_is_the_cheapest_of_all_orders(
    seed: int, documents: int, people: int
) -> None:
    """Enumerate the weighted disagreement of every permutation, and count departures."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (people, documents)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    weights = rng.uniform(0.2, 1, people)
    block = from_scores([Scores(0, np.arange(people), values)], people, 1).blocks[0]
    found = consensus_of(block, documents, weights)
    costs = {order: _cost(values, weights, order) for order in permutations(range(documents))}
    assert costs[tuple(found.order.tolist())] == pytest.approx(min(costs.values()), abs=1e-9)
    for person, departed in enumerate(found.departures(documents)):
        against, stated = _against(values[person], tuple(found.order.tolist()))
        expected = against / stated if stated else float("nan")
        assert departed == pytest.approx(expected, abs=1e-9, nan_ok=True)


def _against(values: FloatArray, order: tuple[int, ...]) -> tuple[int, int]:
    """Count the preferences that an order reverses, and all of them."""
    ahead = [(a, b) for at, a in enumerate(order) for b in order[at + 1 :]]
    against = sum(bool(values[b] > values[a]) for a, b in ahead)
    return against, against + sum(bool(values[a] > values[b]) for a, b in ahead)


def _cost(values: FloatArray, weights: FloatArray, order: tuple[int, ...]) -> float:
    pairs = zip(values, weights, strict=True)
    return sum(float(weight) * _against(row, order)[0] for row, weight in pairs)
