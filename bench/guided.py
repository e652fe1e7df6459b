"""Lists that follow from people's answers alone, if a ranker's scores chose the questions.

`python -m bench.guided --correlation 0.8 --questions 75` prints the kappa-NDCG of the list with the
scores and of the people's list, what each states, and that of sessions without a ranker. Normal
errors of 10 %, the best 10 of 50 pages.
"""

import argparse
from dataclasses import replace
from random import Random

import numpy as np

from topkapi.app.domain.pairs.goal import Goal
from topkapi.app.domain.pairs.robust.sampled import Rules, open_sorter
from topkapi.app.domain.pairs.robust.sorter import Answered
from topkapi.app.domain.pairs.simulated_assessors import Errors, SimulatedAssessor, true_worths
from topkapi.app.domain.simulation.runs import Run, ranker_scores
from topkapi.app.services.simulation.sessions import measures

N, K, ERROR = 50, 10, 0.1


def session(correlation: float | None, questions: int, seed: int) -> list[float]:
    """Return kappa-NDCG and what is stated, of the sorter's list and of the people's."""
    random = Random(f"{correlation}/{questions}/{seed}")
    worth = true_worths(N, 0, random, Errors.NORMAL)
    assessor = SimulatedAssessor(
        worth, error=ERROR, errors=Errors.NORMAL, persistent=False, random=random
    )
    guide = None if correlation is None else ranker_scores(worth, correlation, random)
    rules = Rules(questions, None, 6, Goal.ORDER)
    guided = open_sorter(N, K, replace(rules, guide=guide), str(seed))
    people = open_sorter(N, K, rules, str(seed))
    for _ in range(questions):
        pair = guided.ask()
        if pair is None:
            break
        step = Answered(pair, assessor.prefer(pair))
        guided.take(step)
        people.take(step)
    found: list[float] = []
    for each in (guided, people):
        end = each.conclude()
        quality, _ = measures(Run(questions, end.ranking, tuple(worth)), K)
        found += [quality, end.kappa_ndcg().mean]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--correlation", type=float, default=0.8)
    parser.add_argument("--questions", type=int, default=75)
    parser.add_argument("--sessions", type=int, default=24)
    chosen = parser.parse_args()
    for correlation in (chosen.correlation, None):
        rows = [session(correlation, chosen.questions, seed) for seed in range(chosen.sessions)]
        means = np.mean(rows, axis=0)
        errors = np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
        print(
            "without a ranker:" if correlation is None else f"ranker of {correlation}:",
            f"sorter's list {means[0]:.3f} ± {errors[0]:.3f}, stated {means[1]:.3f};",
            f"people's list {means[2]:.3f} ± {errors[2]:.3f}, stated {means[3]:.3f}",
        )


if __name__ == "__main__":
    main()
