"""Lists of queries to which pages are added after they were finished.

`python -m bench.growing --more 20` prints the kappa-NDCG of the best 10 of 50 pages, of which 10
were added after a list of 40 was finished with as many questions as the heap asks: with ``more``
further questions, with and without those about two of the 40, and of a list of 50 pages made at
once with as many questions as the heap asks for these. Normal errors of 10 %.
"""

import argparse
from random import Random

import numpy as np

from topkapi.app.domain.pairs.robust.sorter import Answered, Event, RobustSorter, Rules
from topkapi.app.domain.pairs.simulated_assessors import Errors, SimulatedAssessor, true_worths
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.simulation.runs import Run
from topkapi.app.services.simulation.sessions import measures

START, N, K, ERROR = 40, 50, 10, 0.1


def session(more: int, seed: int) -> list[float]:
    """Return kappa-NDCG and what is stated: grown, grown with all pairs, and at once."""
    random = Random(f"growing/{seed}")
    worth = true_worths(N, 0, random, Errors.NORMAL)
    assessor = SimulatedAssessor(
        worth, error=ERROR, errors=Errors.NORMAL, persistent=False, random=random
    )

    def asked(sorter: RobustSorter, questions: int) -> RobustSorter:
        for _ in range(questions):
            pair = sorter.ask()
            if pair is None:
                break
            sorter.take(Answered(pair, assessor.prefer(pair)))
        return sorter

    base = asked(RobustSorter(START, K, Rules(0, limit=6), str(seed)), heap_questions(START, K))
    found: list[float] = []
    for start, steps, questions in (
        (START, base.steps, more),
        (0, base.steps, more),
        (0, list[Event](), heap_questions(N, K)),
    ):
        sorter = RobustSorter(N, K, Rules(0, limit=6, started_with=start), str(seed))
        for step in steps:
            sorter.take(step)
        end = asked(sorter, questions).conclude()
        quality, _ = measures(Run(questions, end.ranking, tuple(worth)), K)
        found += [quality, end.kappa_ndcg().mean]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--more", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=24)
    chosen = parser.parse_args()
    rows = [session(chosen.more, seed) for seed in range(chosen.sessions)]
    means, errors = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
    for index, name in enumerate(("about new pages alone", "about all pages", "50 pages at once")):
        print(
            f"{name}: {means[2 * index]:.3f} ± {errors[2 * index]:.3f}, "
            f"stated {means[2 * index + 1]:.3f}"
        )


if __name__ == "__main__":
    main()
