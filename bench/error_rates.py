"""Coverage of the intervals of error rates that are estimated from answers to pairs.

    .venv/bin/python -m bench.error_rates [--runs 60] [--errors normal] [--design 12]

Simulates studies whose assessors reverse a known share of random pairs, and counts how many 95 %
intervals hold it. With ``--pairs sessions`` everyone answers the questions of a heap session of
their own instead; the truth is the expected share of wrong answers to the questions that others
were asked too, and ``above_random`` is its excess over random pairs. Assessors see the worth of
pages with normal noise (``normal``), with noise that is far heavier in the tails (``heavy``), or
err on every pair alike (``uniform``). Prints one JSON line per design; ``se`` is the standard
error of ``held``, over studies.
"""

import argparse
import json
from functools import cache

import numpy as np
from scipy import stats

from tests.simulated_study import noise_of
from topkapi.analysis.agreement import Judgments, errors_of_answers, from_judgments
from topkapi.analysis.typing import FloatArray
from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorter_run import run_plan

DESIGNS = {  # assessors, assessors per query, queries
    "4 people, 12 queries": (4, 4, 12),
    "4 people, 30 queries": (4, 4, 30),
    "4 people, 100 queries": (4, 4, 100),
    "rotation of 3 among 5, 12 queries": (5, 3, 12),
    "rotation of 3 among 5, 30 queries": (5, 3, 30),
    "rotation of 3 among 5, 100 queries": (5, 3, 100),
}
PAGES, PAIRS, TOP = 20, 60, 5
ERRORS = ("normal", "heavy", "uniform")


def answers_of(apart: FloatArray, rate: float, errors: str, rng: np.random.Generator) -> FloatArray:
    """Return the answers to pairs whose worths are ``apart``, of somebody who errs at ``rate``."""
    if errors == "uniform":
        return np.where(rng.random(apart.size) < rate, -1.0, 1.0) * np.sign(apart)
    noise: FloatArray
    if errors == "normal":
        noise = noise_of(np.array([rate]))[0] * rng.normal(0, np.sqrt(2), apart.size)
    else:
        noise = np.exp(np.interp(rate, *_heavy_scales())) * rng.standard_t(2, apart.size)
    answers: FloatArray = np.sign(apart + noise)
    return answers


@cache
def _heavy_scales() -> tuple[FloatArray, FloatArray]:
    """Return shares of random pairs that Student's noise reverses, and the logs of its scales."""
    rng, logs = np.random.default_rng(0), np.linspace(-6, 6, 100)
    apart, noise = rng.normal(0, np.sqrt(2), 400_000), rng.standard_t(2, 400_000)
    shares = [np.mean((apart + scale * noise) * apart < 0) for scale in np.exp(logs)]
    return np.array(shares), logs


def simulated_answers(
    rates: FloatArray, per_query: int, queries: int, errors: str, rng: np.random.Generator
) -> Judgments:
    """Simulate answers to the same random pairs of a query by everyone who judges it."""
    ends = np.array(np.triu_indices(PAGES, k=1))
    rows = []
    for query in range(queries):
        worth = rng.normal(size=PAGES)
        left, right = ends[:, rng.permutation(ends.shape[1])[:PAIRS]]
        for assessor in np.sort((query + np.arange(per_query)) % rates.size).tolist():
            answer = answers_of(worth[left] - worth[right], float(rates[assessor]), errors, rng)
            rows.append((np.full(PAIRS, assessor), np.full(PAIRS, query), left, right, answer))
    columns = (np.concatenate(column) for column in zip(*rows, strict=True))
    names = ("assessor", "query", "left", "right", "answer")
    return Judgments.of(**dict(zip(names, columns, strict=True)))


def wrong_share(apart: FloatArray, rate: float, errors: str) -> FloatArray:
    """Return the probability of a wrong answer to pairs whose worths are ``apart``."""
    distance = np.abs(apart)
    if errors == "uniform":
        return np.full(apart.shape, rate)
    if errors == "normal":
        return np.asarray(stats.norm.sf(distance / noise_of(np.array([rate]))[0] / np.sqrt(2)))
    return np.asarray(stats.t.sf(distance / np.exp(np.interp(rate, *_heavy_scales())), 2))


def simulated_sessions(
    rates: FloatArray, per_query: int, queries: int, errors: str, rng: np.random.Generator
) -> tuple[Judgments, FloatArray]:
    """Simulate heap sessions; return the answers and everyone's mean share of wrong ones.

    That is over the pairs that two or more were asked: others say nothing without a ground truth.
    """
    rows: list[tuple[int, int, int, int, float]] = []
    worths = rng.normal(size=(queries, PAGES))
    for query, worth in enumerate(worths):
        for assessor in np.sort((query + np.arange(per_query)) % rates.size).tolist():
            plan = Plan(order=tuple(rng.permutation(PAGES).tolist()), k=TOP, seed=f"{rng.random()}")
            running, sent = run_plan(plan, plan.order, {}), None
            while True:
                try:
                    left, right = next(running) if sent is None else running.send(sent)
                except StopIteration:
                    break
                apart = worth[[left]] - worth[right]
                answer = answers_of(apart, float(rates[assessor]), errors, rng)[0]
                sent = Preference.FIRST if answer > 0 else Preference.SECOND
                rows.append((assessor, query, left, right, answer))
    names = ("assessor", "query", "left", "right", "answer")
    asked = Judgments.of(**dict(zip(names, np.array(rows).T, strict=True)))
    one = asked.oriented()
    pair = np.unique(np.stack([one.query, one.left, one.right]), axis=1, return_inverse=True)[1]
    shared = np.bincount(pair.ravel())[pair.ravel()] > 1
    apart = worths[asked.query, asked.left] - worths[asked.query, asked.right]
    mine = [shared & (asked.assessor == assessor) for assessor in range(rates.size)]
    wrong = [
        wrong_share(apart[rows], float(rate), errors)
        for rows, rate in zip(mine, rates, strict=True)
    ]
    return asked, np.array([each.mean() for each in wrong])


def coverage(
    assessors: int,
    per_query: int,
    queries: int,
    runs: int,
    errors: str = "normal",
    pairs: str = "random",
) -> dict[str, float]:
    """Return how many intervals hold the true rate, and how many lie below and above it."""
    under, over, off, more = (np.zeros((runs, assessors)) for _ in range(4))
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rates: FloatArray = np.clip(rng.beta(2, 8, assessors), 0.02, 0.45)
        if pairs == "sessions":
            asked, true = simulated_sessions(rates, per_query, queries, errors, rng)
            rates, more[seed] = true, true - rates
        else:
            asked = simulated_answers(rates, per_query, queries, errors, rng)
        found = errors_of_answers(from_judgments(asked, assessors, queries), seed=seed)
        under[seed], over[seed] = found.high < rates, found.low > rates
        off[seed] = found.value - rates
    held = 1 - under - over
    shares = {"held": held.mean(), "se": held.mean(axis=1).std(ddof=1) / np.sqrt(runs)}
    shares |= {"understated": under.mean(), "overstated": over.mean(), "bias": off.mean()}
    shares |= {"above_random": more.mean()} if pairs == "sessions" else {}
    return {name: round(float(share), 4) for name, share in shares.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--errors", choices=ERRORS, default="normal")
    parser.add_argument("--pairs", choices=("random", "sessions"), default="random")
    parser.add_argument("--design", default="", help="words in the name of the designs")
    chosen = parser.parse_args()
    for name, design in DESIGNS.items():
        if chosen.design in name:
            found = coverage(*design, chosen.runs, chosen.errors, chosen.pairs)
            about = {"design": name, "errors": chosen.errors, "pairs": chosen.pairs}
            about["runs"] = str(chosen.runs)
            print(json.dumps({**about, **found}), flush=True)


if __name__ == "__main__":
    main()
