import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.analysis.aggregation import (
    bradley_terry_consensus,
    consensus_lists,
    consensus_of,
    consensus_qrels,
    known_weights,
)
from topkapi.analysis.agreement import Judgments, Scores, from_judgments, from_scores, topk_scores


def of_lists(lists: list[list[int]], n: int, k: int, weights: list[float]) -> tuple[list[int], ...]:
    values = np.stack([topk_scores([[d] for d in one], n, k) for one in lists])
    scores = Scores(0, np.arange(len(lists)), values)
    block = from_scores([scores], len(lists), 1).blocks[0]
    found = consensus_of(block, n, np.array(weights))
    return found.top(k).tolist(), found.labels(k).tolist()


def test_a_document_in_every_list_comes_before_one_in_few() -> None:
    top, labels = of_lists([[4, 0], [1, 0], [2, 0]], n=6, k=2, weights=[1, 1, 1])
    assert top[0] == 0
    assert labels[0] == 2
    assert sum(label > 0 for label in labels) == 2


def test_weights_decide_between_two() -> None:
    assert of_lists([[0, 1], [2, 3]], n=5, k=2, weights=[1, 3])[0] == [2, 3]
    assert of_lists([[0, 1], [2, 3]], n=5, k=2, weights=[3, 1])[0] == [0, 1]


def test_documents_nobody_preferred_are_not_listed() -> None:
    top, labels = of_lists([[3], [3]], n=5, k=4, weights=[1, 1])
    assert top == [3]
    assert labels == [0, 0, 0, 4, 0]


def test_a_page_that_tied_with_the_best_and_beat_none_is_listed() -> None:
    ends = {"left": [0, 0, 0, 2], "right": [1, 2, 3, 3], "answer": [0, 1, 1, 1]}
    asked = Judgments.of(assessor=[0] * 4, query=[0] * 4, **ends)
    answers = from_judgments(asked, 1, 1).blocks[0]
    lists = from_scores([Scores(0, np.array([0]), np.array([[2.0, 2, 0, 0]]))], 1, 1).blocks[0]
    assert bradley_terry_consensus(answers, 4, lists=lists).labels(3).tolist() == [3, 2, 0, 0]
    assert bradley_terry_consensus(answers, 4).labels(4).tolist() == [4, 3, 2, 0]


def test_weights_not_known_are_the_mean_of_the_others() -> None:
    assert known_weights(np.array([0.5, np.nan, 0.7])).tolist() == [0.5, 0.6, 0.7]
    assert known_weights(np.array([np.nan, np.nan])).tolist() == [1, 1]
    assert known_weights(np.zeros(2)).tolist() == [1, 1]


def test_records_and_qrels_carry_the_same_list() -> None:
    values = np.array([[2.0, 0, 1, 0], [2, 0, 0, 1]])
    block = from_scores([Scores(0, np.array([0, 1]), values)], 2, 1).blocks[0]
    found = consensus_of(block, 4, np.array([0.9, 0.8]))
    records = list(
        consensus_lists([found], k=2, queries=["q7"], documents=["abcd"], assessors=["Ansa", "Bao"])
    )
    assert records[0].documents == ("a", "c")
    assert records[0].rest == ("b", "d")
    assert records[0].departures == (0.0, round(1 / 5, 6))
    lines = ["q7 0 a 2", "q7 0 c 1", "q7 0 b 0", "q7 0 d 0"]
    assert list(consensus_qrels(records)) == lines


@pytest.mark.parametrize("method", ["kemeny", "bradley-terry"])
@given(values=st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=2, max_size=4))
def test_departures_are_the_preferences_that_the_written_list_reverses(
    method: str, values: list[list[int]]
) -> None:
    people = len(values)
    block = from_scores([Scores(0, np.arange(people), np.array(values, float))], people, 1).blocks[
        0
    ]
    if method == "kemeny":
        found = consensus_of(block, 6, np.ones(people))
    else:
        found = bradley_terry_consensus(block, 6)
    names = [f"p{number}" for number in range(people)]
    (record,) = consensus_lists([found], k=2, queries=["q"], documents=["abcdef"], assessors=names)
    labels = [record.labels()[document] for document in "abcdef"]
    for marks, departure in zip(values, record.departures, strict=True):
        pairs = [(a, b) for a in range(6) for b in range(6) if marks[a] > marks[b]]
        against = sum(labels[b] > labels[a] for a, b in pairs)
        assert departure == (round(against / len(pairs), 6) if pairs else None)
