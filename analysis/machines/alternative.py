"""May a machine replace a person? The alternative annotator test over queries [CRD25]_.

Each person is left out in turn. On every item, the machine and that person are compared by how well
they agree with the remaining people; the better one has the advantage. The machine wins against the
person if its mean advantage is above -epsilon beyond chance, and may replace a person if it wins
against at least half of the people.

Items of one query depend on each other: a machine that misreads a query errs on all of its pages.
So the advantage is averaged per query first, and queries are the units of the test. Few queries
that a machine gets backwards make a skewed advantage, for which Student's t approves too often with
any number of queries that none of them is among; the test is Gaffke's for bounded values
(``topkapi.analysis.bounded``). The paper's own test, by Student's t with items as units, approves
too often here; it is kept for comparison.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from topkapi.analysis.agreement import MISSING, Preferences, Scores
from topkapi.analysis.bounded import mean_above
from topkapi.analysis.errors import BadData
from topkapi.analysis.lazy import stats
from topkapi.analysis.resampling import LEAST_QUERIES
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

Alignment: TypeAlias = Literal["same", "near"]
Unit: TypeAlias = Literal["queries", "items"]

LEVEL = 0.05
_SIGNS = np.array([[1], [0], [-1]])  # the machine is closer, both alike, the person is
WIN_SHARE = 0.5  # of people the machine must win against
EPSILON = 0.1
"""Advantage of a person that is accepted; [CRD25]_: .1 for crowds, .15 for trained people, .2 for
experts."""


@dataclass(frozen=True, slots=True)
class PersonComparison:
    """The machine against one person who was left out.

    Attributes
    ----------
    assessor
        Index of the person.
    queries, items
        What the person, the machine and at least one other person answered.
    advantage
        Share of items on which the machine is closer to the others, less the share on which the
        person is.
    machine_share
        Share of items on which the machine is at least as close to the others as the person.
    p, p_adjusted
        One-sided test of advantage > -epsilon, and the same after [BY01]_ over people.
    won
        Whether the machine wins against this person.
    """

    assessor: int
    queries: int
    items: int
    advantage: float
    machine_share: float
    p: float
    p_adjusted: float
    won: bool


@dataclass(frozen=True, slots=True)
class AlternativeTest:
    """Result of the alternative annotator test.

    Attributes
    ----------
    unit, align, epsilon, level
        How it was tested.
    people
        The comparison with each person.
    left_out
        People who share fewer than ``LEAST_QUERIES`` queries with the machine and others.
    queries, items
        Queries and items that the machine and at least two people answered.
    winning_rate
        Share of people the machine wins against.
    advantage_probability
        Mean over people of the share of items on which the machine is at least as close.
    approved
        Whether the winning rate is at least one half.
    """

    unit: Unit
    align: Alignment
    epsilon: float
    level: float
    people: tuple[PersonComparison, ...]
    left_out: tuple[int, ...]
    queries: int
    items: int
    winning_rate: float
    advantage_probability: float
    approved: bool


def votes_as_scores(preferences: Preferences) -> list[Scores]:
    """Return votes on pairs as labels of items, one item per judged pair of a query.

    Parameters
    ----------
    preferences
        Votes of people and machines on pairs of documents, or of lists.
    """
    return [
        Scores(b.query, b.assessors, np.where(b.votes == MISSING, np.nan, b.votes.astype(float)))
        for b in preferences.blocks
    ]


def alternative_annotator_test(
    labels: Iterable[Scores],
    machine: int,
    people: Collection[int],
    *,
    align: Alignment = "same",
    unit: Unit = "queries",
    epsilon: float = EPSILON,
    level: float = LEVEL,
) -> AlternativeTest:
    """Test whether a machine may replace a person.

    Parameters
    ----------
    labels
        Labels of each query: grades, or votes on pairs by :func:`votes_as_scores`. A query may
        come several times, with different items. Other assessors are ignored.
    machine
        Index of the machine among the assessors.
    people
        Indices of the people, at least two.
    align
        Agreement with the others: ``same``, the share who gave the same label (votes, categories),
        or ``near``, the negative root mean square difference (grades).
    unit
        ``queries``, or ``items`` as in the paper, which holds its level only if the items of a
        query do not depend on each other.
    epsilon
        Advantage of a person that is accepted, because machines cost less.
    level
        False discovery rate over people.

    Raises
    ------
    BadData
        If no person shares items of at least ``LEAST_QUERIES`` queries with the machine and
        another person.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 4, (30, 5))
    >>> noisy = truth[:, None] + rng.integers(-1, 2, (30, 3, 5))
    >>> both = np.concatenate([noisy, truth[:, None]], axis=1).astype(float)
    >>> found = alternative_annotator_test(
    ...     [Scores(q, np.arange(4), values) for q, values in enumerate(both)], 3, [0, 1, 2],
    ...     align="near")
    >>> found.winning_rate, found.approved, found.advantage_probability
    (1.0, True, 0.967)
    """
    counts: dict[int, dict[int, IntArray]] = {person: {} for person in sorted(set(people))}
    shared: dict[int, int] = {}  # items by query
    for each in labels:
        found, items = _compared(each, machine, counts.keys(), align)
        for person, row in found.items():
            mine = counts[person]
            mine[each.query] = mine[each.query] + row if each.query in mine else row
        if items:
            shared[each.query] = shared.get(each.query, 0) + items
    tested = {
        person: np.stack(list(rows.values()))
        for person, rows in counts.items()
        if len(rows) >= LEAST_QUERIES
    }
    if not tested:
        raise BadData(
            f"no one can be compared with the machine: it needs at least {LEAST_QUERIES} queries "
            "in which the machine and two people answered the same items"
        )
    ps = [_chance(rows, unit, epsilon) for rows in tested.values()]
    adjusted = stats.false_discovery_control(ps, method="by")
    compared = tuple(
        _comparison(person, rows, unit, p, float(q), level)
        for (person, rows), p, q in zip(tested.items(), ps, adjusted, strict=True)
    )
    rate = float(np.mean([each.won for each in compared]))
    return AlternativeTest(
        unit=unit,
        align=align,
        epsilon=epsilon,
        level=level,
        people=compared,
        left_out=tuple(person for person in counts if person not in tested),
        queries=len(shared),
        items=sum(shared.values()),
        winning_rate=rate,
        advantage_probability=float(np.mean([each.machine_share for each in compared])),
        approved=rate >= WIN_SHARE,
    )


def _compared(
    labels: Scores, machine: int, people: Collection[int], align: Alignment
) -> tuple[dict[int, IntArray], int]:
    """Count items on which the machine is closer, both are alike, and the person is, by person.

    The second value is the number of items that the machine and at least two people answered.
    """
    who: list[int] = labels.assessors.tolist()
    rows = [row for row, each in enumerate(who) if each in people and each != machine]
    if machine not in who or not rows:
        return {}, 0
    values = np.asarray(labels.values, dtype=float)
    theirs, own = values[rows], values[who.index(machine)]
    known = ~np.isnan(theirs)
    asked = known & ~np.isnan(own) & (known.sum(axis=0) > 1)
    gap = (_same if align == "same" else _near)(theirs, own, known)
    signs = np.where(asked, np.sign(np.round(gap, 9)), np.nan)
    counts = (signs[:, None] == _SIGNS).sum(axis=2)
    found = {who[row]: each for row, each in zip(rows, counts, strict=True) if each.any()}
    return found, int(asked.any(axis=0).sum())


def _same(theirs: FloatArray, own: FloatArray, known: BoolArray) -> FloatArray:
    """Return how many more of the others give the machine's label than the person's, (m, p)."""
    of_person = np.zeros(theirs.shape)
    for value in np.unique(theirs[known]):
        alike = theirs == value
        of_person += alike * (alike.sum(axis=0) - 1)
    agrees = theirs == own
    gap: FloatArray = agrees.sum(axis=0) - agrees.astype(float) - of_person
    return gap


def _near(theirs: FloatArray, own: FloatArray, known: BoolArray) -> FloatArray:
    """Return the person's sum of squared differences from the others less the machine's, (m, p).

    Its sign is that of the difference of root mean squares, because the others are the same.
    """
    filled = np.where(known, theirs, 0.0)
    n, total, squares = known.sum(axis=0), filled.sum(axis=0), (filled**2).sum(axis=0)
    of_person = n * filled**2 - 2 * filled * total + squares
    gap: FloatArray = of_person - (n * own**2 - 2 * own * total + squares - (own - filled) ** 2)
    return gap


def _chance(counts: IntArray, unit: Unit, epsilon: float) -> float:
    """Return the p of advantage <= -epsilon; counts (q, 3) of machine closer, alike, person."""
    if unit == "queries":
        return mean_above((counts[:, 0] - counts[:, 2]) / counts.sum(axis=1), -epsilon, -1.0)
    values = np.repeat([1.0, 0.0, -1.0], counts.sum(axis=0))
    if np.ptp(values) == 0:
        return float(values[0] <= -epsilon)
    return float(stats.ttest_1samp(values, -epsilon, alternative="greater").pvalue)


def _comparison(
    person: int, counts: IntArray, unit: Unit, p: float, adjusted: float, level: float
) -> PersonComparison:
    shares = counts / counts.sum(axis=1, keepdims=True)
    better, same, worse = (
        shares.mean(axis=0) if unit == "queries" else counts.sum(axis=0) / counts.sum()
    )
    return PersonComparison(
        assessor=person,
        queries=int(counts.shape[0]),
        items=int(counts.sum()),
        advantage=float(better - worse),
        machine_share=float(better + same),
        p=p,
        p_adjusted=adjusted,
        won=adjusted <= level,
    )
