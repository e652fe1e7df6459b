"""Sessions of `robust` that stop at an expected quality: how many stop, how good their lists are.

python -m bench.stopping                                 every error model, stop_at = 0.9
python -m bench.stopping --runs 100 --only even,drawn --stop-at 0.8

50 documents, best 10, at most 143 questions; `images` as in `bench.robust`, and `drawn` answers
with a vote of any annotator about the same queries, from a random half of the votes (best 5, at
most 90 questions). `people` are the development sets of `bench.people`, one stream each, at most
200 questions, measured against the order of all votes of those who answer; `members` the same for
the other goal, in overlap. A line shows how many sessions stopped before their last question, after
how many questions, and the true and the stated quality (kappa-NDCG or overlap) of those, then the
true one of all.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bench.people import DEVELOPMENT, contest_of
from bench.rivals.questions import Contest
from bench.rivals.sets import contests
from bench.robust import CASES, image_elections
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.simulation.runs import Run
from topkapi.app.domain.simulation.votes import sessions
from topkapi.app.services.simulation.sessions import measures

DRAWN = "drawn"
PEOPLE = {"people": Goal.ORDER, "members": Goal.MEMBERS}


@dataclass(frozen=True, slots=True)
class Ended:
    """Questions of a session, whether it stopped early, and its kappa-NDCG, true and stated."""

    questions: int
    early: bool
    true: float
    stated: float


def play(contest: Contest, most: int, stop_at: float, seed: int, goal: Goal) -> Ended:
    """Run one session until it stops, or has asked ``most`` questions."""
    rules = Rules(most, stop_at, contest.limit, goal)
    sorter = RobustSorter(contest.n, contest.k, rules, f"stop/{seed}")
    asked = 0
    while (pair := sorter.next_pair(asked)) is not None:
        sorter.take(Answered(pair, contest.assessor.prefer(pair)))
        asked += 1
    found = sorter.conclude()
    true = measures(Run(asked, found.ranking, tuple(contest.worth)), contest.k)
    return Ended(asked, asked < most, true[goal is Goal.MEMBERS], found.quality(goal))


def drawn(runs: int) -> Iterator[Contest]:
    """Yield sessions that are answered by votes of all annotators."""
    chosen = sessions(
        image_elections(), n=None, runs=runs, one_assessor=False, persistent=False, seed="stop"
    )
    for each in chosen:
        yield Contest(each.worth, each.people, 5, 1)


def voted(runs: int) -> Iterator[Contest]:
    """Yield sessions of the development sets, with the order of those who answer as the truth."""
    for number in range(runs):
        contest = contest_of(DEVELOPMENT[number % len(DEVELOPMENT)], "stream", number)
        assert contest is not None
        yield replace(contest, worth=contest.own)


def line(name: str, runs: int, stop_at: float) -> str:
    """Return the line of an error model, or of the real votes."""
    most = 90 if name in ("images", DRAWN) else 200 if name in PEOPLE else 143
    goal = PEOPLE.get(name, Goal.ORDER)
    found = {DRAWN: drawn, **dict.fromkeys(PEOPLE, voted)}.get(name)
    chosen = found(runs) if found else contests(name, runs)
    ended = [play(each, most, stop_at, seed, goal) for seed, each in enumerate(chosen)]
    early = [each for each in ended if each.early]
    text = f"{name:>10}: {len(early):>4} of {len(ended)} stopped"
    if early:
        true = np.array([each.true for each in early])
        error = true.std(ddof=1) / len(early) ** 0.5 if len(early) > 1 else float("nan")
        text += (
            f" after {np.mean([each.questions for each in early]):5.1f} questions, quality "
            f"{true.mean():.3f} ± {error:.3f} stated {np.mean([each.stated for each in early]):.3f}"
        )
    return f"{text}; all {np.mean([each.true for each in ended]):.3f}"


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="Measure sessions that stop at a quality.")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", default=",".join([*CASES, "images", DRAWN, *PEOPLE]))
    parser.add_argument("--stop-at", type=float, default=0.9)
    chosen = parser.parse_args()
    for name in chosen.only.split(","):
        print(line(name, chosen.runs, chosen.stop_at), flush=True)


if __name__ == "__main__":
    main()
