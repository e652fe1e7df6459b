"""Real votes as simulated assessors: who answers, what the truth is, pairs without votes."""

from collections import Counter
from math import exp
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
    fitted_scores,
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
        sessions(
            elections(contrary),
            n=None,
            runs=8,
            one_assessor=True,
            persistent=True,
            seed="s",
            queries=1,
        )
    )
    agreed = []
    for each in [*found, *(before for later in found for before in later.earlier)]:
        best, worst = each.worth.index(5.0), each.worth.index(0.0)
        agreed.append(each.assessor.prefer((best, worst)) is Preference.FIRST)
    assert agreed == [True, False, True, True] * 4, "x is second in each query, and the one before"


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


def test_a_pair_without_votes_is_answered_by_the_scores_of_its_items_and_once() -> None:
    people = [VotesAssessor({}, [1.0, -1.0], Random(seed)) for seed in range(2000)]
    said = Counter(person.prefer((0, 1)) for person in people)
    assert said[Preference.FIRST] / 2000 == pytest.approx(1 / (1 + exp(-2.0)), abs=0.03)
    again = people[0].prefer((0, 1))
    assert all(people[0].prefer((1, 0)) is again.swapped() for _ in range(20))
    assert people[0].filled == people[0].asked == 22


@given(
    some=st.lists(
        st.builds(
            Vote,
            st.just("x"),
            st.sampled_from("abc"),
            st.sampled_from("def"),
            st.sampled_from([-1, 0, 1]),
        ),
        max_size=12,
    )
)
def test_fitted_scores_are_where_the_likelihood_with_its_prior_is_flat(some: list[Vote]) -> None:
    index = {name: number for number, name in enumerate(NAMES)}
    scores = fitted_scores(some, index)
    slope = [1.0 - 2.0 / (1 + exp(-score)) for score in scores]  # a win and a loss against 0
    for vote in some:
        first, second = index[vote.first], index[vote.second]
        missed = (1 + vote.answer) / 2 - 1 / (1 + exp(scores[second] - scores[first]))
        slope[first] += missed
        slope[second] -= missed
    assert slope == pytest.approx([0.0] * 6, abs=0.02)


def test_net_wins_are_per_vote_and_ties_count_as_neither() -> None:
    some = [Vote("x", "a", "b", 1), Vote("x", "a", "c", 0), Vote("y", "b", "c", -1)]
    found = net_wins(some, {"a": 0, "b": 1, "c": 2, "d": 3})
    assert found == pytest.approx([0.5, -1.0, 0.5, 0.0])
