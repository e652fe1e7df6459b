"""Quality and calibration of the robust sorter over many sessions, and its time against a peer.

python -m bench.robust                          every line, 300 sessions each
python -m bench.robust --runs 1000              the same, more precise
python -m bench.robust --only even,images       some lines
python -m bench.robust --only even --goal members --counts 90,143
python -m bench.robust --only speed             only time

50 documents, best 10, after 143 questions. A line shows kappa-NDCG@10 and overlap@10 of the list,
each with its standard error, what the sorter itself states, and the difference; `inside` is the
share of sessions whose true value lies in the stated 90 % interval.

The line `images` replays real votes (../shared/data/prefs-image-search, MATH 36): one annotator
answers, every pair once, the truth is net wins over the other two; best 5, 90 questions, every
query and annotator once.

The peer in speed is scikit-learn: one fit of a Bradley-Terry model by logistic regression to the
same answers, which is what choosing the next question from a refitted model costs without choosing
it.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `topkapi` does

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from topkapi.analysis.report.sources import read_votes
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    Errors,
    SimulatedAssessor,
    true_worths,
)
from topkapi.app.domain.simulation.runs import Run
from topkapi.app.domain.simulation.votes import Election, Session, Vote, elections, sessions
from topkapi.app.services.simulation.sessions import measures

N, K = 50, 10
IMAGES = Path("../shared/data/prefs-image-search/image_pairs_annotation.gz")


@dataclass(frozen=True, slots=True)
class Case:
    """Error model of the assessor, and how often a pair may be asked."""

    errors: Errors
    error: float
    persistent: bool = False

    @property
    def limit(self) -> int:
        """Return how often a pair may be asked."""
        return 1 if self.persistent else 6


CASES = {
    "uniform": Case(Errors.UNIFORM, 0.10),
    "uniform-20": Case(Errors.UNIFORM, 0.20),
    "normal": Case(Errors.NORMAL, 0.0835),  # width .22, as in the published line
    "normal-10": Case(Errors.NORMAL, 0.10),  # width .267
    "even": Case(Errors.EVEN, 0.10),
    "mixed": Case(Errors.MIXED, 0.10),
    "persistent": Case(Errors.UNIFORM, 0.10, persistent=True),
}


@dataclass(frozen=True, slots=True)
class Played:
    """True and stated measures after one number of questions, and whether intervals cover."""

    true: tuple[float, float]
    stated: tuple[float, float]
    inside: tuple[bool, bool]


def played(
    sorter: RobustSorter, assessor: Assessor, worth: Sequence[float], counts: Sequence[int]
) -> list[Played]:
    """Run a session, and measure it after each of ``counts`` questions, or at its end."""
    found: list[Played] = []
    for asked in range(1, max(counts) + 1):
        pair = sorter.ask()
        if pair is not None:
            sorter.take(Answered(pair, assessor.prefer(pair)))
        if asked in counts:
            found.append(_measured(sorter, worth, asked))
    return found


def _measured(sorter: RobustSorter, worth: Sequence[float], asked: int) -> Played:
    conclusion = sorter.conclude()
    true = measures(Run(asked, conclusion.ranking, tuple(worth)), sorter.k)
    stated = conclusion.kappa_ndcg(), conclusion.overlap()
    covered = [s.low - 1e-9 <= t <= s.high + 1e-9 for t, s in zip(true, stated, strict=True)]
    return Played(true, (stated[0].mean, stated[1].mean), (covered[0], covered[1]))


def simulated(case: Case, runs: int, counts: Sequence[int], goal: Goal) -> Iterator[list[Played]]:
    """Yield simulated sessions of a case."""
    for seed in range(runs):
        random = Random(f"bench/{seed}")
        worth = true_worths(N, 0, random, case.errors)
        assessor = SimulatedAssessor(
            worth,
            error=case.error,
            errors=case.errors,
            persistent=case.persistent,
            random=random,
        )
        rules = Rules(max(counts), None, case.limit, goal)
        yield played(RobustSorter(N, K, rules, f"bench/{seed}"), assessor, worth, counts)


def image_elections() -> tuple[Election, ...]:
    """Return the real votes by query."""
    rows = read_votes(IMAGES)
    return elections((row.query, Vote(row.assessor, row.a, row.b, row.answer)) for row in rows)


def image_sessions(runs: int) -> Iterator[Session]:
    """Yield sessions with real votes, at most one per query and annotator."""
    found = image_elections()
    most = sum(len(each.assessors) for each in found)
    yield from sessions(
        found, n=None, runs=min(runs, most), one_assessor=True, persistent=True, seed="bench"
    )


def images(runs: int, goal: Goal) -> Iterator[list[Played]]:
    """Yield what was measured in sessions with real votes."""
    for number, each in enumerate(image_sessions(runs)):
        rules = Rules(90, None, 1, goal)
        sorter = RobustSorter(len(each.worth), 5, rules, f"bench/{number}")
        yield played(sorter, each.assessor, each.worth, (90,))


def line(name: str, count: int, found: Sequence[Played]) -> str:
    """Return a line of the table."""
    true = np.array([each.true for each in found])
    stated = np.array([each.stated for each in found])
    inside = np.array([each.inside for each in found]).mean(axis=0)
    errors = true.std(axis=0, ddof=1) / len(found) ** 0.5
    text = f"{name:>10} {count:>4}"
    for column, measure in enumerate(("kappa-NDCG", "overlap")):
        mean, said = _mean(true[:, column]), _mean(stated[:, column])
        text += (
            f" | {measure} {mean:.3f} ± {errors[column]:.3f} stated {said:.3f} "
            f"({said - mean:+.3f}) inside {inside[column]:.2f}"
        )
    return f"{text} | {len(found)} sessions"


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean())


def measure_quality(names: Sequence[str], runs: int, counts: Sequence[int], goal: Goal) -> None:
    """Print the lines of the named cases."""
    for name in names:
        if name == "images":
            print(line(name, 90, [each[0] for each in images(runs, goal)]), flush=True)
            continue
        found = list(simulated(CASES[name], runs, counts, goal))
        for column, count in enumerate(counts):
            print(line(name, count, [each[column] for each in found]), flush=True)


def measure_speed(n: int, questions: int) -> None:
    """Print the CPU time per question, beside the time of the peer."""
    random = Random("speed")
    worth = true_worths(n, 0, random)
    assessor = SimulatedAssessor(worth, error=0.1, random=random)
    sorter = RobustSorter(n, K, Rules(questions, None, 1), "speed")
    ours = []
    for _ in range(questions):
        start = time.process_time()
        pair = sorter.ask()
        asked = time.process_time() - start
        assert pair is not None
        told = Answered(pair, assessor.prefer(pair))
        start = time.process_time()
        sorter.take(told)
        ours.append(asked + time.process_time() - start)
    steps = [step for step in sorter.steps if isinstance(step, Answered)]
    peer = min(_peer_seconds(n, steps) for _ in range(5))
    start = time.process_time()
    sorter.conclude()
    end = time.process_time() - start
    opened = RobustSorter(n, K, sorter.rules, "speed")
    start = time.process_time()
    for step in steps:
        opened.take(step)
    opening = time.process_time() - start
    median, latest = float(np.median(ours)), float(np.mean(ours[-20:]))
    print(
        f"n={n}: {1e3 * median:.2f} ms of CPU per question (median; the last 20 "
        f"{1e3 * latest:.2f}), conclusion {1e3 * end:.0f} ms, opening {len(steps)} answers "
        f"{opening:.2f} s, {sorter.nbytes / 1e6:.2f} MB, scikit-learn's refit {1e3 * peer:.2f} ms"
    )


def _peer_seconds(n: int, steps: Sequence[Answered]) -> float:
    rows = np.zeros((len(steps), n))
    for row, step in zip(rows, steps, strict=True):
        row[step.pair[0]], row[step.pair[1]] = 1.0, -1.0
    wins = np.array([step.preference is Preference.FIRST for step in steps])
    start = time.process_time()
    LogisticRegression(fit_intercept=False).fit(rows, wins)
    return time.process_time() - start


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description="Measure the robust sorter.")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", default=",".join(["speed", *CASES, "images"]))
    parser.add_argument("--goal", type=Goal, default=Goal.ORDER)
    parser.add_argument("--counts", default="143")
    chosen = parser.parse_args()
    names = chosen.only.split(",")
    if "speed" in names:
        measure_speed(50, 143)
        measure_speed(200, 143)
        measure_speed(500, 600)
    counts = sorted(int(each) for each in chosen.counts.split(","))
    cases = [name for name in names if name != "speed"]
    measure_quality(cases, chosen.runs, counts, chosen.goal)


if __name__ == "__main__":
    main()
