"""Which sorter is right about people? Real votes replayed with every sorter and every rival.

    python -m bench.people                                  every set, stream, one person and teams
    python -m bench.people Holmes2017 Clark2018_Study1 --company stream --sessions 200
    python -m bench.people --rivals robust,robust-members,tournament --counts 90,143

A set is a file of ../shared/data/comparative-judgement, or `images` (../shared/data); `DEVELOPMENT`
are those on which `robust` was developed. Of a set 50 items are drawn, or all, and the best 10
wanted, or a quarter. Who answers is the `company`: `stream`, a random half of the votes as if of
one person; `one`, the votes of a person alone; `team2`, `team4`, `team8`, people who are told
apart. A pair is asked once. Each session is played by all sorters and rivals (`bench.rivals`); rows
go to `--out` as they are finished, and those that it has already are not run again.

The first table has kappa-NDCG and overlap against the order of all votes of the people who answered
(own) and against the others' votes (gold) with standard errors, what `robust` states, and how the
questions were spread: the most about one page, and pages that nobody was asked about. The second
has paired differences of `robust` to the best rival at the same questions, in kappa-NDCG for the
order and overlap for the members.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `topkapi` does

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from bench.rivals.ours import GOALS, Listed, played
from bench.rivals.procedures import MODELS, PLAYS
from bench.rivals.questions import Contest
from topkapi.analysis.report.sources import read_votes
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.simulated_assessors import Assessor
from topkapi.app.domain.simulation.runs import Run
from topkapi.app.domain.simulation.votes import Election, Vote, elections, sessions
from topkapi.app.services.simulation.sessions import measures

DATA = Path("../shared/data")
DEVELOPMENT = ("Clark2018_Study1", "Holmes2017", "Zucco2019_experts", "Jones2016b_perfect")
COMPANIES = {"stream": 1, "one": 1, "team2": 2, "team4": 4, "team8": 8}
PLAIN = ("tournament", "heap")
MOST, BEST, FEWEST = 50, 10, 20  # items drawn, wanted, needed


@dataclass(frozen=True, slots=True)
class Row:
    """One session of a sorter: measures of its list, what it states, and how it asked."""

    votes: str
    company: str
    rival: str
    count: int  # of the questions allowed; 0: as many as the sorter wants
    session: int
    questions: int
    own: tuple[float, float]
    gold: tuple[float, float]
    stated: tuple[float, float] | None
    most: int
    never: int

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What tells rows apart."""
        return self.votes, self.company, self.rival, self.count, self.session


@dataclass(frozen=True, slots=True)
class Watched:
    """A person whose questions are counted."""

    person: Assessor
    asked: Counter[int]

    def prefer(self, pair: Pair) -> Preference:
        """Return the answer of the person."""
        self.asked.update(pair)
        return self.person.prefer(pair)


@cache
def votes_of(name: str) -> tuple[Election, ...]:
    """Return the elections of a set."""
    path = DATA / "comparative-judgement" / f"{name}.tsv.gz"
    if name == "images":
        path = DATA / "prefs-image-search" / "image_pairs_annotation.gz"
    rows = read_votes(path)
    return elections((row.query, Vote(row.assessor, row.a, row.b, row.answer)) for row in rows)


def sets() -> list[str]:
    """Return the sets that are large enough."""
    files = sorted((DATA / "comparative-judgement").glob("*.tsv.gz"))
    names = [path.name.removesuffix(".tsv.gz") for path in files]
    return [name for name in names if len(votes_of(name)[0].items) >= FEWEST] + ["images"]


def contest_of(name: str, company: str, session: int) -> Contest | None:
    """Return a session of a set; None if it has too few people."""
    found, team = votes_of(name), COMPANIES[company]
    found = tuple(each for each in found if len(each.assessors) > team)
    if not found:
        return None
    (drawn,) = sessions(
        found,
        n=MOST,
        runs=1,
        one_assessor=company == "one",
        persistent=True,
        seed="people",
        start=session,
        team=team,
    )
    k = 5 if name == "images" else min(BEST, len(drawn.worth) // 4)
    return Contest(drawn.worth, drawn.people, k, 1, drawn.own)


def play(name: str, company: str, rival: str, counts: tuple[int, ...], session: int) -> list[Row]:
    """Return the rows of one session of a sorter."""
    contest = contest_of(name, company, session)
    if contest is None:
        return []
    asked: Counter[int] = Counter()
    watched = tuple(Watched(each, asked) for each in contest.people)
    rows = []
    for count, found in zip(
        counts, played(replace(contest, people=watched), rival, counts, session), strict=True
    ):
        rows.append(_row(name, company, rival, count, session, contest, found, asked))
    return rows


def _row(
    name: str,
    company: str,
    rival: str,
    count: int,
    session: int,
    contest: Contest,
    found: Listed,
    asked: Counter[int],
) -> Row:
    run = Run(found.asked, found.ranking[: contest.k], tuple(contest.own))
    return Row(
        name,
        company,
        rival,
        count,
        session,
        found.asked,
        measures(run, contest.k),
        measures(replace(run, worth=tuple(contest.worth)), contest.k),
        found.stated,
        max(asked.values()),
        contest.n - len(asked),
    )


def run(chosen: argparse.Namespace, rows: dict[tuple[object, ...], Row]) -> Iterator[list[Row]]:
    """Yield the rows that are still missing, as they are finished."""
    tasks = []
    for name in chosen.sets:
        for company in chosen.company:
            for session in range(chosen.sessions):
                for rival in chosen.rivals:
                    counts = (0,) if rival in PLAIN else tuple(chosen.counts)
                    missing = [
                        each for each in counts if (name, company, rival, each, session) not in rows
                    ]
                    at_once = rival in GOALS or rival in MODELS
                    parts = [tuple(missing)] if at_once else [(each,) for each in missing]
                    tasks += [(name, company, rival, part, session) for part in parts if part]
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for done in as_completed([pool.submit(play, *task) for task in tasks]):
            yield done.result()


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of means over sessions, of each set and company and of all sets."""
    yield "| set | company | sorter | questions | sessions | own | gold | stated | most | never |"
    yield "|---" * 10 + "|"
    for (company, count, name), group in sorted(_groups(rows).items()):
        for rival, mine in sorted(group.items()):
            stated = [each.stated for each in mine if each.stated is not None]
            cells = (
                name,
                company,
                rival,
                f"{np.mean([each.questions for each in mine]):.0f}{'' if count else ' ='}",
                len(mine),
                _measured([each.own for each in mine]),
                _measured([each.gold for each in mine]),
                _measured(stated) if stated else "",
                f"{np.mean([each.most for each in mine]):.0f}",
                f"{np.mean([each.never for each in mine]):.1f}",
            )
            yield f"| {' | '.join(map(str, cells))} |"


def differences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield paired differences of `robust` to the best rival at the same questions, by own."""
    yield "| set | company | questions | sorter | measure | best rival | difference |"
    yield "|---" * 7 + "|"
    for (company, count, name), group in sorted(_groups(rows).items()):
        for place, ours in enumerate(GOALS):
            values = {
                rival: {(each.votes, each.session): each.own[place] for each in mine}
                for rival, mine in group.items()
                if rival == ours or rival not in GOALS
            }
            if ours not in values or len(values) < 2:
                continue
            means = {rival: float(np.mean([*each.values()])) for rival, each in values.items()}
            best = max((each for each in means if each != ours), key=means.__getitem__)
            shared = values[ours].keys() & values[best].keys()
            apart = np.array([values[ours][each] - values[best][each] for each in sorted(shared)])
            measure = ("kappa-NDCG", "overlap")[place]
            told = f"{apart.mean():+.3f} ± {apart.std() / max(1, len(apart)) ** 0.5:.3f}"
            yield f"| {name} | {company} | {count} | {ours} | {measure} | {best} | {told} |"


def _groups(rows: Sequence[Row]) -> dict[tuple[str, int, str], dict[str, list[Row]]]:
    groups: dict[tuple[str, int, str], dict[str, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        for name in (row.votes, "all"):
            groups[row.company, row.count, name][row.rival].append(row)
    return groups


def _measured(values: Sequence[tuple[float, float]]) -> str:
    found = np.array(values)
    means, errors = found.mean(axis=0), found.std(axis=0) / len(found) ** 0.5
    return " / ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(means, errors, strict=True))


def stored(out: Path) -> dict[tuple[object, ...], Row]:
    """Return the rows of earlier runs."""
    lines = out.read_text("utf-8").splitlines() if out.exists() else []
    rows = [Row(**json.loads(line)) for line in lines]
    return {row.key: row for row in rows}


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(DEVELOPMENT))
    parser.add_argument("--all", action="store_true", help="every set that is large enough")
    parser.add_argument("--company", type=_names, default=list(COMPANIES))
    parser.add_argument("--rivals", type=_names, default=[*PLAIN, *GOALS, *MODELS, *PLAYS])
    parser.add_argument("--counts", type=_counts, default=[90, 143])
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("people.jsonl"))
    chosen = parser.parse_args()
    chosen.sets = sets() if chosen.all else chosen.sets
    rows = stored(chosen.out)
    with chosen.out.open("a", encoding="utf-8") as stream:
        for done in run(chosen, rows):
            stream.writelines(json.dumps(asdict(row)) + "\n" for row in done)
            stream.flush()
    found = [
        row
        for row in stored(chosen.out).values()
        if row.votes in chosen.sets and row.company in chosen.company
    ]
    for text in (*table(found), "", *differences(found)):
        print(text)


def _names(text: str) -> list[str]:
    return text.split(",")


def _counts(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


if __name__ == "__main__":
    main()
