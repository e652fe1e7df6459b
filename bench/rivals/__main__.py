"""Rivals of `robust` at equal questions, reimplemented from their papers.

python -m bench.rivals                                  every error model, 90 and 143 questions
python -m bench.rivals even --sessions 50 --counts 90
python -m bench.rivals images pairs.tsv@k=10,n=50 --counts 90 --teams 1,4 --priors none,0.5

A set is an error model of `bench.robust` (50 documents, best 10), `images`, or a file of
preferences that `report --from` reads, with its options (`bench.rivals.sets`). Of votes, a person
alone answers, or a team that is drawn for each session, and everybody else is the gold; a pair is
asked once. Rows go to `--out` as they are finished; rows that it has already are not run again. A
prior is a simulated ranker whose scores have this correlation with the gold.

The table has kappa-NDCG and overlap against the gold, with standard errors, `stated` by `robust`,
`own`, which is kappa-NDCG against the order of all votes of the people who answered, and the
`ceiling`, which is what this order reaches. Rivals:

- `crowd-bt`: Chen et al. 2013 (WSDM), Bradley-Terry scores with people's reliabilities, moment
  matching, and the pair with the largest expected information gain about the scores;
- `asap`: Mikhailiuk et al. 2020 (ICPR), Thurstone scores by expectation propagation, and the pair
  with the largest expected information gain;
- `mohajer`: Mohajer et al. 2017 (ICML), tournaments in k groups and a heap of their winners, each
  comparison decided by a majority of as many repeats as the questions allow;
- `clarke`: Clarke et al. 2021 (TOIS), rounds of random pairs that drop the losing documents, then
  all pairs of the rest;
- `bayes-guro`: Bergström et al. 2024 (NeurIPS), logistic scores with the prior as a feature, and
  the pair whose predicted answer varies most over the posterior;
- `acurank`: Yoon et al. 2025 (NeurIPS), TrueSkill scores that start at the prior, and rounds over
  the documents whose membership in the top k is uncertain; adapted from lists to pairs;
- `ez-sort`: Park et al. 2025 (CIKM), a merge sort in the order of the prior that asks what Elo
  scores are not sure of; adapted to the best k;
- `noisy-bt`: Bugakova et al. 2019, Bradley-Terry scores with people's skills and sides, fitted to
  random pairs;
- `thurstone`: Jin et al. 2020 (AAAI), Thurstone scores with people's accuracies, fitted to random
  pairs;
- `bt-variance`, `bt-balanced`: Bradley-Terry scores with a ridge, with the question rule of
  `robust`, and with every document asked about equally often;
- `SORTER-weighed`: our plain sorters, with their answers weighed by the model of `robust`.

Sorters with a fixed length are shown at their own mean number of questions, marked by `=`, and
`robust` is shown at that number, too.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.rivals.ours import GOALS, SORTERS, Listed, played
from bench.rivals.procedures import MODELS, PLAYS
from bench.rivals.questions import Contest
from bench.rivals.sets import Company, contests, label_of
from bench.robust import CASES
from topkapi.app.domain.pairs.simulated_assessors import by_worth
from topkapi.app.domain.simulation.runs import Run
from topkapi.app.services.simulation.sessions import measures

WITH_PRIOR = {*GOALS, "bayes-guro", "acurank", "ez-sort"}


@dataclass(frozen=True, slots=True)
class Task:
    """Sessions of a rival on a set; ``counts`` is empty for sorters with a fixed length."""

    votes: str
    company: Company
    rival: str
    counts: tuple[int, ...]
    sessions: int


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the sessions of a task after one count of questions, with standard errors."""

    votes: str
    team: int
    prior: float | None
    rival: str
    count: int | None
    sessions: int
    questions: float
    kappa_ndcg: float
    kappa_ndcg_se: float
    overlap: float
    overlap_se: float
    stated: float | None
    stated_overlap: float | None
    own: float | None
    ceiling: float | None

    @property
    def key(self) -> tuple[object, ...]:
        """What tells rows apart."""
        return self.votes, self.team, self.prior, self.rival, self.count, self.sessions


def rows_of(task: Task) -> list[Row]:
    """Run the sessions of a task."""
    counts = task.counts or (0,)
    found = [
        (contest, played(contest, task.rival, counts, seed))
        for seed, contest in enumerate(contests(task.votes, task.sessions, task.company))
    ]
    return [
        _row(task, count, [(contest, lists[place]) for contest, lists in found])
        for place, count in enumerate(task.counts or (None,))
    ]


def _row(task: Task, count: int | None, found: Sequence[tuple[Contest, Listed]]) -> Row:
    gold = np.array([_measured(contest, each.ranking, contest.worth) for contest, each in found])
    own = [_measured(each, listed.ranking, each.own)[0] for each, listed in found if each.own]
    best = [_measured(each, by_worth(each.own), each.worth)[0] for each, _ in found if each.own]
    stated = [each.stated for _, each in found if each.stated is not None]
    mean, error = gold.mean(axis=0), gold.std(axis=0, ddof=1) / len(found) ** 0.5
    values = [round(float(each), 4) for each in (mean[0], error[0], mean[1], error[1])]
    return Row(
        label_of(task.votes),
        task.company.team,
        task.company.prior,
        task.rival,
        count,
        task.sessions,
        float(np.mean([each.asked for _, each in found])),
        values[0],
        values[1],
        values[2],
        values[3],
        stated=_mean([each[0] for each in stated]),
        stated_overlap=_mean([each[1] for each in stated]),
        own=_mean(own),
        ceiling=_mean(best),
    )


def _measured(
    contest: Contest, ranking: Sequence[int], worth: Sequence[float]
) -> tuple[float, float]:
    return measures(Run(0, tuple(ranking[: contest.k]), tuple(worth)), contest.k)


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None


def run(tasks: Sequence[Task], out: Path, jobs: int) -> None:
    """Run what ``out`` does not have, and append each task's rows as it is finished."""
    tasks = [each for each in tasks if each.counts or each.rival in SORTERS]
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(rows_of, each) for each in tasks]):
            with out.open("a", encoding="utf-8") as stream:
                stream.writelines(json.dumps(asdict(row)) + "\n" for row in done.result())


def stored(out: Path) -> dict[tuple[object, ...], Row]:
    """Return the rows of earlier runs."""
    if not out.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in out.read_text("utf-8").splitlines()]
    return {row.key: row for row in rows}


def tasks_of(
    chosen: argparse.Namespace, name: str, company: Company, rows: dict[tuple[object, ...], Row]
) -> Iterator[Task]:
    """Yield what is still to be run on a set: plain sorters, and others at the ``counts``."""
    where = label_of(name), company.team, company.prior

    def missing(rival: str, count: int | None) -> bool:
        return (*where, rival, count, chosen.sessions) not in rows

    wanted = set(chosen.counts)
    for rival in (each for each in chosen.rivals if each in SORTERS and company.prior is None):
        if missing(rival, None):
            yield Task(name, company, rival, (), chosen.sessions)
    for row in rows.values():
        if (row.votes, row.team) == where[:2] and row.rival in SORTERS:
            wanted.add(round(row.questions))
    for rival in (each for each in chosen.rivals if each not in SORTERS):
        if company.prior is not None and rival not in WITH_PRIOR:
            continue
        counts = sorted(wanted) if rival in GOALS and company.prior is None else chosen.counts
        counts = [count for count in counts if missing(rival, count)]
        parts = [tuple(counts)] if rival in GOALS else [(count,) for count in counts]
        yield from (Task(name, company, rival, part, chosen.sessions) for part in parts if part)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a Markdown table."""
    heads = ("set", "people", "prior", "rival", "questions", "kappa-NDCG", "overlap")
    yield f"| {' | '.join((*heads, 'stated', 'own', 'ceiling'))} |"
    yield "|---" * (len(heads) + 3) + "|"
    for row in sorted(rows, key=lambda each: (*map(str, each.key[:3]), -each.kappa_ndcg)):
        sure = "=" if row.count is None else ""
        cells = (
            row.votes,
            row.team,
            "" if row.prior is None else row.prior,
            row.rival,
            f"{sure}{row.questions:.0f}",
            f"{row.kappa_ndcg:.3f} ± {row.kappa_ndcg_se:.3f}",
            f"{row.overlap:.3f} ± {row.overlap_se:.3f}",
            *("" if each is None else f"{each:.3f}" for each in (row.stated, row.own, row.ceiling)),
        )
        yield f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Read the arguments, run what is missing and print the table."""
    parser = argparse.ArgumentParser(description="Measure the rivals of robust.")
    parser.add_argument("sets", nargs="*", default=[*CASES, "images"])
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--rivals", type=_names, default=[*SORTERS, *GOALS, *MODELS, *PLAYS])
    parser.add_argument("--counts", type=_counts, default=[90, 143])
    parser.add_argument("--teams", type=_counts, default=[1])
    parser.add_argument("--priors", type=_priors, default=[None])
    parser.add_argument("--out", type=Path, default=Path("rivals.jsonl"))
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    cells = [
        (name, Company(team, prior))
        for name in chosen.sets
        for team in chosen.teams
        for prior in chosen.priors
    ]
    for _ in range(2):  # at the questions of sorters with a fixed length, which are known then
        rows = stored(chosen.out)
        run([t for cell in cells for t in tasks_of(chosen, *cell, rows)], chosen.out, chosen.jobs)
    where = {(label_of(name), company.team, company.prior) for name, company in cells}
    found = [row for row in stored(chosen.out).values() if row.key[:3] in where]
    for text in table([row for row in found if row.sessions == chosen.sessions]):
        print(text)


def _names(text: str) -> list[str]:
    return text.split(",")


def _counts(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def _priors(text: str) -> list[float | None]:
    return [None if each == "none" else float(each) for each in text.split(",")]


if __name__ == "__main__":
    main()
