"""Lead of `robust` over every other sorter at equal questions, for several sizes and rates.

python -m bench.grid --runs 200                     all sizes, at 5, 10 and 20 % errors
python -m bench.grid --runs 40 --sizes 50x5,50x10   only some sizes
python -m bench.grid --errors normal                errors between close documents

Every other sorter of `topkapi simulate frontier` is a point: questions, kappa-NDCG and overlap.
For each measure, dominated points, whose quality another reaches with no more questions, are
skipped. At each other point `robust` is evaluated after as many questions, with the goal "order"
for kappa-NDCG and "members" for overlap; a line shows its smallest lead, over which sorter, and two
standard errors. Errors are independent, and `robust` may ask a pair up to six times.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import Errors
from topkapi.app.services.simulation.frontier import qualities_of, variants
from topkapi.app.services.simulation.sessions import Setting, Summary, summarise

SIZES = "20x5,20x10,20x20,50x5,50x10,50x20,100x5,100x10,100x20"
RATES = (0.05, 0.10, 0.20)
OTHERS = 500  # runs of the other sorters, which are fast
CHUNK = 10
MEASURES = {Goal.ORDER: "kappa-NDCG", Goal.MEMBERS: "overlap"}


@dataclass(frozen=True, slots=True)
class Point:
    """Mean questions of a sorter, its quality, and the standard error of that."""

    questions: int
    quality: float
    error: float

    @classmethod
    def of(cls, summary: Summary, goal: Goal) -> "Point":
        """Return the point in the measure of a goal."""
        mean, sd = (
            (summary.kappa_ndcg_mean, summary.kappa_ndcg_sd)
            if goal is Goal.ORDER
            else (summary.overlap_mean, summary.overlap_sd)
        )
        return cls(round(summary.judgments_mean), mean, sd / OTHERS**0.5)


def undominated(points: Mapping[str, Point]) -> dict[str, Point]:
    """Return the points whose quality no other reaches with as few questions."""
    return {
        name: mine
        for name, mine in points.items()
        if not any(
            other.questions <= mine.questions and other.quality >= mine.quality and other != mine
            for other in points.values()
        )
    }


def line(setting: Setting, others: Mapping[str, Point], goal: Goal) -> str:
    """Return the line of one size and rate."""
    counts = tuple(sorted({each.questions for each in others.values()}))
    plan = replace(setting.plan, goal=goal.value)
    chunks = [
        qualities_of(
            (replace(setting, plan=plan), number, min(CHUNK, setting.runs - start), counts)
        )
        for number, start in enumerate(range(0, setting.runs, CHUNK))
    ]
    robust = np.concatenate(chunks)[:, :, list(MEASURES).index(goal)]
    leads = []
    for name, point in others.items():
        mine = robust[:, counts.index(point.questions)]
        spread = float(np.hypot(mine.std(ddof=1) / setting.runs**0.5, point.error))
        leads.append((float(mine.mean()) - point.quality, spread, name, point))
    lead, spread, name, point = min(leads, key=lambda each: each[0])
    return (
        f"| {len(plan.order)} | {plan.k} | {setting.errors.value} {setting.error:.0%} | "
        f"{MEASURES[goal]} | {name} | {point.questions} | {point.quality:.3f} | "
        f"{point.quality + lead:.3f} | {lead:+.3f} ± {2 * spread:.3f} | {len(leads)} |"
    )


def lines(n: int, k: int, errors: Errors, runs: int) -> Iterator[str]:
    """Yield the lines of a size: every rate, both measures."""
    for rate in RATES:
        plan = Plan(order=tuple(range(n)), k=k, pair_limit=6)
        setting = Setting(plan, rate, 0, runs, seed=1, errors=errors)
        summaries = {
            name: summarise(replace(setting, plan=each, runs=OTHERS), processes=1)
            for name, each in variants(plan).items()
        }
        for goal in MEASURES:
            points = {name: Point.of(each, goal) for name, each in summaries.items()}
            yield line(setting, undominated(points), goal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--errors", default="uniform,normal")
    chosen = parser.parse_args()
    print(
        "| n | k | errors | measure | closest rival | questions | it reaches | robust | lead | "
        "rivals |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in chosen.errors.split(","):
        for size in chosen.sizes.split(","):
            n, k = (int(each) for each in size.split("x"))
            for found in lines(n, k, Errors(name), chosen.runs):
                print(found, flush=True)


if __name__ == "__main__":
    main()
