"""How each rival asks its questions and makes its list."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from random import Random

import numpy as np

from bench.rivals.models import ActiveModel, AcuRank, Asap, BayesGuro, CrowdBT, PlainBT
from bench.rivals.people import heterogeneous_thurstone, noisy_bradley_terry
from bench.rivals.questions import Ask, Contest, Questions, Spent
from topkapi.app.domain.pairs.answers import Pair
from topkapi.app.domain.pairs.sorters.heap import heap_questions

BUCKETS, BUCKET_APART, ELO_STEP, SURE = 4, 150.0, 32.0, 0.9  # of EZ-Sort


def actively(
    model: ActiveModel, n: int, ask: Questions, limit: int, counts: Sequence[int]
) -> Iterator[list[int]]:
    """Ask the pairs that ``model`` chooses, none more than ``limit`` times.

    Yields the order of the documents after each of the ``counts``, which rise, of questions.
    """
    upper, lower = np.triu_indices(n, 1)
    asked = np.zeros(upper.size, dtype=int)
    for count in counts:
        while len(ask.answers) < count and (asked < limit).any():
            still = np.flatnonzero(asked < limit)
            person = ask.person
            index = int(still[model.choose(upper[still], lower[still], person)])
            asked[index] += 1
            first, second = int(upper[index]), int(lower[index])
            winner, loser = (first, second) if ask(first, second) else (second, first)
            model.update(winner, loser, person)
        yield [int(each) for each in np.argsort(-model.scores(), kind="stable")]


def _seed(random: Random) -> int:
    return random.randrange(2**32)


# Score models that choose their questions, whatever the number of questions
MODELS: dict[str, Callable[[Contest, Random], ActiveModel]] = {
    "bt-variance": lambda contest, random: PlainBT(contest.n, contest.k, _seed(random)),
    "bt-balanced": lambda contest, random: PlainBT(
        contest.n, contest.k, _seed(random), balanced=True
    ),
    "crowd-bt": lambda contest, _: CrowdBT(contest.n, len(contest.people)),
    "asap": lambda contest, _: Asap(contest.n),
    "bayes-guro": lambda contest, random: BayesGuro(contest.n, contest.prior, _seed(random)),
    "acurank": lambda contest, _: AcuRank(contest.n, contest.k, contest.prior),
}


def play_ez_sort(contest: Contest, ask: Questions, random: Random) -> list[int]:
    """Run EZ-Sort (Park et al. 2025) with the prior as pre-order, down to the best k.

    Documents start in buckets of the pre-order, whose Elo scores are apart. A merge sort asks what
    Elo is not sure of; what it is sure of, and what remains when the questions are used up, Elo
    decides.
    """
    n = contest.n
    items = random.sample(range(n), n)
    elo = [0.0] * n
    prior = contest.prior
    if prior is not None:
        items.sort(key=lambda item: -prior[item])
        for rank, item in enumerate(items):
            elo[item] = -BUCKET_APART * (rank * BUCKETS // n)
    known: dict[Pair, bool] = {}

    def better(one: int, other: int) -> bool:
        if (one, other) in known:
            return known[one, other]
        chance = 1 / (1 + 10 ** ((elo[other] - elo[one]) / 400))
        if max(chance, 1 - chance) > SURE or not ask.left:
            return chance >= 0.5
        won = ask(one, other)
        change = ELO_STEP * (won - chance)
        elo[one], elo[other] = elo[one] + change, elo[other] - change
        known[one, other], known[other, one] = won, not won
        return won

    return _merge_sorted(items, contest.k, better)


def _merge_sorted(items: Sequence[int], k: int, better: Ask) -> list[int]:
    """Return the best k items by a merge sort whose parts are cut at k."""
    if len(items) < 2:
        return list(items)
    middle = len(items) // 2
    one, other = (_merge_sorted(part, k, better) for part in (items[:middle], items[middle:]))
    merged: list[int] = []
    while one and other and len(merged) < k:
        merged.append((one if better(one[0], other[0]) else other).pop(0))
    return (merged + one + other)[:k]


def of_random_pairs(
    fit: Callable[..., np.ndarray],
) -> Callable[[Contest, Questions, Random], list[int]]:
    """Return a rival that asks random pairs and fits a model of people to the answers."""

    def play(contest: Contest, ask: Questions, random: Random) -> list[int]:
        told: list[tuple[int, int, bool, int]] = []
        asked: dict[Pair, int] = {}
        while ask.left and len(asked) < contest.n * (contest.n - 1) // 2:
            for first, second in _pairing(range(contest.n), random, 1):
                if asked.get((first, second), 0) >= contest.limit or not ask.left:
                    continue
                asked[first, second] = asked.get((first, second), 0) + 1
                one, other = random.sample((first, second), 2)
                person = ask.person
                told.append((one, other, ask(one, other), person))
        scores = fit(contest.n, len(contest.people), told)
        return [int(each) for each in np.argsort(-scores, kind="stable")]

    return play


def mohajer(items: Sequence[int], k: int, ask: Ask) -> Iterator[int]:
    """Yield the best items: the winners of k groups in order, each replaced by its group's next."""
    groups = [list(items[start::k]) for start in range(min(k, len(items)))]
    ordered: list[tuple[int, int]] = []  # winner and group, best first
    for number, group in enumerate(groups):
        _enter(ordered, _champion(group, ask), number, ask)
    while ordered:
        winner, number = ordered.pop(0)
        yield winner
        groups[number].remove(winner)
        _enter(ordered, _champion(groups[number], ask), number, ask)


def _enter(ordered: list[tuple[int, int]], winner: int | None, group: int, ask: Ask) -> None:
    """Insert a group's winner by binary search, which asks as many questions as a heap."""
    if winner is None:
        return
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if ask(winner, ordered[middle][0]) else (middle + 1, high)
    ordered.insert(low, (winner, group))


def _champion(group: Sequence[int], ask: Ask) -> int | None:
    if not group:
        return None
    best = group[0]
    for item in group[1:]:
        best = item if ask(item, best) else best
    return best


def remembered(ask: Ask, repeats: int) -> Ask:
    """Return a comparison by majority of ``repeats`` answers, each pair decided once."""
    known: dict[Pair, bool] = {}

    def decide(first: int, second: int) -> bool:
        if (second, first) in known:
            return not known[second, first]
        if (first, second) not in known:
            known[first, second] = sum(ask(first, second) for _ in range(repeats)) * 2 > repeats
        return known[first, second]

    return decide


def play_mohajer(contest: Contest, ask: Questions, random: Random) -> list[int]:
    """Run the tournament with as many repeats as fit; unplaced items follow in random order."""
    items = random.sample(range(contest.n), contest.n)
    once = heap_questions(contest.n, contest.k) * 3 // 4
    repeats = min(contest.limit, max(1, ask.left // max(1, once)))
    found: list[int] = []
    try:
        for item in mohajer(items, contest.k, remembered(ask, repeats - 1 + repeats % 2)):
            found.append(item)
            if len(found) == contest.k:
                break
    except Spent:
        pass
    return found + [item for item in items if item not in found]


def play_clarke(contest: Contest, ask: Questions, random: Random) -> list[int]:
    """Drop the losers of random pairings until all pairs of the rest fit, then ask those."""
    n, k = contest.n, contest.k
    wins, alive, asked = [0.0] * n, list(range(n)), set[Pair]()
    try:
        while len(alive) > k and len(alive) * (len(alive) - 1) // 2 > ask.left:
            ratio = {item: [0, 0] for item in alive}
            for first, second in _pairing(alive, random, 3):
                if (first, second) in asked:
                    continue
                asked.add((first, second))
                winner = first if ask(first, second) else second
                wins[winner] += 1
                ratio[first][0 if winner == first else 1] += 1
                ratio[second][0 if winner == second else 1] += 1
            kept = [item for item in alive if ratio[item][0] >= ratio[item][1]]
            alive = kept if k <= len(kept) < len(alive) else alive[: max(k, len(alive) - 1)]
        final = dict.fromkeys(alive, 0)
        for first, second in combinations(alive, 2):
            winner = first if ask(first, second) else second
            final[winner] += 1
            wins[winner] += 1
    except Spent:
        final = dict.fromkeys(alive, 0)
    inside = sorted(alive, key=lambda item: (-final[item], -wins[item], random.random()))
    rest = [item for item in range(n) if item not in alive]
    return inside + sorted(rest, key=lambda item: (-wins[item], random.random()))


def _pairing(alive: Sequence[int], random: Random, degree: int) -> Iterator[Pair]:
    """Yield random pairs in which every item has about ``degree`` opponents."""
    for _ in range(degree):
        order = random.sample(list(alive), len(alive))
        for first, second in zip(order[::2], order[1::2], strict=False):
            yield min(first, second), max(first, second)


PLAYS: dict[str, Callable[[Contest, Questions, Random], list[int]]] = {
    "mohajer": play_mohajer,
    "clarke": play_clarke,
    "ez-sort": play_ez_sort,
    "noisy-bt": of_random_pairs(noisy_bradley_terry),
    "thurstone": of_random_pairs(heterogeneous_thurstone),
}
