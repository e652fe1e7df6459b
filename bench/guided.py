"""Lists with a ranker's scores, the ranker's own lists, and lists of people alone.

`python -m bench.guided --votes` replays real votes, one stream of `bench.people`, with simulated
rankers: the normal scores of the gold order plus noise, with a correlation of 0.5, 0.8 or 0. For
each number of questions it prints kappa-NDCG and overlap against the gold, which is made of votes
that do not answer: of the list with the scores, of the ranker's own list, and of a session without
a ranker, with standard errors and paired differences; then the questions with which the list with
the scores reaches what people alone reach after the last number.

`python -m bench.guided --correlation 0.8 --questions 75` prints the kappa-NDCG of the list with the
scores and of the people's list, what each states, and that of sessions without a ranker. Normal
errors of 10 %, the best 10 of 50 pages.

`python -m bench.guided --summeval gpt-4o` takes the three experts of SummEval instead, as a team:
the best 5 of 16 summaries by coherence, or by relevance (in the other two criteria most grades are
equal). They answer by their grades, the gold is their mean grade, and a model's grades are the
scores. It prints kappa-NDCG after several numbers of questions, without scores, with those of the
model and with random ones, and how many questions each takes to reach what `robust` reaches without
scores after the questions that `heap` is expected to ask.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bench.machine_data import read
from bench.people import DEVELOPMENT, contest_of
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.error_prior import GENERAL
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    Errors,
    SimulatedAssessor,
    by_worth,
    true_worths,
)
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.simulation.runs import Run, ranker_scores
from topkapi.app.services.simulation.sessions import measures

FloatArray = NDArray[np.float64]

N, K, ERROR = 50, 10, 0.1
SUMMARIES, BEST, EXPERTS = 16, 5, ("e0", "e1", "e2")
CRITERIA = ("coherence", "relevance")
COUNTS, RHOS = (30, 45, 60, 75, 90, 143), (0.5, 0.8, 0.0)


def session(
    experts: Sequence[Assessor],
    worth: Sequence[float],
    guide: tuple[float, ...] | None,
    rules: Rules,
    counts: Sequence[int],
    k: int,
    seed: str,
) -> Iterator[list[float]]:
    """Yield kappa-NDCG and what is stated, of the sorter's list and of the people's.

    There is one list of each after every one of the ``counts`` of questions, measured for the goal
    of the rules.
    """
    place = int(rules.goal is Goal.MEMBERS)
    guided = RobustSorter(len(worth), k, replace(rules, guide=guide), seed)
    people = RobustSorter(len(worth), k, rules, seed)
    asked = 0
    for count in counts:
        while asked < count and (pair := guided.ask(asked % len(experts))):
            person = asked % len(experts)
            step = Answered(pair, experts[person].prefer(pair), person)
            asked += 1
            guided.take(step)
            if guide is not None:
                people.take(step)
        found: list[float] = []
        for each in (guided, guided if guide is None else people):
            end = each.conclude()
            quality = measures(Run(asked, end.ranking, tuple(worth)), k)[place]
            found += [quality, end.quality(rules.goal)]
        yield found


def simulated(correlation: float | None, questions: int, seed: int) -> list[float]:
    """Return the figures of a session with normal errors."""
    random = Random(f"{correlation}/{questions}/{seed}")
    worth = true_worths(N, 0, random, Errors.NORMAL)
    assessor = SimulatedAssessor(
        worth, error=ERROR, errors=Errors.NORMAL, persistent=False, random=random
    )
    guide = None if correlation is None else ranker_scores(worth, correlation, random)
    rules = Rules(questions, None, 6, Goal.ORDER)
    (found,) = session([assessor], worth, guide, rules, [questions], K, str(seed))
    return found


def voted(rho: float | None, name: str, number: int, goal: Goal) -> list[list[float]]:
    """Return what a session with real votes reaches, as `session` does, and the ranker alone."""
    contest = contest_of(name, "stream", number)
    assert contest is not None
    normal, size = NormalDist(), contest.n
    worth = [normal.inv_cdf((rank + 0.5) / size) for rank in contest.worth]
    guide = None
    if rho is not None:
        guide = ranker_scores(worth, rho, Random(f"ranker/{name}/{number}"))
    rules = Rules(max(COUNTS), None, 1, goal)
    seed, people = f"guided/{number}", contest.people
    rows = list(session(people, worth, guide, rules, COUNTS, contest.k, seed))
    alone = 0.0
    if guide is not None:
        ranked = tuple(by_worth(guide)[: contest.k])
        alone = measures(Run(0, ranked, tuple(worth)), contest.k)[goal is Goal.MEMBERS]
    return [[*row, alone] for row in rows]


def print_voted(sessions: int, goal: Goal) -> None:
    """Print what lists with a ranker's scores gain on real votes, by the number of questions."""
    keys = [(name, number) for number in range(sessions) for name in DEVELOPMENT]
    people = np.array([voted(None, *key, goal) for key in keys])
    end = float(people[:, -1, 0].mean())
    for rho in RHOS:
        found = np.array([voted(rho, *key, goal) for key in keys])
        for place, count in enumerate(COUNTS):
            mine, alone, ranker = found[:, place, 0], people[:, place, 0], found[:, place, 4]
            print(
                f"ranker {rho}, {goal.value}, {count:>3} questions: with scores {_mean(mine)},",
                f"stated {found[:, place, 1].mean():.3f},",
                f"people's list {_mean(found[:, place, 2])},",
                f"without a ranker {_mean(alone)} ({_mean(mine - alone)}),",
                f"ranker {_mean(ranker)} ({_mean(mine - ranker)})",
                flush=True,
            )
        enough = needed(COUNTS, found[:, :, 0].mean(axis=0), end)
        print(f"ranker {rho}: {end:.3f} after {enough:.0f} of {COUNTS[-1]} questions", flush=True)


def _mean(values: FloatArray) -> str:
    return f"{values.mean():.3f} ± {values.std(ddof=1) / len(values) ** 0.5:.3f}"


@dataclass(frozen=True, slots=True)
class ByGrades:
    """Prefers the document with the higher grade; equal grades are a tie."""

    grades: Sequence[float]

    def prefer(self, pair: Pair) -> Preference:
        """Return the preference."""
        first, second = self.grades[pair[0]], self.grades[pair[1]]
        if first == second:
            return Preference.TIE
        return Preference.FIRST if first > second else Preference.SECOND


def summeval(scores: str, counts: Sequence[int], sessions: int) -> FloatArray:
    """Return kappa-NDCG by session, count and list (the sorter's, the people's)."""
    grades: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in sorted(read("summeval-grades"), key=lambda row: row["document"]):
        if row["criterion"] in CRITERIA:
            mine = grades.setdefault((row["query"], row["criterion"]), {})
            mine.setdefault(row["assessor"], []).append(float(row["grade"]))
    found = []
    for number, key in enumerate(sorted(grades)[:sessions]):
        random = Random(f"summeval/{number}")
        order = random.sample(range(SUMMARIES), SUMMARIES)
        guide = grades[key].get(scores)
        if scores == "random":
            guide = [random.random() for _ in order]
        experts = [[grades[key][who][each] for each in order] for who in EXPERTS]
        rows = session(
            [ByGrades(each) for each in experts],
            [sum(each) for each in zip(*experts, strict=True)],
            None if guide is None else tuple(guide[each] for each in order),
            Rules(max(counts), priors=(GENERAL,) * len(EXPERTS)),
            counts,
            BEST,
            str(number),
        )
        found.append([[row[0], row[2]] for row in rows])
    return np.array(found)


def print_summeval(model: str, sessions: int) -> None:
    """Print the curves, and the questions that reach what no scores reach at the end."""
    last = heap_questions(SUMMARIES, BEST)
    counts = [*range(last % 4, last + 1, 4)][1:]
    goal = 0.0
    for scores in ("none", model, "random"):
        found = summeval(scores, counts, sessions)
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / len(found) ** 0.5
        goal = goal or float(means[-1, 0])
        for column, name in enumerate(("sorter's list", "people's list")):
            line = ", ".join(f"{n} {m:.3f}" for n, m in zip(counts, means[:, column], strict=True))
            print(
                f"scores {scores}, {name}: {line} ± {errors[-1, column]:.3f}; {goal:.3f} after",
                f"{needed(counts, means[:, column], goal):.0f} of {last}",
                flush=True,
            )


def needed(counts: Sequence[int], means: FloatArray, goal: float) -> float:
    """Return the number of questions at which the curve reaches ``goal``; infinite if never."""
    for index, mean in enumerate(means):
        if mean >= goal:
            if index == 0:
                return float(counts[0])
            share = (goal - means[index - 1]) / (mean - means[index - 1])
            return float(counts[index - 1] + share * (counts[index] - counts[index - 1]))
    return float("inf")


def main() -> None:
    """Read the arguments and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--correlation", type=float, default=0.8)
    parser.add_argument("--questions", type=int, default=75)
    parser.add_argument("--sessions", type=int, default=24)
    parser.add_argument("--summeval", metavar="MODEL")
    parser.add_argument("--votes", action="store_true", help="real votes, SESSIONS of each set")
    parser.add_argument("--goal", type=Goal, default=Goal.ORDER)
    chosen = parser.parse_args()
    if chosen.votes:
        print_voted(chosen.sessions, chosen.goal)
        return
    if chosen.summeval:
        print_summeval(chosen.summeval, chosen.sessions)
        return
    for correlation in (chosen.correlation, None):
        rows = [simulated(correlation, chosen.questions, seed) for seed in range(chosen.sessions)]
        means = np.mean(rows, axis=0)
        errors = np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
        print(
            "without a ranker:" if correlation is None else f"ranker of {correlation}:",
            f"sorter's list {means[0]:.3f} ± {errors[0]:.3f}, stated {means[1]:.3f};",
            f"people's list {means[2]:.3f} ± {errors[2]:.3f}, stated {means[3]:.3f}",
        )


if __name__ == "__main__":
    main()
