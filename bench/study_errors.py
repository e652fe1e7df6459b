"""Quality of `robust`, true and stated, if the assessor has finished a study's queries before.

python -m bench.study_errors                                every error model, 4 people each
python -m bench.study_errors --only even --people 8 --sessions 25 --queries 20

50 documents, best 10. Each person, with an error rate of their own around the given one, finishes
``--queries`` queries, of which the prior is learned that their next sessions start from. A line
shows the sessions of 90 questions, of 143, and those of at most 143 that ``stop_at = 0.9`` stops;
the prior of the sessions of 90 questions is of queries of 90 questions. Standard errors are of
sessions; ``gap`` is what is stated minus what is true, with its own. With ``--queries 0`` the same
sessions start from the general prior.
"""

import argparse
from dataclasses import dataclass
from math import exp, nan
from random import Random

import numpy as np
from numpy.typing import NDArray

from bench.robust import CASES, Case, K, N
from topkapi.app.domain.pairs.robust.error_prior import GENERAL, ErrorPrior
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.pairs.robust.study_errors import study_priors
from topkapi.app.domain.pairs.simulated_assessors import SimulatedAssessor, true_worths
from topkapi.app.domain.simulation.runs import RATES_VARY, Run
from topkapi.app.services.simulation.sessions import measures

COUNTS = (90, 143)
STOP_AT = 0.9
Evidence = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reached:
    """True and stated kappa-NDCG of a list, after how many questions."""

    questions: int
    true: float
    stated: float


class Person:
    """A simulated person with an error rate of their own."""

    def __init__(self, name: str, number: int, queries: int) -> None:
        self.case: Case = CASES[name]
        self.name = f"{name}/{number}"
        drawn = Random(f"{self.name}/rate").gauss(0.0, RATES_VARY)
        self.error = min(0.45, self.case.error * exp(drawn))
        self.queries = queries

    def session(self, name: str, prior: ErrorPrior) -> tuple[RobustSorter, SimulatedAssessor]:
        """Return a new sorter and the person, who knows the worths of a new query."""
        random = Random(f"{self.name}/{name}")
        worth = true_worths(N, 0, random, self.case.errors)
        rules = Rules(max(COUNTS), STOP_AT, self.case.limit, priors=(prior,))
        someone = SimulatedAssessor(
            worth,
            error=self.error,
            errors=self.case.errors,
            persistent=self.case.persistent,
            random=random,
        )
        return RobustSorter(N, K, rules, f"{self.name}/{name}"), someone

    def priors(self) -> dict[int, ErrorPrior]:
        """Return what the finished queries teach, by their number of questions."""
        found: dict[int, list[Evidence]] = {count: [] for count in COUNTS}
        for query in range(self.queries):
            sorter, someone = self.session(f"earlier/{query}", GENERAL)
            for asked in range(1, max(COUNTS) + 1):
                ask(sorter, someone, asked)
                if asked in COUNTS:
                    found[asked].append(sorter.evidence()[0])
        if not self.queries:
            return dict.fromkeys(COUNTS, GENERAL)
        return {count: ErrorPrior.of(study_priors({0: each})[0]) for count, each in found.items()}


def ask(sorter: RobustSorter, someone: SimulatedAssessor, asked: int) -> None:
    """Ask the next question; the better page is on either side in turn."""
    pair = sorter.ask()
    if pair is not None:
        pair = pair[::-1] if asked % 2 else pair
        sorter.take(Answered(pair, someone.prefer(pair)))


def reached(sorter: RobustSorter, someone: SimulatedAssessor, asked: int) -> Reached:
    """Measure the list as it is now."""
    found = sorter.conclude()
    true, _ = measures(Run(asked, found.ranking, tuple(someone.worth)), K)
    return Reached(asked, true, found.kappa_ndcg().mean)


def play(person: Person, number: int, count: int, prior: ErrorPrior) -> list[Reached]:
    """Return what a session of ``count`` questions reaches, and where it would have stopped."""
    sorter, someone = person.session(str(number), prior)
    stopped: list[Reached] = []
    for asked in range(1, count + 1):
        if count == max(COUNTS) and not stopped and sorter.may_stop_at(STOP_AT):
            stopped.append(reached(sorter, someone, asked - 1))
        ask(sorter, someone, asked)
    return [reached(sorter, someone, count), *stopped]


def line(name: str, kind: str, found: list[Reached], sessions: int) -> str:
    """Return a line of the table."""
    if not found:
        return f"{name:>10} {kind:>9} | none of {sessions}"
    true, stated = np.array([(each.true, each.stated) for each in found]).T
    errors = [
        values.std(ddof=1) / len(found) ** 0.5 if len(found) > 1 else nan
        for values in (true, stated - true)
    ]
    return (
        f"{name:>10} {kind:>9} | kappa-NDCG {true.mean():.3f} ± {errors[0]:.3f} "
        f"stated {stated.mean():.3f} gap {(stated - true).mean():+.3f} ± {errors[1]:.3f} | "
        f"{np.mean([each.questions for each in found]):.0f} questions, {len(found)} of {sessions}"
    )


def measure(name: str, people: int, sessions: int, queries: int) -> None:
    """Print the lines of an error model."""
    found: dict[str, list[Reached]] = {"90": [], "143": [], "stopped": []}
    for number in range(people):
        person = Person(name, number, queries)
        for count, prior in person.priors().items():
            for each in range(sessions):
                ended, *stopped = play(person, each, count, prior)
                found[str(count)].append(ended)
                found["stopped"] += stopped
    for kind, lists in found.items():
        print(line(name, kind, lists, people * sessions), flush=True)


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="Measure sessions with a study behind them.")
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--sessions", type=int, default=25)
    parser.add_argument("--queries", type=int, default=20)
    usual = "uniform,uniform-20,normal-10,even,mixed,persistent"
    parser.add_argument("--only", default=usual)
    chosen = parser.parse_args()
    for name in chosen.only.split(","):
        measure(name, chosen.people, chosen.sessions, chosen.queries)


if __name__ == "__main__":
    main()
