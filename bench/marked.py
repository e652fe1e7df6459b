"""Who is marked as answering at random after 30 answers, in simulated teams of four.

`python -m bench.marked` prints the shares: one member answers at random, two have normal errors of
10 %, and one is very careless (uniform errors of 25 %). Everybody is asked in turn about the best
10 of 50 pages, as at the beginning, when nobody is known yet.
"""

import argparse
from collections import Counter
from random import Random

from topkapi.app.domain.pairs.reliability import ENOUGH, Reliability, reliability_of
from topkapi.app.domain.pairs.robust.error_prior import GENERAL
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    AtRandom,
    Errors,
    SimulatedAssessor,
    true_worths,
)

N, K = 50, 10
NAMES = ("at random", "normal 10 %", "normal 10 %", "uniform 25 %")


def reliabilities(seed: int) -> list[Reliability | None]:
    """Return what one query says about each member of a team after 30 answers of each."""
    random = Random(f"marked/{seed}")
    worth = true_worths(N, 0, random, Errors.NORMAL)

    def person(error: float, errors: Errors) -> SimulatedAssessor:
        return SimulatedAssessor(worth, error=error, errors=errors, random=random)

    team: list[Assessor] = [AtRandom(random), *(person(0.1, Errors.NORMAL) for _ in range(2))]
    team.append(person(0.25, Errors.UNIFORM))
    rules = Rules(ENOUGH * len(team), priors=(GENERAL,) * len(team))
    sorter = RobustSorter(N, K, rules, str(seed))
    for number in range(rules.budget):
        member = number % len(team)
        if (pair := sorter.ask(member)) is None:
            break
        sorter.take(Answered(pair, team[member].prefer(pair), member))
    return [reliability_of([(ENOUGH, sorter.errors_of(each))]) for each in range(len(team))]


def main() -> None:
    """Read the arguments and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=48)
    sessions = parser.parse_args().sessions
    marked: Counter[str] = Counter()
    for seed in range(sessions):
        for name, found in zip(NAMES, reliabilities(seed), strict=True):
            marked[name] += found is not None and found.is_random
    for name in dict.fromkeys(NAMES):
        print(f"{name}: {marked[name]} of {sessions * NAMES.count(name)} marked")


if __name__ == "__main__":
    main()
