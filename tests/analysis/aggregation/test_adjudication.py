"""Open pairs: exactly the neighbours for which a further vote changes the first k."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topkapi.analysis.aggregation import KEMENY, open_pairs
from topkapi.analysis.agreement import (
    BETTER,
    MISSING,
    Judgments,
    QueryVotes,
    Scores,
    from_judgments,
    joined,
    pair_tables,
    topk_scores,
)
from topkapi.analysis.report import StudyData, ToolData
from topkapi.analysis.report.subjects.consensus import consensus
from topkapi.analysis.report.subjects.queries import contested

N = 5
Answer = tuple[int, int, int, int]  # assessor, left, right, answer
answers = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, N - 1), st.integers(0, N - 1), st.integers(-1, 1)
    ).filter(lambda each: each[1] != each[2]),
    min_size=1,
    max_size=14,
)


def judged(rows: list[Answer]) -> Judgments:
    who, left, right, answer = (list(column) for column in zip(*rows, strict=True))
    return Judgments.of(assessor=who, query=[0] * len(rows), left=left, right=right, answer=answer)


def study_of(rows: list[Answer], k: int, further: list[Answer]) -> StudyData:
    """Return a study in which everyone who answered has a list, for any order of the pages."""
    people = sorted({row[0] for row in rows})
    lists = [np.roll(range(N), who)[:k] for who in people]
    values = np.stack([topk_scores([[page] for page in each], N, k) for each in lists])
    tool = ToolData(
        "pairs",
        "T1 pairs",
        scores=(Scores(0, np.array(people), values),),
        judgments=judged(rows),
        adjudicated=judged(further) if further else None,
    )
    pages = tuple(f"d{number}" for number in range(N))
    return StudyData("s", ("a", "b", "c", "x"), ("q",), (pages,), (tool,), k=k)


def top(rows: list[Answer], k: int, further: list[Answer]) -> list[int]:
    """Return the first k of the consensus after the answers of an adjudicator."""
    study = study_of(rows, k, further)
    votes = study.preferences(study.tools[0])
    (found,) = consensus(study, study.tools[0], votes, pair_tables(votes))
    ranked: list[int] = found.top(k).tolist()
    return ranked


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(answers, st.integers(1, 4))
def test_a_pair_is_open_if_and_only_if_the_answer_changes_the_list(
    rows: list[Answer], k: int
) -> None:
    study = study_of(rows, k, [])
    tool = study.tools[0]
    votes = from_judgments(judged(rows), 4, 1).blocks[0]
    found = open_pairs(votes, N, k, lists=study.preferences(tool).blocks[0])
    neighbours = list(pairwise(foremost(rows, k)))
    for one, other in neighbours:
        lists = [top(rows, k, [(3, one, other, answer)]) for answer in (1, -1)]
        assert ((one, other) in found) == (lists[0] != lists[1])
    assert set(found) <= set(neighbours)


def foremost(rows: list[Answer], k: int) -> list[int]:
    """Return the first k + 1 of the consensus whose lists have length k."""
    study = study_of(rows, k, [])
    votes = study.preferences(study.tools[0])
    (found,) = consensus(study, study.tools[0], votes, pair_tables(votes))
    ranked: list[int] = found.top(k + 1).tolist()
    return ranked


def test_an_adjudicator_decides_with_either_method() -> None:
    split = [(0, 0, 1, 1), (1, 0, 1, -1), (0, 0, 2, 1), (1, 1, 2, 1), (0, 1, 2, 1), (1, 0, 2, 1)]
    for winner, answer in ((0, 1), (1, -1)):
        assert top(split, 2, [(3, 0, 1, answer)])[0] == winner
        values = np.array([[2.0, 1, 0, 0, 0], [1, 2, 0, 0, 0]])
        tool = ToolData(
            "pairs",
            "T1 pairs",
            scores=(Scores(0, np.array([0, 1]), values),),
            adjudicated=judged([(3, 0, 1, answer)]),
        )
        pages = tuple(f"d{number}" for number in range(N))
        study = StudyData("s", ("a", "b", "c", "x"), ("q",), (pages,), (tool,), k=2)
        votes = study.preferences(tool)
        (found,) = consensus(study, tool, votes, pair_tables(votes), KEMENY)
        assert found.top(2).tolist() == [winner, 1 - winner]


def test_only_queries_with_disagreement_are_contested() -> None:
    same = [(who, 0, 1, 1) for who in (0, 1)]
    study = study_of(same, 2, [])
    agreed = np.stack([topk_scores([[0], [1]], N, 2)] * 2)
    tool = ToolData("pairs", "T1", scores=(Scores(0, np.array([0, 1]), agreed),))
    assert contested(study, tool, limit=5) == ([], 0)
    split = [(0, 0, 1, 1), (1, 0, 1, -1), (0, 1, 2, 1), (1, 1, 2, 1)]
    (found,), total = contested(study_of(split, 2, []), study_of(split, 2, []).tools[0], limit=5)
    assert (total, found.assessors) == (1, 2)
    assert found.share > 0


def test_votes_of_different_people_are_joined() -> None:
    one = from_judgments(judged([(0, 3, 1, 1), (0, 0, 1, 1)]), 2, 1).blocks[0]
    other = QueryVotes(
        0, np.array([1]), np.array([0]), np.array([4]), np.array([[BETTER]], np.int8)
    )
    both = joined(one, other)
    pairs = list(zip(both.first.tolist(), both.second.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 4), (1, 3)]
    assert both.votes.tolist() == [[0, MISSING, 2], [MISSING, 0, MISSING]]
