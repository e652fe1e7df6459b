"""`python -m bench.faults`: run faults on each database and print the verdict."""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bench.faults
from bench.faults.assessors import PAUSE
from bench.faults.run import Outcome, Plan, run
from tests.databases import PostgresqlServer, PostgresqlTemplate, execute, migrated_sqlite


@contextmanager
def database(name: str, folder: Path) -> Iterator[tuple[str, PostgresqlServer | None]]:
    """Provide a fresh database; PostgreSQL with a server of its own that can be restarted."""
    if name == "sqlite":
        yield f"sqlite:///{migrated_sqlite(folder)}", None
        return
    server = PostgresqlServer()
    try:
        execute(server.url, "ALTER SYSTEM SET fsync = off")  # processes crash here, not the machine
        execute(server.url, "SELECT pg_reload_conf()")
        with PostgresqlTemplate(server.url).copy() as url:
            yield url, server
    finally:
        server.end()


def show(name: str, outcome: Outcome) -> None:
    """Print an outcome for people."""
    facts = outcome.as_json()
    faults = sum(each["count"] for each in facts["recovery_seconds"].values())
    verdict = outcome.verdict
    print(
        f"{name}: {faults} faults in {outcome.seconds:.0f} s, {verdict.acknowledged} acknowledged "
        f"of {verdict.entries} entries, {outcome.tally.cut.total()} requests without a reply "
        f"{dict(outcome.tally.cut)}, "
        f"statuses {facts['statuses']}; {verdict.imports} imports and {verdict.jobs} jobs"
    )
    for kind, times in facts["recovery_seconds"].items():
        print(
            f"  {kind:<20} {times['count']:>4} times, recovered after "
            f"{times['median']:.2f} s (median), {times['max']:.2f} s (longest)"
        )
    for kind, found in (outcome.verdict.violations() | {"stuck": outcome.stuck}).items():
        print(f"  {kind}: {len(found)}", *(f"\n    {each}" for each in found[:10]), sep="")
    print("  verdict:", "FAILED" if outcome.failed else "nothing lost, doubled, changed, invented")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=bench.faults.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--pause", type=float, default=PAUSE, help="seconds between two answers")
    parser.add_argument("--between", type=float, default=0.3, help="seconds between two faults")
    parser.add_argument("--no-imports", action="store_true", help="only judge meanwhile")
    parser.add_argument("--kind", action="append", default=[], help="faults of this kind only")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    parser.add_argument("--json", action="store_true", help="print one JSON object per database")
    chosen = parser.parse_args()
    plan = Plan(
        chosen.faults,
        chosen.seed,
        chosen.workers,
        chosen.people,
        between=chosen.between,
        imports=not chosen.no_imports,
        pause=chosen.pause,
        kinds=tuple(chosen.kind),
    )
    failed = False
    for name in chosen.database or ["sqlite", "postgresql"]:
        with tempfile.TemporaryDirectory() as folder, database(name, Path(folder)) as (url, server):
            outcome = run(url, Path(folder), plan, server)
        failed = failed or outcome.failed
        if chosen.json:
            print(json.dumps({"database": name, **outcome.as_json()}))
        else:
            show(name, outcome)
    sys.exit(failed)


if __name__ == "__main__":
    main()
