"""Real votes as simulated assessors: who answers, what the truth is, pairs without votes."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.simulation.runs import replay_votes
from topkapi.app.domain.simulation.votes import (
    Vote,
    VotesAssessor,
    elections,
    net_wins,
    sessions,
)

NAMES = "abcdef"
WORTH = {name: number for number, name in enumerate(NAMES)}  # f is best


def votes(assessors: str = "xyz") -> list[tuple[str, Vote]]:
    """Return a complete round robin per assessor and query, without errors."""
    return [
        (query, Vote(who, one, other, 1 if WORTH[one] > WORTH[other] else -1))
        for query in ("q1", "q2")
        for who in assessors
        for one in NAMES
        for other in NAMES
        if one < other
    ]


def test_one_assessor_answers_and_the_others_are_the_truth() -> None:
    contrary = [
        (query, Vote(vote.assessor, vote.first, vote.second, -vote.answer))
        if vote.assessor == "x"
        else (query, vote)
        for query, vote in votes("wxyz")
    ]
    found = list(
        sessions(elections(contrary), n=None, runs=8, one_assessor=True, persistent=True, seed="s")
    )
    agreed = []
    for each in found:
        best, worst = each.worth.index(5.0), each.worth.index(0.0)
        agreed.append(each.assessor.prefer((best, worst)) is Preference.FIRST)
    assert agreed == [True, False, True, True] * 2, "x answers second in each query"


def test_half_of_the_votes_answer_and_items_are_drawn() -> None:
    found = list(
        sessions(elections(votes()), n=4, runs=20, one_assessor=False, persistent=False, seed="s")
    )
    assert {len(each.worth) for each in found} == {4}
    runs = list(replay_votes(Plan((0, 1), 2, "heap"), found, "s"))
    assert all(len(run.ranking) == 2 for run in runs)
    assert sum(run.filled for run in runs) < sum(run.judgments for run in runs) / 2
    hits = Counter(run.worth[run.ranking[0]] for run in runs)
    assert hits.most_common(1)[0][0] == 3.0


def test_the_same_seed_gives_the_same_sessions_in_any_chunks() -> None:
    def made(start: int, runs: int) -> list[tuple[float, ...]]:
        found = sessions(
            elections(votes()),
            n=5,
            runs=runs,
            one_assessor=False,
            persistent=True,
            seed="s",
            start=start,
        )
        return [each.worth for each in found]

    assert made(0, 8) == [*made(0, 3), *made(3, 5)]


@given(answers=st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=5), seed=st.integers())
def test_a_persistent_assessor_repeats_the_answer_from_either_side(
    answers: list[int], seed: int
) -> None:
    assessor = VotesAssessor({(0, 1): answers}, [0.0, 0.0], Random(seed), persistent=True)
    first = assessor.prefer((0, 1))
    assert all(assessor.prefer((1, 0)) is first.swapped() for _ in range(5))
    assert assessor.filled == 0


def test_a_pair_without_votes_is_answered_by_the_votes_about_its_items() -> None:
    assessor = VotesAssessor({}, [1.0, -1.0], Random(1))
    said = Counter(assessor.prefer((0, 1)) for _ in range(200))
    assert said[Preference.FIRST] > 190
    assert assessor.filled == assessor.asked == 200


def test_net_wins_are_per_vote_and_ties_count_as_neither() -> None:
    some = [Vote("x", "a", "b", 1), Vote("x", "a", "c", 0), Vote("y", "b", "c", -1)]
    found = net_wins(some, {"a": 0, "b": 1, "c": 2, "d": 3})
    assert found == pytest.approx([0.5, -1.0, 0.5, 0.0])
