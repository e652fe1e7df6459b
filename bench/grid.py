"""Lead of `robust` over every other sorter at equal questions, for several sizes and rates.

python -m bench.grid --runs 200                     all sizes, at 5, 10 and 20 % errors
python -m bench.grid --runs 40 --sizes 50x5,50x10   only some sizes

Every other sorter of `topkapi simulate --frontier` is a point: questions and kappa-NDCG. Dominated
points, whose quality another reaches with no more questions, are skipped. For each other point
`robust` is evaluated after as many questions; a line shows its smallest lead, over which sorter,
and its standard error. Errors are independent, and `robust` may ask a pair up to six times.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.services.simulation.frontier import qualities_of, variants
from topkapi.app.services.simulation.sessions import Setting, summarise

SIZES = "20x5,20x10,20x20,50x5,50x10,50x20,100x5,100x10,100x20"
RATES = (0.05, 0.10, 0.20)
OTHERS = 500  # runs of the other sorters, which are fast
CHUNK = 10


def rivals(setting: Setting) -> dict[str, tuple[int, float, float]]:
    """Return questions, quality and its standard error of the sorters that no other dominates."""
    found = {}
    for name, plan in variants(setting.plan).items():
        summary = summarise(_of(setting, plan), processes=1)
        error = summary.kappa_ndcg_sd / OTHERS**0.5
        found[name] = (round(summary.judgments_mean), summary.kappa_ndcg_mean, error)
    return {
        name: mine
        for name, mine in found.items()
        if not any(
            other[0] <= mine[0] and other[1] >= mine[1] and other != mine
            for other in found.values()
        )
    }


def _of(setting: Setting, plan: Plan) -> Setting:
    return Setting(plan, setting.error, setting.ties, OTHERS, setting.seed)


def lines(n: int, k: int, runs: int) -> Iterator[str]:
    """Yield a line of the table for every rate."""
    for rate in RATES:
        plan = Plan(order=tuple(range(n)), k=k, pair_limit=6)
        setting = Setting(plan, rate, 0, runs, seed=1)
        others = rivals(setting)
        counts = tuple(sorted({questions for questions, _, _ in others.values()}))
        chunks = [
            qualities_of((setting, number, min(CHUNK, runs - start), counts))
            for number, start in enumerate(range(0, runs, CHUNK))
        ]
        robust = np.concatenate(chunks)[:, :, 0]  # kappa-NDCG
        leads = []
        for name, (questions, quality, error) in others.items():
            mine = robust[:, counts.index(questions)]
            spread = float(np.hypot(mine.std(ddof=1) / runs**0.5, error))
            leads.append((float(mine.mean()) - quality, spread, name, questions, mine.mean()))
        lead, spread, name, questions, mean = min(leads)
        yield (
            f"| {n} | {k} | {rate:.0%} | {name} | {questions} | {mean - lead:.3f} | {mean:.3f} | "
            f"{lead:+.3f} ± {2 * spread:.3f} | {len(leads)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sizes", default=SIZES)
    chosen = parser.parse_args()
    print(
        "| n | k | errors | closest rival | questions | its kappa-NDCG | robust | lead | rivals |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for size in chosen.sizes.split(","):
        n, k = (int(each) for each in size.split("x"))
        for line in lines(n, k, chosen.runs):
            print(line, flush=True)


if __name__ == "__main__":
    main()
