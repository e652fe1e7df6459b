"""Every measure against a plain loop over one query, and against trec_eval where it defines it."""

import math
from collections.abc import Callable, Sequence
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from tests.cases import each_case
from tests.trec_eval import reference_library
from topkapi.analysis.data import RankingData, to_topk
from topkapi.analysis.errors import BadData, UnknownName
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.typing import FloatArray, IntArray

Labels = Sequence[float] | FloatArray | IntArray


def data_of(*queries: Labels) -> RankingData:
    labels = np.concatenate([np.asarray(query, dtype=float) for query in queries])
    offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])])
    return RankingData(np.zeros((labels.size, 1)), labels, offsets)


def ordered(labels: Labels, scores: Labels) -> list[float]:
    return [labels[i] for i in sorted(range(len(labels)), key=lambda i: (-scores[i], i))]


def dcg(labels: Labels, k: int, discount: Callable[[int], float]) -> float:
    return float(sum((2**y - 1) * discount(j) for j, y in enumerate(labels[:k], start=1)))


def brute_ndcg(ranked: Labels, k: int) -> float:
    ideal = dcg(sorted(ranked, reverse=True), k, lambda j: 1 / math.log2(1 + j))
    return dcg(ranked, k, lambda j: 1 / math.log2(1 + j)) / ideal if ideal else 0.0


def brute_letor4(ranked: Labels, k: int) -> float:
    def discount(j: int) -> float:
        return 1.0 if j <= 2 else 1 / math.log2(j)

    ideal = dcg(sorted(ranked, reverse=True), k, discount)
    return dcg(ranked, k, discount) / ideal if ideal and len(ranked) >= k else 0.0


def brute_precision(ranked: Labels, k: int) -> float:
    return float(sum(y > 0 for y in ranked[:k]) / k)


def brute_recall(ranked: Labels, k: int) -> float:
    total = sum(y > 0 for y in ranked)
    return float(sum(y > 0 for y in ranked[:k]) / total) if total else 0.0


def brute_rr(ranked: Labels, k: int) -> float:
    return next((1 / rank for rank, y in enumerate(ranked[:k], start=1) if y > 0), 0.0)


def brute_rbp(ranked: Labels, p: float) -> float:
    return (1 - p) * sum(p**j for j, y in enumerate(ranked) if y > 0)


def brute_ap(ranked: Labels, _: int) -> float:
    hits, total = 0, 0.0
    for rank, y in enumerate(ranked, start=1):
        if y > 0:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


def brute_err(ranked: Labels, top: float) -> float:
    total, reached = 0.0, 1.0
    for rank, y in enumerate(ranked, start=1):
        stop = (2**y - 1) / 2**top
        total += reached * stop / rank
        reached *= 1 - stop
    return total


BRUTE: dict[str, Callable[[Labels], float]] = {
    "ndcg@3": lambda ranked: brute_ndcg(ranked, 3),
    "kappa-ndcg@3": lambda ranked: brute_ndcg(ranked, 3),
    "letor4-ndcg@3": lambda ranked: brute_letor4(ranked, 3),
    "p@3": lambda ranked: brute_precision(ranked, 3),
    "p": lambda ranked: brute_precision(ranked, len(ranked)),
    "recall@3": lambda ranked: brute_recall(ranked, 3),
    "rr": lambda ranked: brute_rr(ranked, len(ranked)),
    "rr@2": lambda ranked: brute_rr(ranked, 2),
    "rbp": lambda ranked: brute_rbp(ranked, 0.8),
    "rbp@3:.5": lambda ranked: brute_rbp(ranked[:3], 0.5),
    "map": lambda ranked: brute_ap(ranked, 0),
    "kappa-err": lambda ranked: brute_err(ranked, max(ranked)),
}

query_lists = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=6),
    min_size=1,
    max_size=4,
)


@given(queries=query_lists)
def test_measures_equal_the_loops_with_ties_kept_in_row_order(
    queries: list[list[tuple[int, int]]],
) -> None:
    labels = [[y for y, _ in query] for query in queries]
    scores = np.array([s for query in queries for _, s in query], dtype=float)
    found = evaluate(data_of(*labels), scores, list(BRUTE), per_query=True)
    for number, query in enumerate(queries):
        ranked = ordered(labels[number], [s for _, s in query])
        for name, brute in BRUTE.items():
            assert found[name][number] == pytest.approx(brute(ranked), abs=1e-12), name


@settings(max_examples=40)
@given(query=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5))
def test_expected_ties_are_the_mean_over_all_orders_of_tied_documents(
    query: list[tuple[int, int]],
) -> None:
    labels, scores = [y for y, _ in query], [s for _, s in query]
    groups = [[y for y, s in query if s == level] for level in sorted(set(scores), reverse=True)]
    orders = [
        [y for group in choice for y in group]
        for choice in product(*(list(permutations(group)) for group in groups))
    ]
    data = data_of(labels)
    found = evaluate(data, np.array(scores, dtype=float), list(BRUTE), ties="expected")
    for name, brute in BRUTE.items():
        mean = np.mean([brute(order) for order in orders])
        assert found[name] == pytest.approx(mean, abs=1e-12), name


def test_err_takes_the_highest_label_of_the_data_and_kappa_err_that_of_the_query() -> None:
    data = data_of([1, 0], [2, 0])
    found = evaluate(data, np.array([1.0, 0, 1, 0]), ["err", "kappa-err"], per_query=True)
    np.testing.assert_allclose(found["err"], [1 / 4, 3 / 4])
    np.testing.assert_allclose(found["kappa-err"], [1 / 2, 3 / 4])


def test_values_equal_trec_eval_fed_with_exponential_gains() -> None:
    pytrec_eval = reference_library("pytrec_eval")
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 40, size=30)
    labels = [rng.integers(0, 3, size=size) for size in sizes]
    scores = [rng.permutation(100)[:size] / 7 for size in sizes]
    gains = {
        str(q): {f"d{i}": int(2**y - 1) for i, y in enumerate(ys)} for q, ys in enumerate(labels)
    }
    run = {str(q): {f"d{i}": float(s) for i, s in enumerate(ss)} for q, ss in enumerate(scores)}
    names = {"ndcg_cut_10": "ndcg@10", "map": "map", "P_5": "p@5", "ndcg": "ndcg"}
    names |= {"recip_rank": "rr", "recall_5": "recall@5"}
    asked = {"ndcg_cut.10", "map", "P.5", "ndcg", "recip_rank", "recall.5"}
    theirs = pytrec_eval.RelevanceEvaluator(gains, asked).evaluate(run)
    ours = evaluate(data_of(*labels), np.concatenate(scores), list(names.values()), per_query=True)
    for their, our in names.items():
        expected = [theirs[str(q)][their] for q in range(len(labels))]
        np.testing.assert_allclose(ours[our], expected, atol=1e-12)


def test_values_equal_ir_measures() -> None:
    ir_measures = reference_library("ir_measures")
    rng = np.random.default_rng(4)
    labels = [rng.integers(0, 3, size=size) for size in rng.integers(1, 30, size=20)]
    scores = [rng.permutation(100)[: len(each)] / 7 for each in labels]
    qrels = [
        ir_measures.Qrel(str(q), f"d{i}", int(y))
        for q, ys in enumerate(labels)
        for i, y in enumerate(ys)
    ]
    run = [
        ir_measures.ScoredDoc(str(q), f"d{i}", float(s))
        for q, ss in enumerate(scores)
        for i, s in enumerate(ss)
    ]
    names = {"RR": "rr", "RR@3": "rr@3", "R@5": "recall@5"}
    ours = evaluate(data_of(*labels), np.concatenate(scores), list(names.values()), per_query=True)
    for their, our in names.items():
        found = ir_measures.iter_calc([ir_measures.parse_measure(their)], qrels, run)
        by_query = {each.query_id: each.value for each in found}
        expected = [by_query[str(q)] for q in range(len(labels))]
        np.testing.assert_allclose(ours[our], expected, atol=1e-9)


def test_the_printed_kappa_err_cannot_order_rankings() -> None:
    labels = [3.0, 2, 1, 0, 0]
    values = set()
    for order in permutations(labels):
        total, reached = 0.0, 1.0
        for y in order:
            stop = (2**y - 1) / 2**3
            total += reached * stop / len(labels)
            reached *= 1 - stop
        values.add(round(total, 12))
    assert len(values) == 1
    data = data_of(labels, labels)
    found = evaluate(
        data, np.array([5.0, 4, 3, 2, 1, 1, 2, 3, 4, 5]), ["kappa-err"], per_query=True
    )
    assert found["kappa-err"][0] > found["kappa-err"][1]


def test_kappa_err_of_the_ideal_order_of_fifty() -> None:
    data = to_topk(data_of(np.arange(50.0)), 10)
    ideal = evaluate(data, np.arange(50.0), ["kappa-err", "kappa-ndcg@10"])
    assert ideal["kappa-err"] == pytest.approx(0.9993, abs=5e-5)
    assert ideal["kappa-ndcg@10"] == 1.0


def test_labels_over_a_thousand_do_not_overflow() -> None:
    data = data_of(np.arange(1, 3001))
    found = evaluate(data, np.arange(3000.0), ["ndcg@10", "kappa-err", "wkt@10"])
    assert found["ndcg@10"] == 1.0
    assert found["kappa-err"] == pytest.approx(1.0, abs=1e-2)
    assert found["wkt@10"] == 0.0
    worst = evaluate(data, -np.arange(3000.0), ["ndcg@10"])["ndcg@10"]
    assert worst == pytest.approx(0.0, abs=1e-300)


def test_kendall_tau_equals_scipy() -> None:
    rng = np.random.default_rng(5)
    labels = [rng.integers(0, 4, size=size) for size in (2, 7, 30, 5)]
    scores = [rng.integers(0, 6, size=len(ys)).astype(float) for ys in labels]
    found = evaluate(data_of(*labels), np.concatenate(scores), ["kendall-tau"], per_query=True)
    expected = [kendalltau(y, s).statistic for y, s in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(found["kendall-tau"], expected, atol=1e-12)
    constant = evaluate(data_of([1, 1]), np.array([0.0, 1.0]), ["kendall-tau"])
    assert constant["kendall-tau"] == 0.0


def brute_rbo(truth: Sequence[int], ranked: Sequence[int], p: float) -> float:
    m = len(truth)
    shared = [len(set(truth[:d]) & set(ranked[:d])) for d in range(1, m + 1)]
    return shared[-1] / m * p**m + (1 - p) * sum(
        s / d * p ** (d - 1) for d, s in enumerate(shared, start=1)
    )


def test_rbo_is_the_extrapolated_form_over_the_true_list() -> None:
    rng = np.random.default_rng(8)
    for size, k in ((6, 4), (12, 12), (9, 3)):
        truth = rng.permutation(size)
        labels = np.zeros(size)
        labels[truth[:k]] = np.arange(k, 0, -1)
        scores = rng.permutation(size).astype(float)
        found = evaluate(data_of(labels), scores, ["rbo", "rbo:.8"])
        ranked = np.argsort(-scores)
        for name, p in (("rbo", 0.9), ("rbo:.8", 0.8)):
            assert found[name] == pytest.approx(brute_rbo(list(truth[:k]), list(ranked), p))
    assert evaluate(data_of([0, 0]), np.array([1.0, 2.0]), ["rbo"])["rbo"] == 0.0


def brute_compatibility(labels: Labels, scores: Labels, p: float) -> float:
    ranked = sorted(range(len(labels)), key=lambda i: (-scores[i], i))
    positive = [i for i in ranked if labels[i] > 0]
    best = 0.0
    for order in permutations(positive):
        if list(order) != sorted(order, key=lambda i: -labels[i]):
            continue
        depth = len(labels)
        best = max(best, _truncated(ranked, order, p, depth) / _truncated(order, order, p, depth))
    return best


def _truncated(first: Sequence[int], second: Sequence[int], p: float, depth: int) -> float:
    return (1 - p) * sum(
        p ** (d - 1) * len(set(first[:d]) & set(second[:d])) / d for d in range(1, depth + 1)
    )


@settings(max_examples=25, deadline=None)
@given(query=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=1, max_size=5))
def test_compatibility_is_the_best_overlap_with_any_ideal_order(
    query: list[tuple[int, int]],
) -> None:
    labels, scores = [float(y) for y, _ in query], [float(s) for _, s in query]
    found = evaluate(data_of(labels), np.array(scores), ["compatibility"])["compatibility"]
    expected = brute_compatibility(labels, scores, 0.95) if any(labels) else 0.0
    assert found == pytest.approx(expected, abs=1e-9)


def brute_wkt(labels: Labels, scores: Labels, k: int, *, capped: bool) -> float:
    truth = sorted(range(len(labels)), key=lambda i: (-labels[i], i))
    total = ideal = 0.0
    for j, i in enumerate(truth[:k], start=1):
        alpha = (2 ** labels[i] - 1) / math.log2(1 + j)
        inversions = sum(labels[x] < labels[i] and scores[x] >= scores[i] for x in truth)
        total += alpha * (min(inversions, 1) if capped else inversions)
        ideal += alpha
    return total / ideal if ideal else 0.0


@given(
    query=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8),
    k=st.integers(1, 9),
)
def test_weighted_kendall_tau_equals_its_loop(query: list[tuple[int, int]], k: int) -> None:
    labels, scores = [float(y) for y, _ in query], [float(s) for _, s in query]
    found = evaluate(data_of(labels), np.array(scores), [f"wkt@{k}", f"capped-wkt@{k}"])
    assert found[f"wkt@{k}"] == pytest.approx(brute_wkt(labels, scores, k, capped=False))
    assert found[f"capped-wkt@{k}"] == pytest.approx(brute_wkt(labels, scores, k, capped=True))


@given(order=st.permutations(range(6)), k=st.integers(1, 7))
def test_topk_01_is_one_unless_the_first_k_are_right(order: list[int], k: int) -> None:
    data = data_of(list(range(6, 0, -1)))
    right = order[:k] == list(range(6))[:k]
    scores = np.empty(6)
    scores[order] = np.arange(6, 0, -1)
    found = evaluate(data, scores, [f"topk-01@{k}"])[f"topk-01@{k}"]
    assert found == (0.0 if right else 1.0)


def test_selection_of_the_best_equals_a_full_sort_when_scores_tie_at_the_cut() -> None:
    rng = np.random.default_rng(11)
    labels = [rng.integers(0, 3, size=100) for _ in range(50)]
    scores = rng.integers(0, 12, size=5000).astype(float)
    found = evaluate(data_of(*labels), scores, ["ndcg@10"], per_query=True)["ndcg@10"]
    for number, ys in enumerate(labels):
        ranked = ordered(list(ys), list(scores[100 * number : 100 * number + 100]))
        assert found[number] == pytest.approx(brute_ndcg(ranked, 10))


@each_case("name", ["ndcg@0", "nope", "ndcg@", "topk-01", "kendall-tau@3", "rbo@2"])
def test_unknown_measures_are_named(name: str) -> None:
    with pytest.raises(UnknownName, match="no measure"):
        evaluate(data_of([1, 0]), np.zeros(2), [name])


def test_bad_scores_name_the_query_and_order_measures_refuse_expected_ties() -> None:
    data = data_of([1, 0], [0, 1])
    with pytest.raises(BadData, match="query 2"):
        evaluate(data, np.array([1.0, 2, np.nan, 0]), ["map"])
    with pytest.raises(BadData, match="4 documents"):
        evaluate(data, np.zeros(3), ["map"])
    with pytest.raises(UnknownName, match="tied"):
        evaluate(data, np.zeros(4), ["rbo"], ties="expected")
