import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.agreement import brute
from topkapi.analysis.agreement import (
    MISSING,
    Judgments,
    Preferences,
    QueryVotes,
    Scores,
    agreed,
    agreement,
    from_judgments,
    from_scores,
    pair_tables,
    topk_scores,
)
from topkapi.analysis.errors import BadData


@given(seed=st.integers(0, 10**6), assessors=st.integers(1, 5), queries=st.integers(1, 4))
def test_tables_equal_a_plain_count(seed: int, assessors: int, queries: int) -> None:
    preferences = brute.random_preferences(seed, assessors, queries, documents=6)
    found = pair_tables(preferences)
    rows = zip(found.query, found.first, found.second, found.counts, strict=True)
    counted = {(int(q), int(i), int(j)): counts.tolist() for q, i, j, counts in rows}
    assert counted == {key: table.tolist() for key, table in brute.tables(preferences).items()}


def test_sums_over_queries_and_over_pairs_are_the_same_votes() -> None:
    tables = pair_tables(brute.random_preferences(1, 5, 6, 7))
    assert tables.by_query().sum(axis=0).tolist() == tables.pooled().tolist()
    assert tables.by_pair()[2].sum(axis=0).tolist() == tables.pooled().tolist()
    assert (tables.first < tables.second).all()


def test_a_pair_counts_once_and_twice_only_when_asked_for_both_orders() -> None:
    tables = pair_tables(brute.random_preferences(2, 3, 2, 5))
    table, both = tables.pooled(), tables.pooled(symmetric=True)
    assert both.tolist() == (table + table.T).tolist()
    assert float(agreement(both)) == float(agreement(table))


def test_order_of_documents_turns_the_table_but_not_the_agreement() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(0, 3, (2, 8)).astype(float)
    one = pair_tables(from_scores([Scores(0, np.array([0, 1]), values)], 2, 1)).pooled()
    turned = Scores(0, np.array([0, 1]), values[:, ::-1])
    other = pair_tables(from_scores([turned], 2, 1)).pooled()
    assert other.tolist() == one[::-1, ::-1].tolist()
    assert agreed(other, ties=False) == agreed(one, ties=False)


def test_top_10_of_50_has_780_ties() -> None:
    labels = topk_scores([[d] for d in range(10)], n=50, k=10)
    block = from_scores([Scores(0, np.array([0]), labels[None])], 1, 1).blocks[0]
    assert (block.votes.size, int((block.votes == 1).sum())) == (1225, 780)


def test_a_tied_group_of_the_list_is_a_tie_and_stays_above_the_rest() -> None:
    labels = topk_scores([[3], [0, 1]], n=4, k=2)
    assert labels.tolist() == [1, 1, 0, 2]


def test_documents_not_judged_give_no_vote() -> None:
    values = np.array([[1.0, np.nan, 0.0]])
    votes = from_scores([Scores(0, np.array([0]), values)], 1, 1).blocks[0].votes
    assert votes.tolist() == [[MISSING, 0, MISSING]]


@pytest.mark.parametrize(("repeats", "vote"), [("first", 0), ("last", 2)])
def test_of_repeated_answers_the_first_or_last_counts(repeats: str, vote: int) -> None:
    asked = Judgments.of(assessor=[0, 0], query=[1, 1], left=[4, 9], right=[9, 4], answer=[1, 1])
    block = from_judgments(asked, 1, 2, repeats=repeats).blocks[0]  # type: ignore[arg-type]
    assert (block.query, block.votes.tolist()) == (1, [[vote]])


@given(seed=st.integers(0, 10**6))
def test_raw_answers_and_labels_of_all_pairs_give_the_same_votes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (3, 6)).astype(float)
    left, right = np.nonzero(~np.eye(6, dtype=bool))
    who = np.repeat(np.arange(3), left.size)
    left, right = np.tile(left, 3), np.tile(right, 3)
    answer = np.sign(values[who, left] - values[who, right])
    asked = Judgments.of(
        assessor=who, query=np.zeros_like(who), left=left, right=right, answer=answer
    )
    shuffled = asked.take(rng.permutation(len(asked)))
    block = from_judgments(shuffled, 3, 1).blocks[0]
    wanted = from_scores([Scores(0, np.arange(3), values)], 3, 1).blocks[0]
    assert block.votes.tolist() == wanted.votes.tolist()
    assert (block.first.tolist(), block.second.tolist()) == (
        wanted.first.tolist(),
        wanted.second.tolist(),
    )


def test_what_cannot_be_is_refused() -> None:
    one = np.array([0])
    with pytest.raises(BadData, match="compared with itself"):
        Judgments.of(assessor=[0], query=[0], left=[2], right=[2], answer=[0])
    with pytest.raises(BadData, match="neither 1"):
        Judgments.of(assessor=[0], query=[0], left=[2], right=[3], answer=[2])
    with pytest.raises(BadData, match="differ in length"):
        Judgments.of(assessor=[0, 1], query=[0], left=[2], right=[3], answer=[1], position=[0])
    with pytest.raises(BadData, match="appears twice"):
        QueryVotes(0, np.array([1, 1]), one, one + 1, np.zeros((2, 1), dtype=np.int8))
    with pytest.raises(BadData, match="do not fit"):
        QueryVotes(0, np.array([1]), one, one + 1, np.zeros((2, 1), dtype=np.int8))
    block = QueryVotes(0, one, one, one + 1, np.zeros((1, 1), dtype=np.int8))
    with pytest.raises(BadData, match="two blocks"):
        Preferences(1, 1, (block, block))
