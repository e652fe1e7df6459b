"""The sets that rivals are compared on: error models, and files of real votes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.rivals.questions import Contest
from bench.robust import CASES, IMAGES, K, N
from topkapi.analysis.report.sources import read_votes
from topkapi.app.domain.pairs.simulated_assessors import SimulatedAssessor, true_worths
from topkapi.app.domain.simulation.runs import ranker_scores
from topkapi.app.domain.simulation.votes import Vote, elections, sessions

NAMED = {"images": f"{IMAGES}@k=5"}


@dataclass(frozen=True, slots=True)
class Company:
    """How many people answer, and the correlation of a ranker's scores with the gold, if any."""

    team: int = 1
    prior: float | None = None


ALONE = Company()


def label_of(name: str) -> str:
    """Return the short name of a set."""
    path, _, options = name.partition("@")
    short = Path(path).name.partition(".")[0]
    return f"{short}@{options}" if options else short


def contests(name: str, runs: int, company: Company = ALONE) -> Iterator[Contest]:
    """Yield the sessions of an error model, or those of a file of votes.

    After the name of a file there may be options, as in ``pairs.tsv@k=10,n=50,truth=names``: the
    length of the list, the number of documents to draw, and whether documents are named by their
    true ranks, which are then the gold.
    """
    if name in CASES:
        yield from _simulated(name, runs, company)
    else:
        yield from _voted(NAMED.get(name, name), runs, company)


def _simulated(name: str, runs: int, company: Company) -> Iterator[Contest]:
    case = CASES[name]
    for seed in range(runs):
        random = Random(f"bench/{seed}")
        worth = true_worths(N, 0, random, case.errors)
        people = tuple(
            SimulatedAssessor(
                worth,
                error=case.error,
                errors=case.errors,
                persistent=case.persistent,
                random=random,
            )
            for _ in range(company.team)
        )
        prior = _prior(tuple(worth), company, seed)
        yield Contest(worth, people, K, case.limit, prior=prior)


def _voted(name: str, runs: int, company: Company) -> Iterator[Contest]:
    path, _, text = name.partition("@")
    options = dict(each.split("=") for each in text.split(",") if each)
    rows = read_votes(path)
    found = elections((row.query, Vote(row.assessor, row.a, row.b, row.answer)) for row in rows)
    fewest = min(len(each.assessors) for each in found)
    replayed = sessions(
        found,
        n=int(options["n"]) if "n" in options else None,
        runs=runs,
        one_assessor=company.team == 1,
        persistent=True,
        seed="bench",
        team=min(company.team, fewest - 1),
    )
    for seed, each in enumerate(replayed):
        worth = each.worth
        if options.get("truth") == "names":
            worth = tuple(-float(item) for item in each.names)
        prior = _prior(worth, company, seed)
        yield Contest(worth, each.people, int(options.get("k", K)), 1, each.own, prior)


def _prior(worth: tuple[float, ...], company: Company, seed: int) -> tuple[float, ...] | None:
    if company.prior is None:
        return None
    return ranker_scores(worth, company.prior, Random(f"ranker/{seed}"))
