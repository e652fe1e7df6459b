"""Error rates of the statistics about machine assessors, in simulated studies and on real judges.

    python -m bench.machines alternative [--runs 2000]   false approvals of the test
    python -m bench.machines powered [--runs 2000]       coverage and length of intervals
    python -m bench.machines effects [--runs 2000]       power and false alarms of side and length
    python -m bench.machines ranks [--runs 2000]         coverage and width of rank sets
    python -m bench.machines calibration [--runs 2000]   error of confidence and its interval
    python -m bench.machines judges [--runs 200]         coverage on the real judges of TREC DL23
    python -m bench.machines summaries                   the test on experts and models of SummEval

Prints one JSON line per design. The real data are read from `../shared/data/people-and-machines`.
"""

import argparse
import json
import math
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats

from bench.machine_data import judged_ndcg, summeval
from bench.machine_ranks import rank_lines
from topkapi.analysis.agreement import Judgments, Scores
from topkapi.analysis.machines import (
    alternative_annotator_test,
    calibration,
    length_effects,
    powered_mean,
    side_effects,
)
from topkapi.analysis.machines.alternative import Alignment, Unit
from topkapi.analysis.typing import FloatArray

ITEMS = 20  # of a query


class Design(NamedTuple):
    """People's accuracies, the machine's in its kinds of queries, and their shares.

    ``near`` simulates grades: accuracies are standard errors, the machine's a shift of the query.
    """

    people: tuple[float, ...]
    machine: tuple[float, ...]
    shares: tuple[float, ...]
    align: Alignment = "same"


SKEWED = {  # simulated with every number of queries
    "votes, 3 people, half of the queries bad": Design((0.8,) * 3, (0.95, 0.3), (0.5, 0.5)),
    "votes, 3 people, a fifth of the queries at chance": Design((0.9,) * 3, (0.9, 0.5), (0.8, 0.2)),
    "votes, 3 people, 5 % of the queries reversed": Design((0.9,) * 3, (0.9, 0.1), (0.95, 0.05)),
    "votes, 3 people, 10 % of the queries reversed": Design((0.9,) * 3, (0.9, 0.1), (0.9, 0.1)),
    "votes, 3 people who agree, 5 % reversed": Design((0.98,) * 3, (0.98, 0.02), (0.95, 0.05)),
    "votes, 3 people who agree, 10 % reversed": Design((0.98,) * 3, (0.98, 0.02), (0.9, 0.1)),
}
DESIGNS = SKEWED | {
    "votes, 2 people, half of the queries bad": Design((0.8,) * 2, (0.95, 0.3), (0.5, 0.5)),
    "votes, 5 people, half of the queries bad": Design((0.8,) * 5, (0.95, 0.3), (0.5, 0.5)),
    "votes, 3 people, few queries very bad": Design((0.8,) * 3, (0.75, 0.05), (0.85, 0.15)),
    "votes, 3 people, one of them poor": Design((0.8, 0.8, 0.4), (0.95, 0.3), (0.5, 0.5)),
    "votes, 3 people, not clustered": Design((0.8,) * 3, (0.63,), (1.0,)),
    "grades, 3 people, half of the queries off": Design((0.7,) * 3, (0.0, 1.2), (0.5, 0.5), "near"),
}


GOOD = {
    "as good as people": Design((0.8,) * 3, (0.8,), (1.0,)),
    "as good as people on average": Design((0.8,) * 3, (0.95, 0.65), (0.5, 0.5)),
    "better than people": Design((0.8,) * 3, (0.95,), (1.0,)),
}
TOLERATED = {0.1: (20, 30, 35, 40, 45, 50), 0.2: (10, 15, 20)}  # epsilon, numbers of queries


def labels(design: Design, queries: int, rng: np.random.Generator) -> FloatArray:
    """Simulate labels (queries, people + 1, items); the machine is the last."""
    n = len(design.people)
    quality = rng.choice(design.machine, p=design.shares, size=(queries, 1, 1))
    if design.align == "same":
        truth = rng.integers(0, 2, (queries, 1, ITEMS)).astype(float)
        people = np.broadcast_to(np.reshape(design.people, (n, 1)), (queries, n, 1))
        right = rng.random((queries, n + 1, ITEMS)) < np.concatenate([people, quality], axis=1)
        answers: FloatArray = np.where(right, truth, 1 - truth)
        return answers
    truth = rng.uniform(0, 3, (queries, 1, ITEMS))
    graded = truth + rng.normal(size=(queries, n, ITEMS)) * np.reshape(design.people, (n, 1))
    machine = truth + rng.normal(0, 0.7, (queries, 1, ITEMS)) + quality
    grades: FloatArray = np.rint(np.concatenate([graded, machine], axis=1)).clip(0, 3)
    return grades


def scores(values: FloatArray) -> list[Scores]:
    """Return simulated labels as those of a study."""
    who = np.arange(values.shape[1])
    return [Scores(query, who, each) for query, each in enumerate(values)]


@cache
def boundary(design: Design) -> float:
    """Return the epsilon at which the machine is as bad as it may be, but not better.

    Exact for votes: a person who answers right with p has the advantage (p - a) D over a machine
    that does with a, if the majority of the others is right with D more than it is wrong.
    """
    first, *others = design.people
    if design.align == "same":
        lead = 0.0
        for right in product((1, -1), repeat=len(others)):
            chances = [p if each > 0 else 1 - p for p, each in zip(others, right, strict=True)]
            lead += math.prod(chances) * float(np.sign(sum(right)))
        return lead * (first - float(np.dot(design.machine, design.shares)))
    drawn = scores(labels(design, 100_000, np.random.default_rng(99)))
    n = len(design.people)
    found = alternative_annotator_test(drawn, n, range(n), align=design.align)
    return -float(np.mean([each.advantage for each in found.people]))


def approvals(
    design: Design,
    queries: int,
    runs: int,
    *,
    epsilon: float | None = None,
    units: tuple[Unit, ...] = ("queries", "items"),
) -> dict[str, float]:
    """Return how often a machine is approved, over queries and over items.

    Without ``epsilon`` it is at the boundary, so that every approval is false.
    """
    used, n = boundary(design) if epsilon is None else epsilon, len(design.people)
    approved = dict.fromkeys(units, 0)
    for run in range(runs):
        drawn = scores(labels(design, queries, np.random.default_rng([0, run])))
        for unit in units:
            found = alternative_annotator_test(
                drawn, n, range(n), align=design.align, epsilon=used, unit=unit
            )
            approved[unit] += found.approved
    shares = {f"approved_by_{unit}": count / runs for unit, count in approved.items()}
    return {"epsilon": round(used, 3), **shares}


def pairs_of_scores(
    zeros: float, correlation: float, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    """Simulate scores between 0 and 1 by people and machine, with their mean by people.

    Scores that are not 0 are like NDCG: skewed to the left, and the machine's are greater.
    """
    y = rng.normal(size=size)
    f = correlation * y + np.sqrt(1 - correlation**2) * rng.normal(size=size)
    people = inflated(y, zeros, 2, 1.2)
    return people, inflated(f, 0.8 * zeros, 3, 1), (1 - zeros) * 2 / 3.2


def inflated(normal: FloatArray, zeros: float, a: float, b: float) -> FloatArray:
    """Map normal values to 0 with a probability, and above it to a beta distribution."""
    share = (stats.norm.cdf(normal) - zeros) / (1 - zeros)
    found: FloatArray = np.where(share > 0, stats.beta.ppf(np.clip(share, 0, 1), a, b), 0.0)
    return found


def coverage(zeros: float, correlation: float, labelled: int, runs: int) -> dict[str, float]:
    """Return how many intervals hold the mean, people's too, and their ratio of mean lengths."""
    held = alone = length = people = 0.0
    for run in range(runs):
        rng = np.random.default_rng([0, run])
        y, f, mean = pairs_of_scores(zeros, correlation, 5 * labelled, rng)
        few = slice(labelled)
        found = powered_mean(y[few], f[few], f[labelled:], drawn_at_random=True)
        held += found.low <= mean <= found.high
        alone += found.people_low <= mean <= found.people_high
        length += found.high - found.low
        people += found.people_high - found.people_low
    return {
        "held": held / runs,
        "people_held": alone / runs,
        "length": round(length / people, 3),
        "people_length": round(people / runs, 3),
    }


def flagged(queries: int, per_query: int, share: float, spread: float, runs: int) -> float:
    """Return how often an assessor is flagged who takes a side with ``share``.

    ``spread`` is the standard deviation of that share over queries; 0 simulates the side, more
    the length, whose effect differs between queries.
    """
    n, found = queries * per_query, 0
    for run in range(runs):
        rng = np.random.default_rng([7, run])
        of_query = np.full(queries, share)
        if spread:
            size = share * (1 - share) / spread**2 - 1
            of_query = rng.beta(share * size, (1 - share) * size, queries)
        won = np.where(rng.random(n) < np.repeat(of_query, per_query), 1, -1)
        asked = Judgments.of(
            assessor=np.zeros(n),
            query=np.repeat(np.arange(queries), per_query),
            left=np.zeros(n),
            right=np.ones(n),
            answer=won,
        )
        effects = (
            length_effects(asked, np.full(n, 9), np.full(n, 4)) if spread else side_effects(asked)
        )
        found += effects[0].biased
    return found / runs


def judge_coverage(labelled: int, runs: int, *, paired: bool) -> dict[str, float]:
    """Return coverage in studies that draw their queries from those of TREC DL23.

    No judge scores the system that is its own ranking. Differences are those of neighbours.
    """
    by_people, by_judges = judged_ndcg()
    own, bounds = np.eye(len(by_judges), dtype=bool), (-1.0 if paired else 0.0, 1.0)
    if paired:
        by_people, by_judges = np.diff(by_people, axis=0), np.diff(by_judges, axis=1)
        own = own[:, 1:] | own[:, :-1]
    held = np.where(own, np.nan, 0.0)
    alone, length, people = held.copy(), held.copy(), held.copy()
    for run in range(runs):
        drawn = np.random.default_rng(run).integers(0, by_people.shape[1], 5 * labelled)
        few, more = drawn[:labelled], drawn[labelled:]
        for judge, system in np.argwhere(~own):
            y, f = by_people[system], by_judges[judge, system]
            found = powered_mean(y[few], f[few], f[more], drawn_at_random=True, bounds=bounds)
            held[judge, system] += found.low <= y.mean() <= found.high
            alone[judge, system] += found.people_low <= y.mean() <= found.people_high
            length[judge, system] += found.high - found.low
            people[judge, system] += found.people_high - found.people_low
    ratio = np.nansum(length, axis=1) / np.nansum(people, axis=1)
    shares = {
        "held": np.nanmean(held) / runs,
        "people_held": np.nanmean(alone) / runs,
        "worst_judge": np.nanmean(held, axis=1).min() / runs,
        "length": np.nansum(length) / np.nansum(people),
        "best_judge_length": ratio.min(),
    }
    return {name: round(float(share), 3) for name, share in shares.items()}


def alternative_lines(runs: int) -> Iterator[dict[str, object]]:
    for (name, design), queries in product(DESIGNS.items(), (10, 15, 20, 30, 50, 100)):
        units: tuple[Unit, ...] = ("queries", "items") if queries == 30 else ("queries",)
        if name in SKEWED or queries == 30:
            found = approvals(design, queries, runs, units=units)
            yield {"design": name, "queries": queries, **found}
    for (name, design), (epsilon, sizes) in product(GOOD.items(), TOLERATED.items()):
        for queries in sizes:
            found = approvals(design, queries, runs, epsilon=epsilon, units=("queries",))
            yield {"design": name, "queries": queries, **found}


def powered_lines(runs: int) -> Iterator[dict[str, object]]:
    for zeros, correlation, labelled in product((0.0, 0.4, 0.8), (0.0, 0.7, 0.9), (10, 20, 50)):
        about = {"zeros": zeros, "correlation": correlation, "labelled": labelled}
        yield {**about, **coverage(zeros, correlation, labelled, runs)}


def effect_lines(runs: int) -> Iterator[dict[str, object]]:
    for queries, per_query in ((5, 20), (10, 10), (20, 5), (50, 2)):
        for effect, spread in (("side", 0.0), ("length", 0.15)):
            about = {"effect": effect, "queries": queries, "answers": queries * per_query}
            shares = (0.5, 0.6, 0.7, 0.8)
            yield {
                **about,
                **{f"{s}": flagged(queries, per_query, s, spread, runs) for s in shares},
            }


def judge_lines(runs: int) -> Iterator[dict[str, object]]:
    for labelled in (10, 20):
        for paired in (False, True):
            about = {"labelled": labelled, "value": "difference" if paired else "mean"}
            yield {**about, **judge_coverage(labelled, runs, paired=paired)}


def summary_lines(_runs: int) -> Iterator[dict[str, object]]:
    names, grades = summeval()
    for machine in range(3, len(names)):
        for epsilon in (0.1, 0.2):
            found = alternative_annotator_test(
                grades, machine, range(3), align="near", epsilon=epsilon
            )
            yield {
                "machine": names[machine],
                "epsilon": epsilon,
                "winning_rate": round(found.winning_rate, 3),
                "advantage_probability": round(found.advantage_probability, 3),
                "approved": found.approved,
            }


def calibration_lines(runs: int) -> Iterator[dict[str, float]]:
    """Yield the error of confidence that is too high by ``over`` in each reply, and coverage.

    Replies to a query have a common deviation of at most .05 either way.
    """
    for over, queries in product((0.0, 0.1, 0.3), (10, 30, 100)):
        errors, held, in_bins = [], 0, []
        for run in range(runs):
            rng = np.random.default_rng([7, queries, run])
            query = np.repeat(np.arange(queries), ITEMS)
            stated = rng.choice([0.55, 0.65, 0.75, 0.85, 0.95], size=query.size)
            chance = stated - over + np.clip(rng.normal(0, 0.1, queries), -0.05, 0.05)[query]
            found = calibration(query, stated, rng.random(query.size) < chance)
            errors.append(found.error)
            assert found.error_ends is not None
            held += found.error_ends[0] <= over <= found.error_ends[1]
            for each in found.bins:
                ends = each.agreement_ends or (0.0, 1.0)
                in_bins.append(ends[0] <= each.confidence - over <= ends[1])
        yield {
            "error": over,
            "queries": queries,
            "replies": queries * ITEMS,
            "found": round(float(np.mean(errors)), 3),
            "held": round(held / runs, 3),
            "held_in_bins": round(float(np.mean(in_bins)), 3),
        }


PARTS = {
    "alternative": (alternative_lines, 2000),
    "powered": (powered_lines, 2000),
    "effects": (effect_lines, 2000),
    "judges": (judge_lines, 200),
    "ranks": (rank_lines, 2000),
    "calibration": (calibration_lines, 2000),
    "summaries": (summary_lines, 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the statistics about machine assessors.")
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--runs", type=int)
    chosen = parser.parse_args()
    lines, usual = PARTS[chosen.part]
    for line in lines(chosen.runs or usual):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
