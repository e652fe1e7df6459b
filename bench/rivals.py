"""Rivals of `robust` at equal questions, reimplemented from their papers.

python -m bench.rivals                                  every error model, 90 and 143 questions
python -m bench.rivals --runs 50 --only even --counts 90
python -m bench.rivals --only images                    real votes, 90 questions, best 5

50 documents, best 10; `images` as in `bench.robust`, every pair once. `robust` itself is shown with
both goals, and at the mean number of questions of every sorter with a fixed length. A line shows
kappa-NDCG and overlap with standard errors. Rivals:

- `crowd-bt`: Chen et al. 2013 (WSDM), Bradley-Terry scores with one annotator's reliability,
  moment matching, and the pair with the largest expected information gain about the scores;
- `asap`: Mikhailiuk et al. 2020 (ICPR), Thurstone scores by expectation propagation, and the pair
  with the largest expected information gain;
- `mohajer`: Mohajer et al. 2017 (ICML), tournaments in k groups and a heap of their winners, each
  comparison decided by a majority of as many repeats as the questions allow;
- `clarke`: Clarke et al. 2021 (TOIS), rounds of random pairs that drop the losing documents, then
  all pairs of the rest;
- `SORTER, weighed`: our plain sorters, with their answers weighed by the model of `robust`.

Sorters with a fixed length are shown at their own mean number of questions, marked by `=`.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

import numpy as np

from bench.rival_models import Asap, CrowdBT
from bench.robust import CASES, K, N, image_sessions
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.goal import Goal
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.sampled import Rules, open_sorter
from topkapi.app.domain.pairs.robust.sorter import Answered
from topkapi.app.domain.pairs.simulated_assessors import Assessor, SimulatedAssessor, true_worths
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.simulation.runs import Run, judge
from topkapi.app.services.simulation.sessions import measures

Ask = Callable[[int, int], bool]  # whether the first document is preferred
SORTERS = ("heap", "heap-bottom-up", "insertion", "tournament")
GOALS = {"robust": Goal.ORDER, "robust-members": Goal.MEMBERS}


@dataclass(frozen=True, slots=True)
class Contest:
    """Documents with known worths, the assessor, and how often a pair may be asked."""

    worth: Sequence[float]
    assessor: Assessor
    k: int
    limit: int

    @property
    def n(self) -> int:
        """Return the number of documents."""
        return len(self.worth)


class Spent(Exception):
    """The questions are used up."""


class Questions:
    """Asks an assessor, at most ``most`` times, and keeps the answers."""

    def __init__(self, assessor: Assessor, most: int) -> None:
        self._assessor, self._most, self._coin = assessor, most, Random("ties")
        self.answers: list[tuple[Pair, Preference]] = []

    def prefer(self, pair: Pair) -> Preference:
        """Return the assessor's answer."""
        if len(self.answers) >= self._most:
            raise Spent
        answer = self._assessor.prefer(pair)
        self.answers.append((pair, answer))
        return answer

    def __call__(self, first: int, second: int) -> bool:
        """Return whether the first document is preferred; a tie is decided by a coin."""
        answer = self.prefer((first, second))
        if answer is Preference.TIE:
            return self._coin.random() < 0.5
        return answer is Preference.FIRST

    @property
    def left(self) -> int:
        """Return how many questions are left."""
        return self._most - len(self.answers)


def actively(model: CrowdBT | Asap, n: int, ask: Questions, limit: int) -> list[int]:
    """Ask the pairs that ``model`` chooses, none more than ``limit`` times; return its order."""
    upper, lower = np.triu_indices(n, 1)
    asked = np.zeros(upper.size, dtype=int)
    while ask.left:
        still = np.flatnonzero(asked < limit)
        if not still.size:
            break
        index = int(still[model.choose(upper[still], lower[still])])
        asked[index] += 1
        first, second = int(upper[index]), int(lower[index])
        model.update(*((first, second) if ask(first, second) else (second, first)))
    return [int(each) for each in np.argsort(-model.scores(), kind="stable")]


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
    repeats = min(contest.limit, max(1, ask.left // once))
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


def play_weighed(
    name: str, contest: Contest, ask: Questions, seed: str
) -> tuple[list[int], list[int]]:
    """Return the list of a plain sorter, and the list of its answers weighed by `robust`."""
    n, k = contest.n, contest.k
    ranking = judge(Plan(tuple(range(n)), k, name, seed=seed), [ask]).ranking
    sorter = open_sorter(n, k, Rules(1, None, 1, Goal.ORDER), seed)
    for pair, answer in ask.answers:
        sorter.take(Answered(pair, answer))
    return list(ranking), list(sorter.conclude().ranking)


def play_robust(
    contest: Contest, counts: Sequence[int], goal: Goal, seed: str
) -> Iterator[tuple[int, list[int]]]:
    """Yield the list of `robust` after each of the ``counts``, which rise, of questions."""
    ask = Questions(contest.assessor, counts[-1])
    rules = Rules(counts[-1], None, contest.limit, goal)
    sorter = open_sorter(contest.n, contest.k, rules, seed)
    for count in counts:
        while len(ask.answers) < count and (pair := sorter.ask()) is not None:
            sorter.take(Answered(pair, ask.prefer(pair)))
        yield len(ask.answers), list(sorter.conclude().ranking)


def session(
    contest: Contest, name: str, counts: Sequence[int], seed: int
) -> list[tuple[int, list[int]]]:
    """Run one session of a rival, and return questions and list.

    Of `robust` after each of the ``counts``, of sorters plain and weighed.
    """
    if name in GOALS:
        return list(play_robust(contest, counts, GOALS[name], f"rival/{seed}"))
    if name in SORTERS:
        ask = Questions(contest.assessor, 10**6)
        plain, weighed = play_weighed(name, contest, ask, f"rival/{seed}")
        return [(len(ask.answers), plain), (len(ask.answers), weighed)]
    ask = Questions(contest.assessor, counts[0])
    if name in ("crowd-bt", "asap"):
        model = CrowdBT(contest.n) if name == "crowd-bt" else Asap(contest.n)
        found = actively(model, contest.n, ask, contest.limit)
    else:
        play = play_mohajer if name == "mohajer" else play_clarke
        found = play(contest, ask, Random(f"rival/{name}/{seed}"))
    return [(len(ask.answers), found[: contest.k])]


def contests(name: str, runs: int) -> Iterator[Contest]:
    """Yield the sessions of an error model, or those of the real votes."""
    if name == "images":
        for each in image_sessions(runs):
            yield Contest(each.worth, each.assessor, 5, 1)
        return
    case = CASES[name]
    for seed in range(runs):
        random = Random(f"bench/{seed}")
        worth = true_worths(N, 0, random, case.errors)
        assessor = SimulatedAssessor(
            worth, error=case.error, errors=case.errors, persistent=case.persistent, random=random
        )
        yield Contest(worth, assessor, K, case.limit)


def lines(name: str, rival: str, counts: Sequence[int], runs: int) -> Iterator[tuple[float, str]]:
    """Yield the mean number of questions and the line of a rival, for each list of a session."""
    found = [
        [
            (asked, *measures(Run(asked, tuple(ranking), tuple(contest.worth)), contest.k))
            for asked, ranking in session(contest, rival, counts, seed)
        ]
        for seed, contest in enumerate(contests(name, runs))
    ]
    labels = (rival, f"{rival}, weighed") if rival in SORTERS else (rival,) * len(counts)
    for label, values in zip(labels, np.array(found).transpose(1, 0, 2), strict=True):
        (asked, ndcg, overlap), errors = (
            values.mean(axis=0).tolist(),
            values.std(axis=0, ddof=1) / len(found) ** 0.5,
        )
        yield (
            asked,
            f"{name:>10} {label:>24} {'=' if rival in SORTERS else ' '}{asked:6.1f} kappa-NDCG "
            f"{ndcg:.3f} ± {errors[1]:.3f} overlap {overlap:.3f} ± {errors[2]:.3f}",
        )


def table(name: str, rivals: Sequence[str], counts: Sequence[int], runs: int) -> Iterator[str]:
    """Yield the lines of one error model, or of the real votes."""
    wanted = set(counts)
    for rival in (each for each in rivals if each in SORTERS):
        for asked, text in lines(name, rival, counts, runs):
            wanted.add(round(asked))
            yield text
    for rival in (each for each in rivals if each not in SORTERS):
        parts = [sorted(wanted)] if rival in GOALS else [[count] for count in counts]
        for part in parts:
            yield from (text for _, text in lines(name, rival, part, runs))


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="Measure the rivals of robust.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default=",".join([*CASES, "images"]))
    everyone = [*SORTERS, *GOALS, "crowd-bt", "asap", "mohajer", "clarke"]
    parser.add_argument("--rivals", default=",".join(everyone))
    parser.add_argument("--counts", default="90,143")
    chosen = parser.parse_args()
    counts = [int(each) for each in chosen.counts.split(",")]
    for name in chosen.only.split(","):
        at = [90] if name == "images" else counts
        for text in table(name, chosen.rivals.split(","), at, chosen.runs):
            print(text, flush=True)


if __name__ == "__main__":
    main()
