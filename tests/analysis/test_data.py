"""Query-grouped data, top-k ground truth, normalisation, folds, synthetic orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.analysis.data import (
    RankingData,
    from_orders,
    full_order,
    make_folds,
    noisy_orders,
    normalise_by_query,
    to_topk,
)
from topkapi.analysis.data.padding import blocks
from topkapi.analysis.errors import BadData


def graded(seed: int = 0, n_queries: int = 12) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=n_queries)
    labels = rng.integers(0, 3, size=int(sizes.sum())).astype(float)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return RankingData(rng.random((labels.size, 2)), labels, offsets)


@given(seed=st.integers(0, 50), k=st.integers(1, 10))
def test_topk_labels_run_from_k_down_and_respect_grades(seed: int, k: int) -> None:
    data = graded(seed)
    truth = to_topk(data, k, seed=seed)
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        labels, grades = truth.labels[start:stop], data.labels[start:stop]
        inside = min(k, stop - start)
        assert sorted(labels, reverse=True)[:inside] == [k - rank for rank in range(inside)]
        assert (labels > 0).sum() == inside
        order = np.argsort(-labels, kind="stable")
        assert (np.diff(grades[order][:inside]) <= 0).all()
        assert grades[order][:inside].min() >= grades[order][inside:].max(initial=0)


def test_ties_are_broken_by_the_seed_and_evenly() -> None:
    data = RankingData(np.ones((3, 1)), np.ones(3), np.array([0, 3]))
    first = [int(np.argmax(to_topk(data, 1, seed=seed).labels)) for seed in range(300)]
    assert to_topk(data, 1, seed=1).labels.tolist() == to_topk(data, 1, seed=1).labels.tolist()
    assert min(np.bincount(first, minlength=3)) > 70


def test_a_query_is_ordered_alike_in_every_fold_it_is_in() -> None:
    data = graded(2).with_labels(np.ones(graded(2).n_rows))
    whole = to_topk(data, 4, seed=7)
    part = to_topk(data.select([5, 3]), 4, seed=7)
    np.testing.assert_array_equal(part.labels, whole.select([5, 3]).labels)
    assert (to_topk(data, 4, seed=8).labels != whole.labels).any()


def test_a_short_list_stays_short_when_it_is_cut_again() -> None:
    labels = np.array([5.0, 4, 0, 0, 0])  # k = 5, but only two documents were good
    data = RankingData(np.ones((5, 1)), labels, np.array([0, 5]), topk=5)
    assert to_topk(data, 3).labels.tolist() == [3, 2, 0, 0, 0]
    assert to_topk(data, 8).labels.tolist() == [8, 7, 0, 0, 0]
    assert to_topk(data, 5) is data


def test_full_orders_and_given_ranks() -> None:
    data = RankingData(np.ones((3, 1)), np.array([2.0, 9, 4]), np.array([0, 3]))
    assert full_order(data).labels.tolist() == [1, 3, 2]
    ranks = from_orders(np.ones((3, 1)), np.array([3, 1, 2]), np.array([0, 3]), 2)
    assert ranks.labels.tolist() == [0, 2, 1]
    with pytest.raises(BadData, match="at least 1"):
        to_topk(data, 0)


def test_normalised_features_span_zero_to_one_in_each_query() -> None:
    data = normalise_by_query(graded(3))
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        part = data.features[start:stop]
        np.testing.assert_allclose(part.min(axis=0), 0.0)
        np.testing.assert_allclose(part.max(axis=0), 1.0 if stop - start > 1 else 0.0)


def test_folds_share_no_query_and_each_query_is_tested_once() -> None:
    data = graded(4, 13)
    folds = list(make_folds(data, 5, seed=3))
    tested = [name for fold in folds for name in fold.test.query_ids]
    assert sorted(tested, key=int) == list(data.query_ids)
    for fold in folds:
        parts = [set(part.query_ids) for part in (fold.train, fold.validation, fold.test)]
        assert sum(map(len, parts)) == len(set.union(*parts)) == 13
    again = [fold.test.query_ids for fold in make_folds(data, 5, seed=3)]
    assert again == [fold.test.query_ids for fold in folds]
    with pytest.raises(BadData, match="cannot fill"):
        list(make_folds(graded(0, 4), 5))


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=30), cells=st.integers(1, 200))
def test_blocks_hold_every_document_once(sizes: list[int], cells: int) -> None:
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    seen = []
    for block in blocks(offsets, cells=cells):
        seen.extend(block.rows[block.filled].tolist())
        assert block.filled.sum(axis=1).tolist() == [sizes[query] for query in block.queries]
    assert sorted(seen) == list(range(sum(sizes)))


def test_noise_grows_with_rank() -> None:
    data = noisy_orders(20, 100, 5, seed=1)
    again = noisy_orders(20, 100, 5, seed=1)
    np.testing.assert_array_equal(data.labels, again.labels)
    assert data.n_queries == 20
    assert sorted(data.labels[:100]) == list(range(1, 101))
    still = noisy_orders(20, 100, 5, noise=0.0, seed=1)
    head, tail = [], []
    for query in range(20):
        rows = slice(100 * query, 100 * query + 100)
        calm, noisy = still.labels[rows], data.labels[rows]
        head.append(np.abs(calm - noisy)[calm > 90].mean())
        tail.append(np.abs(calm - noisy)[calm < 50].mean())
    assert np.mean(tail) > 2 * np.mean(head)


@each_case(
    ("features", "labels", "offsets", "fault"),
    [
        (np.ones((2, 1)), np.ones(3), [0, 2], "2 rows of features"),
        (np.ones(2), np.ones(2), [0, 2], "ragged"),
        (np.ones((2, 1), dtype=int), np.ones(2), [0, 2], "float32 or float64"),
        (np.ones((2, 1)), np.ones(2), [0, 1], "offsets"),
        (np.ones((2, 1)), np.ones(2), [0, 0, 2], "query 1 has no documents"),
        (np.array([[1.0], [np.nan]]), np.ones(2), [0, 1, 2], "query 2, document 1: a feature"),
        (np.ones((2, 1)), np.array([1.0, np.inf]), [0, 2], "query 1, document 2: a label"),
        (np.ones((2, 1)), np.array([1.0, -1]), [0, 2], "negative label"),
    ],
)
def test_bad_arrays_are_refused(
    features: np.ndarray, labels: np.ndarray, offsets: list[int], fault: str
) -> None:
    with pytest.raises(BadData, match=fault):
        RankingData(features, labels, np.array(offsets))


def test_ids_must_fit_and_the_digest_follows_the_content() -> None:
    with pytest.raises(BadData, match="query ids"):
        RankingData(np.ones((1, 1)), np.ones(1), np.array([0, 1]), ("a", "b"))
    with pytest.raises(BadData, match="document ids"):
        RankingData(np.ones((1, 1)), np.ones(1), np.array([0, 1]), ("a",), ("x", "y"))
    data = graded()
    assert data.digest() == graded().digest()
    assert data.digest() != data.with_labels(data.labels + 1).digest()
